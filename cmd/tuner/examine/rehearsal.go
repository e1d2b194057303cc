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
	// fillTime bounds how long a model is filled, decideTime how long decisions are timed:
	// together about a second, since a person waits.
	fillTime   = 700 * time.Millisecond
	decideTime = 500 * time.Millisecond
	// timedDecisions are timed, if there is time: fits of hyperparameters end among them, after
	// which a search begins anew. The first one begins from nothing, too.
	timedDecisions = 24
	// mostRepeats are the steps after which, if all are alike, a policy has gone elsewhere.
	mostRepeats = 8
	// firstObservations are what the first fit of hyperparameters sees, as after an initial
	// design.
	firstObservations = 16
)

// rehearsal has a policy tune what is made up, and times it.
type rehearsal struct {
	spec   *policy.Spec
	policy policy.Policy
	now    func() time.Time
	rng    *rand.Rand
	most   time.Duration // for one decision, and for those of decide together
	step   int
	// observed is how many observations it has, filled how many it had before the decisions.
	observed, filled int
	// decided are the decisions that were timed, and took their times; cut says that one of them was ended.
	decided []policy.Proposal
	took    []time.Duration
	cut     bool
}

func newRehearsal(w *setup.Setup, now func() time.Time) (*rehearsal, error) {
	spec := w.Spec
	spec.InitialSteps, spec.Budget, spec.CostsRead = 1, 0, false // each set would be tried first, alone
	p, err := policy.New(spec)
	return &rehearsal{spec: &spec, policy: p, now: now, rng: rand.New(rand.NewPCG(1, 2)), most: decideTime, step: 1}, err
}

// run times an early decision, and late ones where that was done in time.
func (r *rehearsal) run(d *describe.DecisionTime) error {
	defer r.result(d)
	if err := r.learn(firstObservations, 0); err != nil {
		return err
	}
	if err := r.decide(1); err != nil {
		return err
	}
	if d.Early = r.took[0]; r.cut { // no later one would be
		return nil
	}
	r.took, r.decided = nil, nil
	if err := r.learn(d.Wanted, fillTime); err != nil {
		return err
	}
	if err := r.decide(timedDecisions); err != nil {
		return err
	}
	return r.decideElsewhere()
}

// result sums up the decisions that were timed.
func (r *rehearsal) result(d *describe.DecisionTime) {
	if len(r.took) == 0 { // one has failed
		return
	}
	middle := slices.Sorted(slices.Values(r.took))[len(r.took)/2]
	d.Took, d.Units = middle, r.decided[slices.Index(r.took, middle)].Work
	d.Longest, d.Complete, d.Observations = slices.Max(r.took), !r.cut, r.filled
}

// learn brings the policy to hold n observations, at random settings, as far as there is time; 0:
// all of them.
func (r *rehearsal) learn(n int, most time.Duration) error {
	for begun := r.now(); r.observed < n && (most == 0 || r.now().Sub(begun) < most); r.observed++ {
		if err := r.policy.Observe(r.observation(-1, r.setting())); err != nil {
			return err
		}
	}
	r.filled = r.observed
	return nil
}

// decide times n decisions, fewer where they take too long, and teaches the policy what each one
// brings.
func (r *rehearsal) decide(n int) error {
	begun := r.now()
	for i := range n {
		if i > 0 && r.now().Sub(begun) > r.most || r.cut {
			return nil
		}
		x, set, err := r.decideOnce()
		if err != nil {
			return err
		}
		if err := r.policy.Observe(r.observation(set, x)); err != nil {
			return err
		}
	}
	return nil
}

// decideOnce times a decision. It returns a setting of all variables, those that are
// left random at random.
func (r *rehearsal) decideOnce() (x []float64, set int, err error) {
	c := &stopwatch{Context: context.Background(), now: r.now, begun: r.now(), most: r.most}
	q, err := r.policy.Propose(c)
	if err != nil {
		return nil, 0, err
	}
	r.took = append(r.took, c.took())
	r.decided, r.step = append(r.decided, q), q.Step
	r.cut = r.cut || q.Cut
	x = r.setting()
	for i, v := range q.X {
		if !math.IsNaN(v) {
			x[i] = v
		}
	}
	return x, q.ControlSet, nil
}

// decideElsewhere times, where the policy has such, a decision that goes where nothing was measured: after
// steps that repeat one another.
func (r *rehearsal) decideElsewhere() error {
	if r.spec.ExploresUntil() <= r.step {
		return nil
	}
	var same []float64
	begun := r.now()
	for range mostRepeats {
		if r.cut || r.now().Sub(begun) > 2*r.most || slices.ContainsFunc(r.decided, elsewhere) {
			return nil
		}
		x, set, err := r.decideOnce()
		if err != nil {
			return err
		}
		if same == nil {
			same = x
		}
		if err := r.policy.Observe(r.observation(set, same)); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere says that a decision goes where nothing was measured.
func elsewhere(p policy.Proposal) bool { return !math.IsNaN(p.Why.Unseen) }

// stopwatch is the context of a decision that may take so long, without what its user waits for: a deadline does
// not count that.
type stopwatch struct {
	context.Context
	now   func() time.Time
	begun time.Time // later by what was waited
	most  time.Duration
}

func (s *stopwatch) took() time.Duration { return s.now().Sub(s.begun) }

// Err implements [context.Context].
func (s *stopwatch) Err() error {
	if s.took() > s.most {
		return context.DeadlineExceeded
	}
	return nil
}

// Pause is asked for by who waits.
func (s *stopwatch) Pause() (resume func()) {
	begun := s.now()
	return func() { s.begun = s.begun.Add(s.now().Sub(begun)) }
}

// observation is one of a smooth function with noise that depends on the setting. Constraints read values
// that mostly keep them.
func (r *rehearsal) observation(set int, x []float64) policy.Observation {
	o := policy.Observation{Step: r.step, ControlSet: set, X: x, Shots: 4, Valid: true}
	for i, v := range r.spec.Variables {
		u := (x[i] - v.Low) / (v.High - v.Low)
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
