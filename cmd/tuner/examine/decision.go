package examine

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/policy"
)

const (
	// fillTime bounds how long a model is filled, decideTime one decision that is timed:
	// together about a second, since a person waits.
	fillTime   = 500 * time.Millisecond
	decideTime = 400 * time.Millisecond
	// timedDecisions are decided, and the middle one counts: the first begins from nothing.
	timedDecisions = 3
	// firstObservations are what the first fit of hyperparameters sees, as after an initial
	// design.
	firstObservations = 16
)

// Decision times decisions of the configuration's policy, with a model that has learnt of a
// smooth function with noise as many observations as a run can bring, at random settings.
func Decision(w *setup.Setup, now func() time.Time) (describe.DecisionTime, error) {
	d := describe.DecisionTime{Deadline: w.Options.Deadline}
	spec := w.Spec
	spec.InitialSteps, spec.Budget, spec.CostsRead = 1, 0, false // each set would be tried first, alone
	p, err := policy.New(spec)
	if err != nil {
		return d, err
	}
	d.Wanted = observations(w, p.(policy.Sizer).Size().Capacity)
	r := rehearsal{spec: &spec, rng: rand.New(rand.NewPCG(1, 2))}
	begun := now()
	for d.Observations < d.Wanted && (d.Observations < firstObservations || now().Sub(begun) < fillTime) {
		step := 1
		if d.Observations >= firstObservations {
			step = 2
		}
		if d.Observations == firstObservations {
			if _, err := p.Propose(context.Background()); err != nil {
				return d, err
			}
		}
		if err := p.Observe(r.observation(step)); err != nil {
			return d, err
		}
		d.Observations++
	}
	var took []time.Duration
	for i := range timedDecisions {
		ctx, cancel := context.WithTimeout(context.Background(), decideTime)
		begun := now()
		q, err := p.Propose(ctx)
		cancel()
		if err != nil {
			return d, err
		}
		took = append(took, now().Sub(begun))
		if d.Units, d.Complete = q.Work, !q.Cut; q.Cut {
			d.Took = took[i]
			return d, nil
		}
		if err := p.Observe(r.observation(q.Step)); err != nil {
			return d, err
		}
	}
	slices.Sort(took)
	d.Took = took[len(took)/2]
	return d, nil
}

// observations is how many a model comes to hold: its capacity, or all of a shorter run.
// Where a step leaves variables random, each of its shots is one.
func observations(w *setup.Setup, capacity int) int {
	steps := w.Options.Stop.Steps
	if steps == 0 {
		return capacity
	}
	for i := range w.Options.ControlSets {
		if len(w.Options.ControlSets[i].Variables) < len(w.Options.Variables) {
			steps *= max(w.Options.Objective.Shots, 1)
			break
		}
	}
	return min(capacity, max(steps, firstObservations))
}

// rehearsal makes observations up.
type rehearsal struct {
	spec *policy.Spec
	rng  *rand.Rand
}

// observation is one of a smooth function with noise that depends on the setting, at a random
// setting. Constraints read values that mostly keep them.
func (r *rehearsal) observation(step int) policy.Observation {
	o := policy.Observation{Step: step, ControlSet: -1, X: r.setting(), Shots: 4, Valid: true}
	for i, v := range r.spec.Variables {
		u := (o.X[i] - v.Low) / (v.High - v.Low)
		o.Mean += math.Sin(3*u + float64(i))
		o.Variance += 0.01 + u*u/10
	}
	o.Variance *= 0.5 + r.rng.ExpFloat64()/2
	o.Mean += math.Sqrt(o.Variance/4) * r.rng.NormFloat64()
	for _, c := range r.spec.Constraints {
		low, high := c.Low, c.High
		switch {
		case math.IsInf(low, -1):
			low = high - max(1, math.Abs(high))
		case math.IsInf(high, 1):
			high = low + max(1, math.Abs(low))
		}
		o.Constrained = append(o.Constrained, low+(high-low)*(0.1+0.95*r.rng.Float64()))
	}
	return o
}

// setting is a candidate, or a point of the ranges.
func (r *rehearsal) setting() []float64 {
	if c := r.spec.Candidates; len(c) > 0 {
		return slices.Clone(c[r.rng.IntN(len(c))])
	}
	x := make([]float64, len(r.spec.Variables))
	for i, v := range r.spec.Variables {
		x[i] = v.Low + (v.High-v.Low)*r.rng.Float64()
	}
	return x
}
