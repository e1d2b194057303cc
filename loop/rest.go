package loop

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// restTimeout bounds the way to a rest state under slew. A safe value that is not
// reached by then is written at once: a caller who ends the run is waiting, and
// systemd kills after 90 s.
const restTimeout = 10 * time.Second

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
}

// rest brings every actuator to the state that pick chooses, and confirms it. A
// device that has failed is reopened once and brought to its own safe state.
func (l *Loop) rest(pick func(*plan.Variable) plan.RestState) {
	l.advisor.Stop()
	l.tellLeft()
	l.enter(resting)
	l.rests = nil
	if !l.drove && l.safety.Mode < safety.Fallback {
		l.closeAll() // nothing was written: nothing is to be undone
		return
	}
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if !v.Actuated {
			continue
		}
		job := &restJob{variable: i, state: pick(v)}
		l.rests = append(l.rests, job)
		l.beginRest(job)
	}
	l.reviveDead()
	l.intendRest()
}

// tellLeft makes it an error that this process ends before it has driven anything, and
// the one before was killed while it drove. Where the instrument cannot be had, that is the
// error, after which a start may be tried again.
func (l *Loop) tellLeft() {
	if p := l.deps.Past; p == nil || !p.Left || l.drove || l.phase > booting || l.opt.Mode != plan.Live || errors.Is(l.err, ErrInstrument) {
		return
	}
	l.err = errors.Join(ErrLeft, l.err)
}

// beginRest aims one actuator at its rest state.
func (l *Loop) beginRest(job *restJob) {
	v, a := &l.opt.Variables[job.variable], &l.aims[job.variable]
	a.refused = nil
	switch job.state {
	case plan.RestSafe:
		a.driveTo(v.Limits.Safe)
	case plan.RestOff:
		a.letGo()
	default:
		// Left where it is: the last setpoint stands and nothing more is written.
		a.drive, a.release = false, false
	}
}

// reviveDead reopens failed devices and has them go safe; what their actuators
// were to do is then either done by the device itself or done over.
func (l *Loop) reviveDead() {
	for d, k := range l.links {
		if !k.open || k.dead == nil || k.revived {
			continue
		}
		k.revived = true
		l.revive(k, func(err error) {
			for _, job := range l.rests {
				if l.opt.Variables[job.variable].Channel.Device != d {
					continue
				}
				a := &l.aims[job.variable]
				// What it acknowledged before counts no more.
				a.arrived, a.lost, a.written = false, true, math.NaN()
				job.revived = err == nil
				if err != nil && !job.done {
					job.err, job.done = err, true
				}
			}
		})
	}
}

// intendRest records the way to rest. It does not wait for the record: bringing
// actuators to safety must not depend on a disk.
func (l *Loop) intendRest() {
	var actions []journal.Action
	for d, k := range l.links {
		a := journal.Action{Step: l.step.n, Device: k.name, Kind: "shutdown", Values: map[string]float64{}, At: l.stamp()}
		for _, job := range l.rests {
			v := &l.opt.Variables[job.variable]
			switch {
			case v.Channel.Device != d:
			case job.state == plan.RestSafe:
				a.Values[v.Channel.Name] = v.Limits.Safe
			case job.state == plan.RestOff:
				a.Release = append(a.Release, v.Channel.Name)
			}
		}
		if len(a.Values)+len(a.Release) > 0 {
			actions = append(actions, a)
		}
	}
	done := 0
	l.record("shutdown", func(j *journal.Journal) error {
		for ; done < len(actions); done++ {
			if _, err := j.Intend(actions[done]); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// watchRest looks which actuators are at rest; when all are, or time is up, the
// devices are closed.
func (l *Loop) watchRest(now time.Time) {
	waiting := false
	for _, job := range l.rests {
		if job.done {
			continue
		}
		l.watchRestJob(job, now)
		waiting = waiting || !job.done
	}
	if !waiting && !l.busy() {
		l.rested()
	}
}

// busy reports whether a write is still in flight, or one whose outcome is not known may
// yet arrive.
func (l *Loop) busy() bool {
	if len(l.giving) > 0 && l.now().Sub(l.since) < restTimeout+restConfirm {
		return true
	}
	straggling := l.awaitStragglers(l.now())
	if l.now().Sub(l.since) >= restTimeout+restConfirm {
		return false
	}
	return straggling || slices.ContainsFunc(l.links, func(k *link) bool { return k.flight != nil })
}

func (l *Loop) watchRestJob(job *restJob, now time.Time) {
	v, a := &l.opt.Variables[job.variable], &l.aims[job.variable]
	k := l.links[v.Channel.Device]
	spent := now.Sub(l.since)
	switch {
	case k.dead != nil:
		if spent > reviveTimeout+restConfirm {
			job.err, job.done = k.dead, true
		}
	case job.state == plan.RestHold, l.inPlace(job.variable):
		job.done = true
	case a.refused != nil && spent > restTimeout:
		job.err, job.done = a.refused, true
	case a.refused != nil:
		a.refused = nil // a device may be busy for a moment: it is asked again
	case spent > restTimeout+max(restConfirm, v.Timeout):
		job.err, job.done = fmt.Errorf("not confirmed within %v", spent), true
	case job.state == plan.RestSafe && spent > restTimeout && l.safety.Mode == safety.Fallback:
		l.ask(safety.CommandHurry)
	}
}

// rested sums up what became of the actuators and closes the devices.
func (l *Loop) rested() {
	var unsafe []error
	for _, job := range l.rests {
		v := &l.opt.Variables[job.variable]
		report := RestReport{Variable: v.Name, State: job.state, Dose: v.Dose, Value: v.Limits.Safe, Unit: v.Unit, Err: job.err,
			ByDevice: !v.Dose && job.state == plan.RestHold && (job.revived || l.links[v.Channel.Device].lapses())}
		l.result.Rest = append(l.result.Rest, report)
		if job.err != nil {
			unsafe = append(unsafe, fmt.Errorf("%s: %w", v.Name, job.err))
		}
	}
	if len(unsafe) > 0 {
		l.err = errors.Join(fmt.Errorf("%w: %w", ErrUnsafe, errors.Join(unsafe...)), l.err)
		l.event("error", journal.EventShutdown, l.err.Error())
	} else if len(l.rests) > 0 {
		l.event("info", journal.EventShutdown, "actuators are at rest")
	}
	l.closeAll()
}

// closeAll closes the devices; a recommendation that was not asked for yet is
// asked for now.
func (l *Loop) closeAll() {
	l.enter(closing)
	l.saveTrace()
	l.closingParts = len(l.links) + 1
	for _, k := range l.links {
		l.post(k.lane, func() func() {
			err := k.dev.Close()
			return func() {
				if err != nil {
					l.event("warn", "close", fmt.Sprintf("device %q: %v", k.name, err))
				}
				l.oneClosed()
			}
		})
	}
	if l.result.HasFound {
		l.advisor.Flush()
		return
	}
	l.recommend()
}

// oneClosed notes that a device has been closed, or that the policy has answered.
func (l *Loop) oneClosed() {
	if l.closingParts--; l.closingParts == 0 {
		l.awaitJournal()
	}
}

// awaitJournal ends the run once everything that was recorded has been written and
// told of: a slow disk may still be at the last outcome when the devices are closed. A
// command that was under way may then have its answer to record yet; the story, to which
// whoever may publish could add for ever, ends here.
func (l *Loop) awaitJournal() {
	l.recorder.End()
	l.record("the end", func(*journal.Journal) error { return nil }, endRecorded{})
}

// endOfRecord ends the run where nothing else waits to be recorded.
func (l *Loop) endOfRecord() {
	switch {
	case l.phase != closing:
	case l.recorder.Due() > 0:
		l.awaitJournal()
	default:
		l.settled = true
		l.closeSettled()
	}
}

// closeSettled ends the run when the control state has been written too.
func (l *Loop) closeSettled() {
	if l.phase == closing && l.settled && !l.keeping {
		l.enter(closed)
	}
}
