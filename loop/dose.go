package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// giving is a dose that the safety layer has given out and that is not over.
type giving struct {
	variable int
	amount   float64
	// action is the journal's intent, recorded says that it is durable; sent that the
	// device has been told.
	action         int64
	recorded, sent bool
	// cancel ends the wait for the device. cancelled says that we did.
	cancel    context.CancelCauseFunc
	cancelled bool
}

// aimDose wants one dose of a variable.
func (l *Loop) aimDose(i int, amount float64) {
	a := &l.aims[i]
	*a = aim{drive: true, dest: amount, dose: l.safety.Dose[l.budgetOf(i)].Number + 1, written: math.NaN(),
		released: a.released, outcome: a.outcome, delivered: a.delivered, lost: a.lost}
	a.amount = 0
}

// budgetOf is the index of a variable's budget.
func (l *Loop) budgetOf(i int) int {
	return slices.IndexFunc(l.limits.Doses, func(d safety.DoseLimits) bool { return d.Variable == i })
}

// forgetDoses wants no more doses: what is on its way stays on it.
func (l *Loop) forgetDoses() {
	for i := range l.aims {
		if a := &l.aims[i]; l.opt.Variables[i].Dose && a.dose != 0 {
			*a = aim{written: math.NaN(), released: a.released, outcome: a.outcome, delivered: a.delivered, lost: a.lost}
		}
	}
}

// giveAll begins the doses that the safety layer has given out, goes on with those
// under way and cuts off those that are to be stopped.
func (l *Loop) giveAll(out *safety.Output) {
	for i := range l.aims {
		if l.opt.Variables[i].Dose && out.Write[i] {
			l.intendDose(i, out.Setpoint[i])
		}
	}
	for _, g := range slices.Clone(l.giving) {
		l.goOn(g)
	}
}

// giveWaiting goes on with the doses that wait for a device, which is free now.
func (l *Loop) giveWaiting(k *link) {
	for _, g := range slices.Clone(l.giving) {
		if l.links[l.opt.Variables[g.variable].Channel.Device] == k && !g.sent {
			l.goOn(g)
		}
	}
}

// intendDose makes the intent of a dose durable.
func (l *Loop) intendDose(i int, amount float64) {
	g := &giving{variable: i, amount: amount}
	l.giving = append(l.giving, g)
	c := l.opt.Variables[i].Channel
	action := journal.Action{Step: l.step.n, Device: l.links[c.Device].name, Kind: "dose",
		Values: map[string]float64{c.Name: amount}, At: l.stamp()}
	l.failpoint("dose-granted")
	intended := &doseIntended{dose: g}
	l.record("intent of a dose", func(j *journal.Journal) (err error) {
		intended.action, err = j.Intend(action)
		return err
	}, intended)
}

// goOn tells the device as soon as it can be told, and gives up a dose that is not
// wanted any more.
func (l *Loop) goOn(g *giving) {
	v := &l.opt.Variables[g.variable]
	k := l.links[v.Channel.Device]
	mode := l.safety.Mode
	switch {
	case g.sent:
		rest := v.OnFault
		if l.safety.Ending {
			rest = v.Shutdown
		}
		if mode >= safety.Fallback && rest == plan.RestOff && !g.cancelled {
			g.cancelled = true
			g.cancel(drivers.ErrOvertaken) // the line must be free for the device to be stopped
		}
	case !g.recorded:
	case l.phase != moving || mode >= safety.Fallback || k.dead != nil:
		l.settleDose(g, safety.DoseNotGiven, 0, fmt.Errorf("%w: the step ended first", drivers.ErrNotSent))
	case mode == safety.Run && k.ready() && !k.mend.out && !k.mend.spent:
		l.sendDose(g, k)
	}
}

// sendDose tells the device, once.
func (l *Loop) sendDose(g *giving, k *link) {
	l.failpoint("before-dose")
	if l.tooLate() {
		return // the next tick goes on, or not
	}
	name := l.opt.Variables[g.variable].Channel.Name
	ctx, cancel := context.WithCancelCause(l.deviceCtx)
	g.sent, g.cancel, l.drove = true, cancel, true
	f := &flight{dose: true}
	k.flight = f
	s := drivers.Setpoints{Values: map[string]float64{name: g.amount}, Dose: l.deps.Run + "-" + strconv.FormatInt(g.action, 10)}
	orders := l.orders.Load()
	l.post(k.lane, func() func() {
		if l.revoked(orders) { // it has not left: whether it still may, goOn says
			return func() { cancel(nil); k.landed(f); g.sent, g.cancelled = false, false }
		}
		r, err := k.act.Write(ctx, s)
		return func() {
			cancel(nil)
			k.landed(f)
			l.failpoint("after-dose")
			if err != nil && !g.cancelled {
				l.deviceError(k, "dose", err)
			} else {
				l.answered(k)
				k.heard = l.now()
			}
			l.aims[g.variable].released = false
			outcome, delivered := judgeDose(g.amount, r.Values, name, err)
			l.settleDose(g, outcome, delivered, err)
		}
	})
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

// settleDose records what became of a dose.
func (l *Loop) settleDose(g *giving, outcome safety.DoseOutcome, delivered float64, why error) {
	name, at := l.opt.Variables[g.variable].Channel.Name, l.stamp()
	state, message := journal.Confirmed, ""
	var readback map[string]float64
	switch outcome {
	case safety.DoseGiven:
		readback = map[string]float64{name: delivered}
	case safety.DoseNotGiven:
		state = journal.Failed
	default:
		state = journal.Unknown
	}
	if why != nil {
		message = why.Error()
	}
	l.ended(g, outcome, delivered, why)
	l.record("outcome of a dose", func(j *journal.Journal) error {
		return j.Settle(g.action, state, readback, message, at)
	}, reached("dose-settled"))
}

// ended lets the safety layer know, in its next tick, what became of a dose.
func (l *Loop) ended(g *giving, outcome safety.DoseOutcome, delivered float64, why error) {
	l.giving = slices.DeleteFunc(l.giving, func(other *giving) bool { return other == g })
	a := &l.aims[g.variable]
	a.outcome, a.delivered, a.why = outcome, delivered, why
	if outcome == safety.DoseGiven && a.dose != 0 {
		a.amount = delivered
	}
	if l.phase == moving {
		l.since = l.now() // those that wait for the device have waited for this one
	}
}

// doseProblem says why a dose was not given, or what is not known of it.
func (l *Loop) doseProblem(i int) string {
	v, a := &l.opt.Variables[i], &l.aims[i]
	amount := fmt.Sprintf("a dose of %g %s", a.dest, v.Unit)
	d := &l.safety.Dose[l.budgetOf(i)]
	switch {
	case d.Unknown:
		return fmt.Sprintf("%s: nobody knows whether %s was given; it counts as delivered: %v", v.Name, amount, a.why)
	case a.why != nil:
		return fmt.Sprintf("%s: %s was not given: %v", v.Name, amount, a.why)
	}
	return fmt.Sprintf("%s: %s was not given: no budget has room for it", v.Name, amount)
}

// doseWait is how long a dose may have to wait: for the interval since the one before,
// and for that one to show.
func (l *Loop) doseWait(i int) (wait time.Duration) {
	if k := l.budgetOf(i); k >= 0 {
		wait = l.limits.Doses[k].MinInterval
	}
	if !l.opt.Variables[i].Dose {
		return wait
	}
	for _, r := range l.limits.Responses {
		if r.Variable == i {
			wait = max(wait, r.Within)
		}
	}
	return wait
}

// letDosesEnd lets the doses of devices end that cannot stop them.
func (l *Loop) letDosesEnd(limits *safety.Limits) {
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if v.Dose && !l.links[v.Channel.Device].channels[v.Channel.Name].CanRelease {
			v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
			limits.Variables[i].OnFault, limits.Variables[i].Shutdown = safety.RestHold, safety.RestHold
		}
	}
}
