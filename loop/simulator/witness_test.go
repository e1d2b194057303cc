package simulator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// witness watches from outside the loop: what leaves the tuner, what the instrument
// takes, what is told and what the files hold. It keeps the invariants:
//
//	every setpoint that is taken is finite, within the hard bounds, and differs from
//	the one before by no more than slew times the instrument's own time between them;
//	what is taken was sent, and not longer ago than it may be on its way;
//	after a trip or a stop nothing leaves but safe values, over any number of
//	processes, until a person has reset it;
//	a fault that trips has the safe values taken within its bound;
//	no step that was reported as recorded is lost or changed;
//	when the faults are over, the run goes on by itself or by a person's resume.
type witness struct {
	w *world

	mu       sync.Mutex
	broken   []string
	shut     float64 // what the door says
	speaks   bool
	active   []*fault
	latest   time.Time // when something was last disturbed or healed
	slowTill time.Time // until when messages may have been slow
	keptTill time.Time // until when messages may have been kept on their way

	writes []write
	knobs  map[string]*knobSeen
	back   []seen // the latest readbacks that the instrument has given

	mode    string
	since   time.Time // of the mode
	latched bool
	ending  bool // the running process brings the actuators to rest
	alarm   *alarm

	doses    doses
	acks     []ack
	lastStep time.Time
	counts   counts
}

// counts are for the report.
type counts struct {
	setpoints, doses, steps, processes, kills, trips, resets int
	// faults are those that struck, by kind; those of the instrument by what they are.
	faults map[string]int
	// alarms are the times from a fault of the interlock to the safe values, in ticks.
	alarms map[kind][]float64
	// badDisk counts those of alarms that were asked for on a full or slow disk; slow
	// the records that took so long that it was told.
	badDisk, slow int
}

// write is what left a process.
type write struct {
	process int
	at      time.Time
	values  map[string]float64
	err     error
	ended   bool
}

// knobSeen is what the instrument has taken for one knob.
type knobSeen struct {
	set     float64
	at      time.Time
	process int  // whose it was
	strange bool // the instrument itself has been disturbed since
}

// seen is a readback.
type seen struct {
	at     time.Time
	values map[string]float64
}

// ack is a step that was reported as recorded.
type ack struct {
	step     int
	decision journal.Decision
	outcome  journal.Outcome
}

// alarm is a fault that must bring the knobs to safety in time.
type alarm struct {
	kind     kind
	at       time.Time
	deadline time.Time
}

func newWitness(w *world) *witness {
	v := &witness{w: w, shut: doorShut, speaks: true, knobs: map[string]*knobSeen{}, counts: counts{faults: map[string]int{}, alarms: map[kind][]float64{}}}
	for _, n := range knobs {
		v.knobs[n] = &knobSeen{set: math.NaN()}
	}
	v.doses.sent, v.doses.limits = map[string]float64{}, w.pace.budget
	return v
}

// violation notes that an invariant does not hold.
func (v *witness) violation(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.breaks(format, args...)
}

func (v *witness) breaks(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	v.broken = append(v.broken, fmt.Sprintf("%v: %s", v.w.since(), text))
	v.w.note("VIOLATION: %s", text)
}

func (v *witness) door() (float64, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shut, v.speaks
}

func (v *witness) setDoor(value float64, speaks bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut, v.speaks = value, speaks
}

// readback is what the instrument says of its knobs.
func (v *witness) readback(r drivers.Reading) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.overdue()
	values := map[string]float64{}
	for _, n := range knobs {
		if x, ok := r.Values[n]; ok {
			values[n] = x
		}
	}
	if len(v.back) >= 16 {
		v.back = slices.Delete(v.back, 0, 1)
	}
	v.back = append(v.back, seen{time.Now(), values})
}

// sends is told before a write leaves a process, and gives its number.
func (v *witness) sends(p *process, s drivers.Setpoints) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.killed.Load() {
		return -1
	}
	now := time.Now()
	for n, x := range s.Values {
		if !(x >= hardLow && x <= hardHigh) {
			v.breaks("process %d sends %v to %s, outside its hard bounds", p.number, x, n)
		}
		if v.latched && x != safeValue {
			v.breaks("process %d sends %v to %s while latched", p.number, x, n)
		}
	}
	if slices.ContainsFunc(s.Release, func(n string) bool { return n != feed }) {
		v.breaks("process %d releases %v, which nothing asks for", p.number, s.Release)
	}
	v.writes = append(v.writes, write{process: p.number, at: now, values: s.Values})
	return len(v.writes) - 1
}

// sent is told what became of a write.
func (v *witness) sent(n int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n >= 0 {
		v.writes[n].err, v.writes[n].ended = err, true
	}
}

// taken is told what the instrument has taken.
func (v *witness) taken(s drivers.Setpoints, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.w.note("the instrument refuses %v: %v", s.Values, err)
		return
	}
	now := time.Now()
	for _, n := range knobs {
		x, ok := s.Values[n]
		if !ok {
			continue
		}
		v.counts.setpoints++
		v.w.note("%s takes %v", n, x)
		if !(x >= hardLow && x <= hardHigh) {
			v.breaks("%s takes %v, outside its hard bounds", n, x)
		}
		from := v.senderOf(n, x, now)
		if from < 0 {
			v.breaks("%s takes %v, which nobody has sent within %v", n, x, v.oldest(now))
		}
		v.judgeSlew(n, x, from, now)
		// A knob that does not move to its safe value stands elsewhere, and is taken over from there.
		*v.knobs[n] = knobSeen{set: x, at: now, process: from, strange: v.knobs[n].strange && x == safeValue}
	}
	v.reached(now)
}

// oldest is how old a setpoint may be when it is taken: its ttl, and what the
// fastest message of its session took.
func (v *witness) oldest(now time.Time) time.Duration {
	limit := v.w.pace.ttl + 2*latencyMost
	if now.Before(v.slowTill) {
		limit += 3 * v.w.pace.tick
	}
	return limit
}

// senderOf is the process that has sent a value lately, -1 where none has. How old the first one of a process is, the
// instrument cannot know: clocks differ, and it has taken no other of that session to compare it with.
func (v *witness) senderOf(knob string, x float64, now time.Time) int {
	for i := len(v.writes) - 1; i >= 0; i-- {
		r := &v.writes[i]
		if first := r.process > v.knobs[knob].process; !first && now.Sub(r.at) > v.oldest(now) {
			break
		}
		if y, ok := r.values[knob]; ok && y == x {
			if r.ended && r.err != nil && strings.Contains(r.err.Error(), "nothing was sent") {
				continue
			}
			return r.process
		}
	}
	return -1
}

// judgeSlew sees that a knob is not asked to move faster than it may.
func (v *witness) judgeSlew(n string, x float64, from int, now time.Time) {
	k, p := v.knobs[n], v.w.pace
	if math.IsNaN(k.set) || x == k.set {
		return
	}
	if x == safeValue && (v.latched || v.ending) {
		return // at once, without slew
	}
	slack := 2 * latencyMost
	switch { // what is late, as it may be, comes closer to what follows it
	case now.Before(v.slowTill):
		slack += 3 * p.tick
	case now.Before(v.keptTill):
		slack += p.ttl
	}
	if may := p.slew*(now.Sub(k.at)+slack).Seconds() + 1e-6; math.Abs(x-k.set) <= may {
		return
	}
	if from != k.process || k.strange {
		// Taken over from where the knob stands, which is what was read.
		for _, b := range v.back {
			if y, ok := b.values[n]; ok && math.Abs(x-y) <= p.slew*(now.Sub(b.at)+slack).Seconds()+tolerance {
				return
			}
		}
	}
	v.breaks("%s is asked for %v after %v %v before: faster than %v V/s", n, x, k.set, now.Sub(k.at), p.slew)
}

// disturbed is told that a fault begins.
func (v *witness) disturbed(f *fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.counts.faults[f.name()]++
	v.overdue()
	v.alarm = nil // two at once: no bound is claimed
	if f.kind == doorOpens || f.kind == doorMute {
		bound := v.w.pace.bound(f.kind)
		// A disk that is full or slow is no excuse.
		alone := !slices.ContainsFunc(v.active, func(g *fault) bool { return !g.ofDisk() })
		calm := alone && now.Sub(v.latest) > 30*v.w.pace.tick && (v.mode == "run" || v.mode == "hold") && !v.ending &&
			now.Sub(v.since) > 10*v.w.pace.tick && v.w.now != nil
		if calm && f.long > bound {
			v.alarm = &alarm{f.kind, now, now.Add(bound)}
			if len(v.active) > 0 {
				v.counts.badDisk++
			}
		}
	}
	if f.lasts() {
		v.active = append(v.active, f)
	}
	v.touch(f, now)
}

// healed is told that one ends.
func (v *witness) healed(f *fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.overdue()
	v.active = slices.DeleteFunc(v.active, func(g *fault) bool { return g.at == f.at })
	v.touch(f, time.Now())
}

func (v *witness) touch(f *fault, now time.Time) {
	if !f.ofDisk() {
		v.latest = now
	}
	if f.kind == netSlow {
		v.slowTill = now.Add(f.long + 10*v.w.pace.tick)
	}
	if f.kind == holeTuner || f.kind == holePlant {
		v.keptTill = now.Add(f.long + 10*v.w.pace.tick)
	}
	if f.kind == plantFault || f.kind == oldReading || f.kind == twice || f.kind == garbled {
		for _, k := range v.knobs {
			k.strange = true
		}
	}
}

// bound is the published time from a fault to the safe values at the instrument, of
// the interlock: until it is noticed, a tick for the rule, the wait for the latch to
// be durable, a tick for the write, and the ways.
func (p *pace) bound(k kind) time.Duration {
	b := p.period + 2*p.tick + max(2*p.tick, durableWait) + 4*latencyMost
	if k == doorMute {
		b += 4 * p.tick // max_age
	}
	return b
}

// reached looks whether an alarm has been answered.
func (v *witness) reached(now time.Time) {
	if v.alarm == nil || !v.latched {
		return
	}
	for _, k := range v.knobs {
		if k.set != safeValue {
			return
		}
	}
	if now.After(v.alarm.deadline) {
		v.breaks("%v: safe %v after it, the bound is %v", v.alarm.kind, now.Sub(v.alarm.at), v.alarm.deadline.Sub(v.alarm.at))
	}
	v.counts.alarms[v.alarm.kind] = append(v.counts.alarms[v.alarm.kind], now.Sub(v.alarm.at).Seconds()/v.w.pace.tick.Seconds())
	v.alarm = nil
}

// overdue looks whether an alarm should have been answered by now.
func (v *witness) overdue() {
	if v.alarm != nil && time.Now().After(v.alarm.deadline) {
		v.breaks("%v: not safe %v after it", v.alarm.kind, time.Since(v.alarm.at))
		v.alarm = nil
	}
}

// told is told what the loop tells, on its goroutine.
func (v *witness) told(p *process, e journal.Event) {
	if p.killed.Load() {
		return
	}
	v.w.note("process %d, step %d: %s %s: %s", p.number, e.Step, e.Level, e.Kind, e.Message)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case e.Kind == journal.EventDisk:
		p.disk.tells(e.Message)
	case e.Kind == "close":
		p.disk.over.Store(true) // what is not written by now, the end tells
	case e.Kind == "fault" || e.Kind == "interrupt":
		v.ending = true
	case e.Kind != journal.EventSafety:
	case strings.HasPrefix(e.Message, "the hold is over"):
		v.enter("run")
	case e.Message == "paused" || strings.HasPrefix(e.Message, "held: "):
		v.enter("hold")
	case strings.HasPrefix(e.Message, "fallen back: "):
		v.enter("fallen")
	case strings.HasPrefix(e.Message, "tripped: "), strings.HasPrefix(e.Message, "stopped: "):
		v.enter("latched")
		v.latched, v.ending = true, true
		v.counts.trips++
		v.reached(time.Now())
	}
}

func (v *witness) enter(mode string) { v.mode, v.since = mode, time.Now() }

// reset is told that a person has reset the latches.
func (v *witness) reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.latched = false
	v.counts.resets++
}

// acknowledged is called with a step that is recorded.
func (v *witness) acknowledged(p *process, d journal.Decision, o journal.Outcome) {
	if p.killed.Load() {
		return
	}
	v.w.note("process %d: step %d at %v: %v %q", p.number, d.Step, o.X, o.Mean, o.Problem)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.acks = append(v.acks, ack{d.Step, d, o})
	v.counts.steps++
	v.lastStep = time.Now()
	if v.mode == "" || v.mode == "fallen" {
		v.enter("run")
	}
}

// processEnded is told that a process is no more; err is nil where it was killed.
func (v *witness) processEnded(p *process, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ending, v.alarm, v.latest = false, nil, time.Now()
	v.enter("")
	v.counts.processes++
	if p.killed.Load() {
		v.counts.kills++
		return
	}
	for _, fine := range []error{context.Canceled, loop.ErrSafety, guard.ErrLatched, loop.ErrUnsafe, loop.ErrInstrument, loop.ErrJournal, loop.ErrPolicy, disk.ErrIO} {
		if errors.Is(err, fine) {
			return
		}
	}
	if err != nil && !strings.Contains(err.Error(), "as the simulation wants it") {
		v.breaks("process %d ended with %v", p.number, err)
	}
}

// recovered sees that the run goes on when the faults are over.
func (v *witness) recovered() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.overdue()
	if v.w.now == nil {
		v.breaks("no process runs, though the faults are over")
	} else if idle := time.Since(v.lastStep); idle > 150*v.w.pace.tick {
		v.breaks("the faults are over, and no step was concluded for %v; the mode is %q", idle, v.mode)
	}
}
