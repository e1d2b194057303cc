package instrument

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// restTimeout bounds the way to a rest state under slew. A safe value that is not
// reached by then is written at once: a caller who ends the run is waiting, and
// systemd kills after 90 s.
const restTimeout = 10 * time.Second

// restRevive bounds the wait for a device that is out of order and is opened again, however long that may take: the
// end of a run stays within the two minutes that a service has to stop.
const restRevive = time.Minute

// restConfirm bounds the wait for the confirmation after that.
const restConfirm = 10 * time.Second

// restJob brings one actuator to its rest state.
type restJob struct {
	variable int
	state    plan.RestState
	done     bool
	err      error
	// revived says that the device was reopened and halted.
	revived bool
	// lowered says that it was to stay where it is, and has to come down for that.
	lowered bool
}

// RestReport is what became of one actuator at the end.
type RestReport struct {
	Variable, Device string
	State            plan.RestState
	// ByDevice says that nothing is held although State is RestHold: the device has
	// brought the actuator to its own safe state, or does when the connection ends.
	ByDevice bool
	// Dose says that it is a variable of doses: RestOff is that none runs any more.
	Dose bool
	// Lowered says that it stood above what it may be left at, where State is RestHold.
	Lowered bool
	// Value is the safe value where State is RestSafe, what it was brought down to where it was
	// Lowered, in Unit.
	Value float64
	Unit  string
	// Err is nil where the state was confirmed.
	Err error
}

// Rest aims every actuator at the state that pick chooses. A device that has failed is
// reopened and brought to its own safe state. What is returned is the way to rest for
// the record, which nothing waits for: bringing actuators to safety must not depend on a
// disk.
func (x *Instrument) Rest(pick func(*plan.Variable) plan.RestState) []journal.Action {
	x.rests = nil
	for i := range x.plan.Variables {
		v := &x.plan.Variables[i]
		if !v.Actuated {
			continue
		}
		job := &restJob{variable: i, state: pick(v)}
		x.rests = append(x.rests, job)
		x.beginRest(job)
	}
	for _, k := range x.links {
		k.outage.wait, k.outage.next = 0, time.Time{} // what is out of order is tried at once
	}
	x.ReviveDead()
	return x.Actions(nil, "shutdown", func(i int) (value float64, driven, released bool) {
		v := &x.plan.Variables[i]
		if !v.Actuated {
			return 0, false, false
		}
		state := pick(v)
		return v.Limits.Safe, state == plan.RestSafe, state == plan.RestOff
	})
}

// beginRest aims one actuator at its rest state.
func (x *Instrument) beginRest(job *restJob) {
	v, a := &x.plan.Variables[job.variable], &x.all[job.variable]
	a.refused = nil
	switch job.state {
	case plan.RestSafe:
		a.driveTo(v.Limits.Safe)
	case plan.RestOff:
		a.letGo()
	default:
		a.stand() // left where it is: the last setpoint stands and nothing more is written
	}
}

// ReviveDead reopens failed devices and has them go safe; what their actuators
// were to do is then either done by the device itself or done over.
func (x *devices) ReviveDead() {
	for _, k := range x.links {
		if k.act != nil && k.open && k.dead != nil && !k.reviving && !x.now().Before(k.outage.next) {
			k.reviving = true
			x.revive(k)
		}
	}
}

// revived takes in what became of a dead device.
func (x *Instrument) revived(r revived) {
	r.k.reviving = false
	if r.err != nil {
		r.k.later(x.now(), reopenSafe)
	} else {
		r.k.dead, r.k.open = nil, true
		x.standsUnknown(r.k) // the halt has moved it
	}
	for _, job := range x.rests {
		if x.deviceOf(job.variable) != r.k {
			continue
		}
		a := &x.all[job.variable]
		// What it acknowledged before counts no more.
		a.arrived, a.lost, a.written = false, true, math.NaN()
		job.revived = r.err == nil
		if !job.done {
			job.err = r.err
		}
	}
}

// Resting looks which actuators are at rest since the way there began. over says that all
// are, or that time is up; hurry that one takes too long under slew.
func (x *Instrument) Resting(p Present, since time.Time) (over, hurry bool, events []any) {
	if p.Now.Sub(since) < restTimeout {
		x.ReviveDead()
	}
	waiting := false
	for _, job := range x.rests {
		if job.done {
			continue
		}
		hurry = x.watchRestJob(&p, job, p.Now.Sub(since)) || hurry
		waiting = waiting || !job.done
	}
	over = !waiting && !x.busy(&p, since) && x.part(&p, since)
	return over, hurry, x.told()
}

// busy reports whether a write is still in flight, or one whose outcome is not known may
// yet arrive.
func (x *Instrument) busy(p *Present, since time.Time) bool {
	most := since.Add(restTimeout + restConfirm)
	if len(x.giving) > 0 && p.Now.Before(most) {
		return true
	}
	straggling := x.awaitStragglers(p, most)
	if !p.Now.Before(most) {
		return false
	}
	return straggling || slices.ContainsFunc(x.links, func(k *link) bool { return k.flight != nil })
}

// watchRestJob looks whether one actuator is at rest, and reports whether it is to be
// brought there without slew.
func (x *Instrument) watchRestJob(p *Present, job *restJob, spent time.Duration) (hurry bool) {
	v, a := &x.plan.Variables[job.variable], &x.all[job.variable]
	k := x.links[v.Channel.Device]
	switch {
	case k.dead != nil:
		if spent > restTimeout && !k.reviving || spent > min(drivers.OpenTime(k.dev), restRevive)+restConfirm {
			job.err, job.done = cmp.Or(job.err, k.dead), true
		}
	case job.state == plan.RestHold && x.staysPut(job), job.state != plan.RestHold && x.InPlace(job.variable):
		job.done = true
	case a.refused != nil && spent > restTimeout:
		job.err, job.done = a.refused, true
	case a.refused != nil:
		a.refused = nil // a device may be busy for a moment: it is asked again
	case spent > restTimeout+max(restConfirm, v.Timeout):
		job.err, job.done = fmt.Errorf("not confirmed within %v", spent.Round(100*time.Millisecond)), true
	default:
		return (job.state == plan.RestSafe || job.lowered) && spent > restTimeout && p.Mode == safety.Fallback
	}
	return false
}

// staysPut says that an actuator that is left where it is may be left there. One that stands above
// what it may stand at for any length of time is brought down first, by the safety layer.
func (x *Instrument) staysPut(job *restJob) bool {
	i := job.variable
	most, bounded := x.plan.Lasting(i)
	if !bounded || job.revived {
		return true
	}
	v, a, e := &x.plan.Variables[i], &x.all[i], x.variables[i]
	written := !math.IsNaN(a.written)
	if a.written > most || e.Known && e.Value > most+v.Tolerance && (v.Tolerance > 0 || !written) {
		if !job.lowered {
			job.lowered = true
			x.tell(Said{"info", journal.EventShutdown, strings.TrimRight(fmt.Sprintf("%s may be above %.6g %s for a time only: it is brought down to that", v.Name, most, v.Unit), " ")})
		}
		return false
	}
	readSince := func(t time.Time) bool { return e.Known && !e.At.Before(t) }
	unknown := a.lost || a.writtenAt.Before(a.lostAt) && !readSince(a.lostAt)
	if a.unsure && x.deviceOf(i).flight != nil || written && unknown {
		return false
	}
	return !job.lowered || v.Tolerance <= 0 || readSince(a.writtenAt)
}

// Rested is what became of the actuators.
func (x *Instrument) Rested() (out []RestReport) {
	for _, job := range x.rests {
		v := &x.plan.Variables[job.variable]
		value := v.Limits.Safe
		if job.lowered {
			value, _ = x.plan.Lasting(job.variable)
		}
		out = append(out, RestReport{Variable: v.Name, Device: x.deviceOf(job.variable).name, State: job.state, Dose: v.Dose, Lowered: job.lowered, Value: value, Unit: v.Unit, Err: job.err,
			ByDevice: !v.Dose && job.state == plan.RestHold && (job.revived || x.Lapses(job.variable))})
	}
	return out
}

// Lapses says that the device of variable i goes to its own safe state when it is closed.
func (x *devices) Lapses(i int) bool { return x.deviceOf(i).lapses() }
