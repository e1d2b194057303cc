package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/warp"
)

// warpedSpec is a problem of two variables whose objective asks for a logarithm.
func warpedSpec() Spec {
	s := fixedSpec("gp-ucb", 2, 4)
	s.Model = Model{Kernel: "matern52", Hyperparameters: "priors", Transform: transformLearnt}
	return s
}

// steep is an objective over five orders of magnitude, of either sign.
func steep(x []float64, sign float64) float64 {
	return sign * math.Exp(sign*(3+4*math.Sin(3*x[0])+3*math.Cos(4*x[1])))
}

// play runs a policy on the objective and returns what it proposed.
func playSteep(t *testing.T, p Policy, from, to int, sign float64) (settings [][]float64) {
	t.Helper()
	for step := from; step <= to; step++ {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, q.X)
		observe(t, p, Observation{Step: q.Step, X: q.X, Mean: steep(q.X, sign), Variance: math.NaN(), Shots: 1, Valid: true})
	}
	return settings
}

// tellSteep has a policy observe the objective at random settings.
func tellSteep(t *testing.T, p Policy, count int, sign float64) (settings [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 0))
	for step := 1; step <= count; step++ {
		x := []float64{rng.Float64(), rng.Float64()}
		settings = append(settings, x)
		observe(t, p, Observation{Step: step, X: x, Mean: steep(x, sign), Variance: math.NaN(), Shots: 1, Valid: true})
	}
	return settings
}

// The transformation comes into force when the readings ask for it, and what the policy says is in the
// objective's unit: the estimate at a measured setting is what was measured there, bounds are in order, for
// objectives that are maximised and, negative, minimised.
func TestLearntTransformation(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		p := fresh(t, warpedSpec()).(*warped)
		if tellSteep(t, p, 7, sign); p.log.Acts() {
			t.Fatalf("after 7 observations of 2 variables: %+v", p.log)
		}
		p = fresh(t, warpedSpec()).(*warped)
		settings := tellSteep(t, p, 20, sign)
		if !p.log.Acts() {
			t.Fatalf("sign %g, after 20 observations: %+v, want a logarithm", sign, p.log)
		}
		if q, err := p.Propose(t.Context()); err != nil || q.Why.LogWidth != p.log.Width {
			t.Errorf("sign %g: the decision is explained by a logarithm of width %g, it is %g (%v)", sign, q.Why.LogWidth, p.log.Width, err)
		}
		all, err := p.Predict(0, settings)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range all {
			y := steep(settings[i], sign)
			if math.Abs(e.Mean-y) > 0.2*math.Abs(y) || !(e.LowerBound < e.Mean) || !(e.SD > 0) || math.Signbit(e.Mean) != math.Signbit(y) {
				t.Errorf("sign %g, setting %v: %+v, measured %g", sign, settings[i], e, y)
			}
		}
		r, err := p.Recommend()
		if err != nil || math.Abs(r.Mean-steep(r.X, sign)) > 0.2*math.Abs(steep(r.X, sign)) {
			t.Errorf("sign %g: recommended %+v (%v), where it is %g", sign, r, err, steep(r.X, sign))
		}
		q := propose(t, p)
		if !(q.Why.SD >= 0) || q.Why.Value < q.Why.Mean {
			t.Errorf("sign %g: why %+v", sign, q.Why)
		}
	}
}

// A run whose decisions are taken from the record up to where searches begin anew goes on as one that was not
// interrupted.
func TestTransformationAfterSkips(t *testing.T) {
	const skipped = RenewEvery - 1 // beyond the first transformation
	const last = skipped + 10
	whole, resumed := fresh(t, warpedSpec()), fresh(t, warpedSpec())
	settings := playSteep(t, whole, 1, last, -1)
	for i, x := range settings[:skipped] {
		if err := resumed.(Skipper).Skip(i + 1); err != nil {
			t.Fatal(err)
		}
		observe(t, resumed, Observation{Step: i + 1, X: x, Mean: steep(x, -1), Variance: math.NaN(), Shots: 1, Valid: true})
	}
	from := skipped + 1
	again := playSteep(t, resumed, from, last, -1)
	for i, x := range again {
		for j, v := range x {
			if v != settings[from-1+i][j] {
				t.Fatalf("step %d: %v, the run that went through proposed %v", from+i, x, settings[from-1+i])
			}
		}
	}
	if a, b := propose(t, whole), propose(t, resumed); a.X[0] != b.X[0] || a.X[1] != b.X[1] {
		t.Errorf("step %d: %v and %v", last+1, a.X, b.X)
	}
	if a, b := whole.(*warped).log, resumed.(*warped).log; a != b || !a.Acts() {
		t.Errorf("logarithms %+v and %+v", a, b)
	}
}

// The variance of shots goes along by the slope.
func TestTransformationOfVariances(t *testing.T) {
	p := newWarped(fresh(t, fixedSpec("gp-ucb", 2, 4)).(*engine))
	p.log = warp.Log{Center: 2, Width: 1}
	o := p.inside(Observation{Mean: 8, Variance: 0.04, Valid: true})
	if want := 2 + math.Log(7); math.Abs(o.Mean-want) > 1e-12 || math.Abs(o.Variance-0.04/49) > 1e-12 {
		t.Errorf("mean %g, variance %g, want %g, %g", o.Mean, o.Variance, want, 0.04/49)
	}
}

// Where a transformed objective is not what is asked about, the file is refused, with the reason.
func TestNewRefusesTransformations(t *testing.T) {
	s := warpedSpec()
	refused(t, []refusal{
		{`transform "log" is not known: use one of auto, none, learnt`, s, func(s *Spec) { s.Model.Transform = "log" }},
		{`not sound here: risk weighs the objective's own variance`, rahboSpec(2, 1), func(s *Spec) { s.Model.Transform = "learnt" }},
		{`not sound here: an average over what is left random`, subsetsSpec("ucb-psq", 1), func(s *Spec) { s.Model.Transform = "learnt" }},
		{`not sound here: the noise is given in the objective's unit`, s, func(s *Spec) { s.NoiseVariance = func([]float64) float64 { return 1 } }},
		{`not sound here: readings of different times`, s, func(s *Spec) { s.Drift.Timescale = []float64{100} }},
		{`not sound here: the prior is given in the objective's unit`, fixedSpec("gp-ucb", 2, 1), func(s *Spec) { s.Model.Transform = "learnt" }},
		{`not sound here: settings come from a design`, s, func(s *Spec) { s.Kind = "sobol" }},
	})
}
