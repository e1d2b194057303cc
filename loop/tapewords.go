package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/safety"
)

// verdict is one tick of the safety layer: what it was told, and what it said.
type verdict struct {
	now time.Duration
	in  safety.Inputs
	p   safety.Proposal
	out safety.Output
}

// words is a verdict as a list of 64-bit words, of which the place of each follows from
// the limits alone. One walk writes the list and reads it back.
type words struct {
	list    []uint64
	times   []bool // which of them are times
	reading bool
	at      int
}

func (w *words) word(v uint64, isTime bool) uint64 {
	if w.reading {
		v = w.list[w.at]
		w.at++
		return v
	}
	w.list, w.times = append(w.list, v), append(w.times, isTime)
	return v
}

func (w *words) time(d *time.Duration) { *d = time.Duration(w.word(uint64(*d), true)) }
func (w *words) float(x *float64)      { *x = math.Float64frombits(w.word(math.Float64bits(*x), false)) }
func (w *words) count(n *uint64)       { *n = w.word(*n, false) }
func (w *words) number(n *int64)       { *n = int64(w.word(uint64(*n), false)) }
func (w *words) reasons(r *safety.Reasons) {
	*r = safety.Reasons(w.word(uint64(*r), false))
}

// flags packs truths into one word.
func (w *words) flags(list ...*bool) {
	var v uint64
	for i, b := range list {
		if *b {
			v |= 1 << i
		}
	}
	v = w.word(v, false)
	for i, b := range list {
		*b = v&(1<<i) != 0
	}
}

func (w *words) causes(c *safety.Causes) {
	for r := range c {
		c[r] = uint32(w.word(uint64(c[r]), false))
	}
}

// sample leaves the flag that says whether it is known to its caller.
func (w *words) sample(s *safety.Sample) {
	w.float(&s.Value)
	w.time(&s.At)
}

// tick walks through a verdict: everything that Step looks at under these limits, and
// all that it says.
func (w *words) tick(l *safety.Limits, v *verdict) {
	w.time(&v.now)
	command, mode := uint64(v.in.Command), uint64(v.out.Mode)
	w.count(&command)
	w.count(&mode)
	v.in.Command, v.out.Mode = safety.Command(command), safety.Mode(mode)
	w.flags(&v.in.Ready)
	w.count(&v.in.Durable)
	w.causes(&v.in.Faults)
	w.causes(&v.out.Active)
	w.causes(&v.out.Refused)
	w.reasons(&v.out.Bypassed)
	w.number(&v.p.ID)
	for i := range l.Variables {
		if l.Variables[i].OnFault != safety.RestNone {
			w.variable(i, v)
		}
	}
	for d := range l.Links {
		if l.Links[d].Watched && l.Comms > 0 {
			w.flags(&v.in.Heard[d].Known)
			w.sample(&v.in.Heard[d])
		}
	}
}

func (w *words) variable(i int, v *verdict) {
	in, out, p := &v.in.Variable[i], &v.out, &v.p
	w.flags(&in.Readback.Known, &in.Written.Known, &in.CanWrite, &in.Lost, &in.Released, &in.Silent,
		&p.Drive[i], &p.Release[i], &out.Write[i], &out.Release[i], &out.Arrived[i], &out.Failed[i])
	w.sample(&in.Readback)
	w.sample(&in.Written)
	dose := uint64(in.Dose)
	w.count(&dose)
	in.Dose = safety.DoseOutcome(dose)
	w.float(&in.Delivered)
	w.float(&p.Destination[i])
	w.number(&p.Dose[i])
	w.float(&out.Setpoint[i])
	w.float(&out.Destination[i])
	w.reasons(&out.Reasons[i])
}

// heeded says which sensors a rule looks at: what the others say changes no verdict.
func heeded(l *safety.Limits) []bool {
	out := make([]bool, len(l.Sensors))
	for i := range l.Sensors {
		s := &l.Sensors[i]
		out[i] = out[i] || s.Watched || s.Rate > 0 || s.Stuck > 0
		if s.Tolerance > 0 {
			out[i], out[s.With] = true, true
		}
	}
	for _, list := range [][]safety.Condition{l.Interlocks, l.Permissives} {
		for _, c := range list {
			out[c.Sensor] = true
		}
	}
	for _, r := range l.Responses {
		if r.Sensor >= 0 {
			out[r.Sensor] = true
		}
	}
	return out
}
