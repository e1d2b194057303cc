package instrument

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// A dose is an event: an amount, given once. Its order, each part durable before the
// next begins:
//
//	charged in the control state → intent in the journal → written → outcome in the journal
//
// What ends between the first and the last counts as delivered and is never given
// again: a new process finds the charge open and asks for a reset. Only a write that
// certainly never arrived is taken off the books.

// Dose is a dose that the safety layer has given out and that is not over.
type Dose struct {
	variable int
	amount   float64
	// action is the journal's intent, recorded says that it is durable; sent that the
	// device has been told.
	action         int64
	recorded, sent bool
	// cancel ends the wait for the device. cancelled says that we did; ending is when it was first to be stopped.
	cancel    context.CancelCauseFunc
	cancelled bool
	ending    time.Time
}

// AimDose wants one dose of variable i; number is the dose's, bad says that it stands in
// for a value that is not finite.
func (x *actuators) AimDose(i int, amount float64, number int64, bad bool) {
	x.all[i].dosing(wish{drive: true, dest: amount, dose: number, bad: bad})
}

// ForgetDoses wants no more doses: what is on its way stays on it.
func (x *actuators) ForgetDoses() {
	for i := range x.all {
		if a := &x.all[i]; x.plan.Variables[i].Dose && a.dose != 0 {
			a.dosing(wish{})
		}
	}
}

// grant begins a dose: its intent is to be recorded.
func (x *Instrument) grant(i int, amount float64) *Dose {
	g := &Dose{variable: i, amount: amount}
	x.giving = append(x.giving, g)
	x.failpoint("dose-granted")
	return g
}

// Intent is what is to be recorded before a dose is given.
func (x *Instrument) Intent(g *Dose) journal.Action {
	c := x.plan.Variables[g.variable].Channel
	return journal.Action{Device: x.links[c.Device].name, Kind: "dose", Values: map[string]float64{c.Name: g.amount}}
}

// Intended notes that the intent of a dose is durable, and gives it if it can be.
func (x *Instrument) Intended(p Present, g *Dose, action int64) []any {
	g.action, g.recorded = action, true
	x.failpoint("dose-intended")
	x.goOn(&p, g)
	return x.told()
}

// Unintended notes that the intent of a dose cannot be recorded: it is not given.
func (x *Instrument) Unintended(g *Dose, err error) { x.ended(g, safety.DoseNotGiven, 0, err) }

// GoOn goes on with the doses under way and cuts off those that are to be stopped.
func (x *Instrument) GoOn(p Present) []any {
	for _, g := range slices.Clone(x.giving) {
		x.goOn(&p, g)
	}
	return x.told()
}

// giveWaiting goes on with the doses that wait for a device, which is free now.
func (x *Instrument) giveWaiting(p *Present, k *link) {
	for _, g := range slices.Clone(x.giving) {
		if x.deviceOf(g.variable) == k && !g.sent {
			x.goOn(p, g)
		}
	}
}

// goOn sends the dose as soon as the device takes it, and gives up a dose that is not
// wanted any more.
func (x *Instrument) goOn(p *Present, g *Dose) {
	k := x.deviceOf(g.variable)
	switch {
	case g.sent:
		if p.Mode >= safety.Fallback && p.restOf(&x.plan.Variables[g.variable]) == plan.RestOff && !g.cancelled && !g.mayEnd(p) {
			g.cancelled = true
			g.cancel(drivers.ErrPreempted) // the line must be free for the device to be stopped
		}
	case !g.recorded:
	case !p.Moving || p.Mode >= safety.Fallback || k.dead != nil:
		x.endDose(g, safety.DoseNotGiven, 0, fmt.Errorf("%w: the step ended first", drivers.ErrNotSent))
	case p.Mode == safety.Run && k.ready() && !k.outage.out && !k.outage.spent:
		x.give(g, k)
	}
}

// doseEnds is how long a dose may go on after an ordinary end of the run: of one that is stopped it is not known what was
// given. Not longer: the device is then to confirm that it gives nothing, within restTimeout.
const doseEnds = 5 * time.Second

// mayEnd says that a dose need not be stopped yet: nothing is wrong, the run ends.
func (g *Dose) mayEnd(p *Present) bool {
	if !p.Ending || p.MakesSafe {
		return false
	}
	if g.ending.IsZero() {
		g.ending = p.Now
	}
	return p.Now.Sub(g.ending) < doseEnds
}

// gave is what became of a dose's write; revoked says that it has not left.
type gave struct {
	k       *link
	flight  *flight
	dose    *Dose
	revoked bool
	reading drivers.Reading
	err     error
}

// give tells the device, once.
func (x *Instrument) give(g *Dose, k *link) {
	x.failpoint("before-dose")
	if x.tooLate() {
		return // the next tick goes on, or not
	}
	name := x.plan.Variables[g.variable].Channel.Name
	ctx, cancel := context.WithCancelCause(x.ctx)
	g.sent, g.cancel, x.drove = true, cancel, true
	w := gave{k: k, flight: &flight{dose: true}, dose: g}
	k.flight = w.flight
	s := drivers.Setpoints{Values: map[string]float64{name: g.amount}, Dose: x.opt.Run + "-" + strconv.FormatInt(g.action, 10)}
	orders := x.orders.Load()
	x.pool.Post(k.worker, func() any {
		if w.revoked = x.revoked(orders); w.revoked {
			return w
		}
		w.reading, w.err = k.act.Write(ctx, s)
		return w
	})
}

// gave takes in what a device has made of a dose.
func (x *Instrument) gave(p *Present, w gave) {
	g, k := w.dose, w.k
	g.cancel(nil)
	k.landed(w.flight)
	if w.revoked { // it has not left: whether it still may, goOn says
		g.sent, g.cancelled = false, false
		return
	}
	x.failpoint("after-dose")
	if w.err != nil && !g.cancelled {
		x.deviceError(p, k, "dose", w.err)
	} else {
		x.answered(p, k)
		k.heard = p.Now
	}
	x.all[g.variable].released = false
	outcome, delivered := judgeDose(g.amount, w.reading.Values, x.plan.Variables[g.variable].Channel.Name, w.err)
	x.endDose(g, outcome, delivered, w.err)
}

// judgeDose says what became of a dose by what its write returned. Only an error that
// says so means that nothing was given.
func judgeDose(amount float64, values map[string]float64, name string, err error) (safety.DoseOutcome, float64) {
	switch {
	case err == nil:
		if v, told := values[name]; told && isFinite(v) && v >= 0 {
			return safety.DoseGiven, v
		}
		return safety.DoseGiven, amount
	case errors.Is(err, drivers.ErrNotSent), errors.Is(err, drivers.ErrRefused):
		return safety.DoseNotGiven, 0
	}
	return safety.DoseUnknown, 0
}

// endDose tells what became of a dose.
func (x *Instrument) endDose(g *Dose, outcome safety.DoseOutcome, delivered float64, why error) {
	s := DoseResolved{Action: g.action, State: journal.Confirmed}
	switch outcome {
	case safety.DoseGiven:
		s.Readback = map[string]float64{x.plan.Variables[g.variable].Channel.Name: delivered}
	case safety.DoseNotGiven:
		s.State = journal.Failed
	default:
		s.State = journal.Unknown
		v := &x.plan.Variables[g.variable]
		x.tell(Said{"warn", "dose", fmt.Sprintf("%s: it is unknown whether a dose of %.6g %s was given; it counts as delivered: look at the instrument, then tuner resume, or tuner reset once the run has ended", v.Name, g.amount, v.Unit)})
	}
	if why != nil {
		s.Message = why.Error()
	}
	x.ended(g, outcome, delivered, why)
	x.tell(s)
}

// ended lets the safety layer know, in its next tick, what became of a dose.
func (x *Instrument) ended(g *Dose, outcome safety.DoseOutcome, delivered float64, why error) {
	x.giving = slices.DeleteFunc(x.giving, func(other *Dose) bool { return other == g })
	a := &x.all[g.variable]
	a.outcome, a.delivered, a.why = outcome, delivered, why
	if outcome == safety.DoseGiven && a.dose != 0 {
		a.amount = delivered
	}
}

// FailedDose says why the dose of variable i was not given, or what is not known of it:
// unknown is the safety layer's word. "" while that has not happened.
func (x *Instrument) FailedDose(i int, unknown bool) string {
	v, a := &x.plan.Variables[i], &x.all[i]
	amount := fmt.Sprintf("a dose of %.6g %s", a.dest, v.Unit)
	switch {
	case !a.failed:
		return ""
	case unknown:
		return fmt.Sprintf("%s: it is unknown whether %s was given; it counts as delivered: %v", v.Name, amount, a.why)
	case a.why != nil:
		return fmt.Sprintf("%s: %s was not given: %v", v.Name, amount, a.why)
	}
	return fmt.Sprintf("%s: %s was not given: no budget has room for it", v.Name, amount)
}

// StopsDoses says that the device of variable i can stop a dose.
func (x *devices) StopsDoses(i int) bool {
	return x.deviceOf(i).channels[x.plan.Variables[i].Channel.Name].CanRelease
}
