package policy

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
	"github.com/labtuner/tuner/scripts/testsize"
)

// story is a small world: what a proposal brings depends on the proposal and the
// step alone. scale and offset change the objective's unit.
type story struct {
	scale, offset float64
	shots         int
}

func (w story) answer(s *Spec, q Proposal) []Observation {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(q.Step)))
	x := append([]float64(nil), q.X...)
	whole := true
	for i, v := range x {
		if math.IsNaN(v) {
			x[i], whole = s.Variables[i].Low+rng.Float64()*(s.Variables[i].High-s.Variables[i].Low), false
		}
	}
	f := 0.0
	for i, v := range x {
		u := (v - s.Variables[i].Low) / (s.Variables[i].High - s.Variables[i].Low)
		f -= (u - 0.7) * (u - 0.7)
	}
	o := Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Requested: q.X, Shots: w.shots, Valid: q.Step%7 != 3,
		Cost: s.ControlSets[q.ControlSet].Cost, Variance: math.NaN()}
	if !whole {
		o.Shots = 1
	}
	if o.SetCost = o.Cost * (1 + 0.3*math.Sin(float64(q.Step))); q.Step%5 == 2 { // where costs are read
		o.SetCost = math.NaN()
	}
	o.Mean = w.offset + w.scale*(f+0.02*rng.NormFloat64())
	if o.Shots > 1 {
		o.Variance = w.scale * w.scale * 0.01 * (0.2 + rng.Float64())
	}
	for j := range s.Constraints { // now and then without a reading
		reading := f + 0.1*float64(j) + 0.02*rng.NormFloat64()
		if q.Step%5 == j {
			reading = math.NaN()
		}
		o.Constrained = append(o.Constrained, reading)
	}
	if whole {
		return []Observation{o}
	}
	second := o // a second shot of the same step, free of charge
	second.X = append([]float64(nil), x...)
	for i, v := range q.X {
		if math.IsNaN(v) {
			second.X[i] = s.Variables[i].Low + 0.5*(x[i]-s.Variables[i].Low)
		}
	}
	second.Cost, second.SetCost = 0, math.NaN()
	return []Observation{o, second}
}

// tell runs steps of the story; each hook is called before its proposal.
func (w story) tell(t testing.TB, p Policy, s *Spec, steps int, hook func(step int) context.Context) []Proposal {
	t.Helper()
	var out []Proposal
	for range steps {
		ctx := context.Background()
		if hook != nil {
			ctx = hook(len(out) + 1)
		}
		q, err := p.Propose(ctx)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
		for _, o := range w.answer(s, q) {
			if err := p.Observe(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// storyCasts lists the combinations that a test of determinism runs: all of them in the whole, else
// the fifth of them that its part (0 to 4) names; together the tests run all.
func storyCasts(part int) map[string]Spec {
	all := casts()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if !testsize.Whole() && i%16 != part {
			delete(all, name)
		}
	}
	return all
}

// casts are the specifications that the tests of determinism run.
func casts() map[string]Spec {
	mixed := rahboSpec(3, 21)
	mixed.Variables[0].Low, mixed.Variables[0].High, mixed.Variables[0].Integer = 1, 9, true
	mixed.Variables[1].Resolution = 0.01
	mixed.InitialSteps = 4
	raw := rahboSpec(2, 22)
	raw.VarianceModel, raw.InitialSteps, raw.Confidence, raw.Model.Capacity = "raw", 4, "constant", 12
	learnt := cvsSpec()
	learnt.Seed, learnt.Confidence, learnt.Model.Capacity, learnt.Model.RefitLag = 23, "irgp", 15, 2
	for i := range learnt.Variables {
		learnt.Variables[i].Random.Kind = space.Learnt
	}
	epsilon := cvsSpec()
	epsilon.Seed, epsilon.Schedule, epsilon.Epsilon = 24, "epsilon", []float64{0.1, 0.01}
	epsilon.Model = model.Spec{Kernel: "matern52", Hyperparameters: "fixed", Lengthscale: []float64{.3, .3, .3}, Outputscale: 1, NoiseSD: 0.1}
	auto := cvsSpec()
	auto.Seed, auto.Schedule, auto.Steps, auto.Model.Capacity = 30, "auto", storySteps, 15
	read := cvsSpec()
	read.Seed, read.CostsRead, read.Model.Capacity = 29, true, 15
	blind := cvsSpec()
	blind.Kind, blind.Seed = "sobol", 25
	listed := withCandidates(fixedSpec("ts", 2, 26), 40)
	psq := cvsSpec()
	psq.Kind, psq.Seed, psq.Schedule = "ts-psq", 27, ""
	for i := range psq.Variables {
		psq.Variables[i].Random.Kind = space.Uniform
	}
	out := map[string]Spec{"ts listed": listed, "ts-psq": psq, "rahbo mixed": mixed, "rahbo raw, full": raw, "ucb-cvs learnt, full": learnt, "ucb-cvs epsilon": epsilon, "ucb-cvs auto": auto, "ucb-cvs, costs read": read, "sobol": blind}
	maps.Copy(out, riskCasts())
	maps.Copy(out, acquisitionCasts())
	maps.Copy(out, driftCasts())
	maps.Copy(out, constraintCasts())
	maps.Copy(out, priorCasts())
	return out
}

// same compares bit for bit; hyperparameter notes, which only Propose tells, aside.
func same(a, b []Proposal) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		x.Fit, y.Fit = nil, nil
		for j := range x.X {
			if math.Float64bits(x.X[j]) != math.Float64bits(y.X[j]) {
				return false
			}
		}
		if math.Float64bits(x.Why.Value) != math.Float64bits(y.Why.Value) {
			return false
		}
		x.X, y.X, x.Why, y.Why = nil, nil, Why{}, Why{}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// storySteps are enough to fill what a model may hold.
var storySteps = testsize.Of(14, 24)

func fresh(t testing.TB, s Spec) Policy {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Bits do not depend on the number of cores, on how long a fit had, nor on whether a
// recommendation was asked for or the model was looked at.
func TestSameSeedSameProposals(t *testing.T) {
	w := story{scale: 1, shots: 5}
	for name, s := range storyCasts(0) {
		old := runtime.GOMAXPROCS(1)
		first := w.tell(t, fresh(t, s), &s, storySteps, nil)
		whyAddsUp(t, name, s, first)
		runtime.GOMAXPROCS(2)
		p := fresh(t, s)
		second := w.tell(t, p, &s, storySteps, func(step int) context.Context {
			if step%3 == 0 {
				time.Sleep(time.Millisecond) // some fits end early, some late
			}
			if step > 6 {
				if _, err := p.Recommend(); err != nil {
					t.Fatal(err)
				}
				lookAround(t, p.(Predictor), &s)
			}
			return context.Background()
		})
		runtime.GOMAXPROCS(old)
		if !same(first, second) {
			t.Errorf("%s: proposals differ:\n%v\n%v", name, first, second)
		}
		s.Seed++
		if other := w.tell(t, fresh(t, s), &s, storySteps/2, nil); same(first[:storySteps/2], other) {
			t.Errorf("%s: another seed gave the same proposals", name)
		}
	}
}

// derive tells a policy of decisions on record, and has it derive those since the last step that
// RenewEvery divides.
func derive(t *testing.T, p Policy, all []Proposal, answer func(q Proposal) []Observation) {
	t.Helper()
	next := len(all) + 1
	for _, q := range all {
		if q.Step >= next-next%RenewEvery {
			if _, err := p.Propose(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range answer(q) {
			observe(t, p, o)
		}
	}
}

// A run that is resumed from its record goes on as if it had never been interrupted.
func TestResumeFromObservations(t *testing.T) {
	w := story{scale: 1, shots: 5}
	for name, s := range storyCasts(1) {
		whole := w.tell(t, fresh(t, s), &s, storySteps, nil)
		whyAddsUp(t, name, s, whole)
		for _, at := range []int{3, 5, 11, 12, 13, 20} {
			if at+2 > storySteps {
				continue
			}
			p := fresh(t, s)
			derive(t, p, whole[:at], func(q Proposal) []Observation { return w.answer(&s, q) })
			if rest := w.tell(t, p, &s, 2, nil); !same(rest, whole[at:at+2]) {
				t.Errorf("%s, resumed after step %d:\n%v\n%v", name, at, rest, whole[at:at+2])
			}
		}
	}
}

// A policy that is given decisions goes on as one that was asked for them and then begins its searches anew, also
// where steps brought nothing that could be learnt.
func TestSkippedDecisions(t *testing.T) {
	w := story{scale: 1, shots: 5}
	learns := func(step int) bool { return step%5 != 4 && step != 12 }
	for name, s := range storyCasts(2) {
		asked := fresh(t, s)
		var whole []Proposal
		ends := []int{5, 12, 20}
		for step := 1; step <= storySteps; step++ {
			if slices.Contains(ends, step-1) {
				asked.(*engine).kept.Forget()
			}
			q, err := asked.Propose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if whole = append(whole, q); learns(step) {
				for _, o := range w.answer(&s, q) {
					observe(t, asked, o)
				}
			}
		}
		for _, at := range ends {
			if at >= storySteps {
				continue
			}
			p := fresh(t, s)
			for step := 1; step <= at; step++ {
				if err := p.(Skipper).Skip(step); err != nil {
					t.Fatal(err)
				}
				if learns(step) {
					for _, o := range w.answer(&s, whole[step-1]) {
						observe(t, p, o)
					}
				}
			}
			q, err := p.Propose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if want := whole[at]; !same([]Proposal{q}, []Proposal{want}) {
				t.Errorf("%s, told of %d decisions:\n%v\n%v", name, at, q, want)
			}
		}
	}
}

// countdown is a context that ends after it was asked left times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func newCountdown(left int) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(int64(left))
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A decision that its context cut is repeated by limiting the work to what was done.
func TestCutDecisionsRepeat(t *testing.T) {
	w := story{scale: 1, shots: 5}
	for name, s := range storyCasts(3) {
		cut := w.tell(t, fresh(t, s), &s, storySteps, func(step int) context.Context {
			return newCountdown(step % 5)
		})
		cuts := 0
		p := fresh(t, s)
		again := w.tell(t, p, &s, storySteps, func(step int) context.Context {
			q := cut[step-1]
			p.(WorkLimiter).LimitWork(q.Work)
			if q.Cut {
				cuts++
				// A hold searches twice, and each search does one unit before it looks.
				if most := step%5 + 2; q.Work > most { // a short search may have fewer
					t.Errorf("%s, step %d: %d units, at most %d", name, step, q.Work, most)
				}
			}
			return context.Background()
		})
		if !same(cut, again) {
			t.Errorf("%s: repeated decisions differ:\n%v\n%v", name, cut, again)
		}
		if cuts == 0 && s.Kind != "sobol" {
			t.Errorf("%s: nothing was cut", name)
		}
	}
}

// stated reports whether a prior is given in the objective's unit.
func stated(priors []model.Prior) bool {
	return slices.ContainsFunc(priors, func(p model.Prior) bool { return !math.IsNaN(p.Outputscale) })
}

// Units of the objective do not matter: by a power of two, to the bit; by another
// factor and an offset, to rounding, which fits and searches amplify: a climb ends where another is far
// ahead, and rounding may decide which. So one of the casts may part from itself, once its design is over.
func TestAffineInvariance(t *testing.T) {
	parted := map[string]bool{}
	for name, s := range storyCasts(4) {
		if s.Model.Hyperparameters == "fixed" || stated(s.Model.Priors) {
			continue // given in the objective's unit
		}
		plain := story{scale: 1, shots: 5}.tell(t, fresh(t, s), &s, storySteps, nil)
		for _, w := range []story{{1024, 0, 5}, {1000, 5, 5}} {
			scaled := s
			scaled.Risk = s.Risk / w.scale
			got := w.tell(t, fresh(t, scaled), &scaled, storySteps, nil)
			for i := range plain {
				a, b := plain[i], got[i]
				if w.scale == 1000 && i >= 11 && apart(a.X, b.X) > 2e-3 {
					parted[name] = true
					break
				}
				for j := range a.X {
					d := math.Abs(a.X[j] - b.X[j])
					if d > 2e-3 || w.scale == 1024 && d > 0 || math.IsNaN(a.X[j]) != math.IsNaN(b.X[j]) {
						t.Errorf("%s, unit %g, step %d: %v, want %v", name, w.scale, i+1, b.X, a.X)
						break
					}
				}
				if v := w.offset + w.scale*a.Why.Mean; w.scale == 1024 && !math.IsNaN(v) && b.Why.Mean != v {
					t.Errorf("%s, step %d: posterior mean %g, want %g", name, i+1, b.Why.Mean, v)
				}
			}
		}
	}
	if len(parted) > 1 {
		t.Errorf("%d casts part from themselves in another unit: %v", len(parted), parted)
	}
}

// apart is the greatest difference of two settings of the same variables.
func apart(a, b []float64) float64 {
	d := 0.0
	for j := range a {
		d = max(d, math.Abs(a[j]-b[j])) // NaN where one leaves a variable random
	}
	return d
}
