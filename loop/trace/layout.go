package trace

import (
	"math"
	"time"

	"github.com/labtuner/tuner/safety"
)

// Tick is one tick of the safety layer: its inputs and its outputs.
type Tick struct {
	Now time.Duration
	In  safety.Inputs
	P   safety.Proposal
	Out safety.Output
}

// layout is a tick as a list of 64-bit words, of which the place of each follows from
// the limits alone. One walk writes the list and reads it back.
type layout struct {
	list    []uint64
	times   []bool // which of them are times
	reading bool
	at      int
}

func (w *layout) word(v uint64, isTime bool) uint64 {
	if w.reading {
		v = w.list[w.at]
		w.at++
		return v
	}
	w.list, w.times = append(w.list, v), append(w.times, isTime)
	return v
}

func (w *layout) time(d *time.Duration) { *d = time.Duration(w.word(uint64(*d), true)) }
func (w *layout) float(x *float64)      { *x = math.Float64frombits(w.word(math.Float64bits(*x), false)) }
func (w *layout) count(n *uint64)       { *n = w.word(*n, false) }
func (w *layout) number(n *int64)       { *n = int64(w.word(uint64(*n), false)) }
func (w *layout) reasons(r *safety.Reasons) {
	*r = safety.Reasons(w.word(uint64(*r), false))
}

// flags packs truths into one word.
func (w *layout) flags(list ...*bool) {
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

// causes takes as many words of each rule as the limits need: one up to 64 variables, as there
// was when that was all there could be.
func (w *layout) causes(l *safety.Limits, c *safety.Causes) {
	for r := range c {
		for k := range max(len(l.Variables)+63, 64) / 64 {
			w.count(&c[r][k])
		}
	}
}

// sample leaves the flag that says whether it is known to its caller.
func (w *layout) sample(s *safety.Sample) {
	w.float(&s.Value)
	w.time(&s.At)
}

// tick walks through a tick: everything that Step looks at under these limits, and
// all that it says.
func (w *layout) tick(l *safety.Limits, v *Tick) {
	w.time(&v.Now)
	command, mode := uint64(v.In.Command), uint64(v.Out.Mode)
	w.count(&command)
	w.count(&mode)
	v.In.Command, v.Out.Mode = safety.Command(command), safety.Mode(mode)
	w.flags(&v.In.Ready)
	w.count(&v.In.Durable)
	w.causes(l, &v.In.Faults)
	w.causes(l, &v.Out.Active)
	w.causes(l, &v.Out.Refused)
	w.reasons(&v.Out.Bypassed)
	w.number(&v.P.ID)
	for i := range l.Variables {
		if l.Variables[i].OnFault != safety.RestNone {
			w.variable(i, v)
		}
	}
	for d := range l.Links {
		if l.Links[d].Watched && l.Comms > 0 {
			w.flags(&v.In.Heard[d].Known)
			w.sample(&v.In.Heard[d])
		}
	}
}

func (w *layout) variable(i int, v *Tick) {
	in, out, p := &v.In.Variable[i], &v.Out, &v.P
	w.flags(&in.Readback.Known, &in.Written.Known, &in.CanWrite, &in.Lost, &in.Released, &in.Silent,
		&p.Drive[i], &p.Release[i], &out.Write[i], &out.Release[i], &out.Arrived[i], &out.Failed[i],
		&in.CanMakeSafe) // the last one: a tape from before it has a 0 there
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

// watched says which sensors a rule looks at: what the others say changes no verdict.
func watched(l *safety.Limits) []bool {
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
