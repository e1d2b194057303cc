package policy

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/scripts/testsize"
)

// growing is a noise variance for tests, of settings in [0, 1]^2.
func growing(x []float64) float64 { return 0.02 + 0.5*x[0]*x[0] + 0.1*x[1] }

// knownSpec has fixed hyperparameters, so that everything can be computed by hand.
func knownSpec() Spec {
	return Spec{Kind: "rahbo-known-variance", Variables: box(2), ControlSets: full(2), Risk: 0.7, Confidence: "constant", Beta: 2,
		NoiseVariance: growing, Design: "sobol", Model: model.Spec{Kernel: "se", Hyperparameters: "fixed",
			Lengthscale: []float64{0.3, 0.4}, Outputscale: 4, Mean: 1.5}}
}

// denseBound is mean + beta*sd - alpha*variance at x by a dense solve in the objective's
// unit, the noise of the means exactly growing/shots.
func denseBound(x [][]float64, y []float64, shots int, at []float64, beta float64) float64 {
	kernel := func(a, b []float64) float64 {
		u, v := (a[0]-b[0])/0.3, (a[1]-b[1])/0.4
		return 4 * math.Exp(-(u*u+v*v)/2)
	}
	n := len(x)
	k, c, z := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range x {
		for j := range x {
			k.Set(i, j, kernel(x[i], x[j]))
		}
		k.Set(i, i, 4+growing(x[i])/float64(shots))
		c.SetVec(i, kernel(x[i], at))
		z.SetVec(i, y[i]-1.5)
	}
	var w mat.VecDense
	if err := w.SolveVec(k, c); err != nil {
		return math.NaN()
	}
	return 1.5 + mat.Dot(&w, z) + beta*math.Sqrt(4-mat.Dot(&w, c)) - 0.7*growing(at)
}

// The acquisition, the noise of the means and the recommendation's bound with a known
// variance against direct evaluation.
func TestKnownVarianceAgainstDirectEvaluation(t *testing.T) {
	const seed, n, shots = 12, 15, 5
	rng := rand.New(rand.NewPCG(seed, 0))
	p := fresh(t, knownSpec())
	e := p.(*engine)
	var x [][]float64
	var y []float64
	for i := range n {
		x, y = append(x, []float64{rng.Float64(), rng.Float64()}), append(y, 1.5+2*rng.NormFloat64())
		// The sample variance is told, and must not matter.
		observe(t, p, Observation{Step: i + 1, X: x[i], Mean: y[i], Variance: 1 + 9*rng.Float64(), Shots: shots, Valid: true})
	}
	_, options := decisionBefore(t, e, n+1, 0)
	o := options[0]
	for range 6 {
		at := []float64{rng.Float64(), rng.Float64()}
		got := o.Unit.ToUserUnits(e.model.Active, valuesAt(o, at)[0]+o.Offset)
		// Condition number near 1e4.
		if want := denseBound(x, y, shots, at, 2); math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
			t.Errorf("seed %d, acquisition at %v: %.12f, want %.12f", seed, at, got, want)
		}
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for i := range x {
		best = max(best, denseBound(x, y, shots, x[i], -2))
	}
	if math.Abs(r.LowerBound-best) > 1e-9 || math.Abs(r.NoiseSD-math.Sqrt(growing(r.X))) > 1e-9 {
		t.Errorf("seed %d: recommended bound %.10f, want %.10f; noise sd %g at %v", seed, r.LowerBound, best, r.NoiseSD, r.X)
	}
	q := propose(t, p)
	if want := growing(q.X); math.Abs(q.Why.NoiseVariance-want) > 1e-9 || math.Abs(q.Why.Risk-0.7*want) > 1e-9 {
		t.Errorf("why %+v, the variance there is %g", q.Why, want)
	}
}

// Slopes of the bound with its known risk against central differences, at the edge too.
func TestKnownRiskSlopes(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	p := fresh(t, knownSpec())
	for i := range 8 {
		observe(t, p, Observation{Step: i + 1, X: []float64{rng.Float64(), rng.Float64()}, Mean: rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Valid: true})
	}
	_, options := decisionBefore(t, p.(*engine), 9, 0)
	o := options[0].Objective.(search.Differentiable)
	for _, x := range [][]float64{{0.3, 0.8}, {1, 0.2}} {
		var v [1]float64
		var grad [2]float64
		valuesAt(options[0], x)
		o.Gradients(v[:], grad[:], x)
		for j := range x {
			const h = 1e-5
			up, down := slices.Clone(x), slices.Clone(x)
			up[j], down[j] = min(x[j]+h, 1), x[j]-h
			want := (valuesAt(options[0], up)[0] - valuesAt(options[0], down)[0]) / (up[j] - down[j])
			// One-sided at the edge: the error is h/2 times the second derivative, near 30.
			if math.Abs(grad[j]-want) > 1e-3*(1+math.Abs(want)) {
				t.Errorf("seed %d at %v: derivative %d is %g, want %g", seed, x, j, grad[j], want)
			}
		}
	}
}

// A setting whose known variance is no variance counts as infinitely noisy.
func TestUnusableKnownVariance(t *testing.T) {
	for _, bad := range []float64{math.NaN(), -1, math.Inf(1)} {
		s := knownSpec()
		s.NoiseVariance = func(x []float64) float64 {
			if x[0] > 0.6 {
				return bad
			}
			return growing(x)
		}
		p := fresh(t, s)
		err := p.Observe(Observation{Step: 1, X: []float64{0.7, 0.5}, Mean: 5, Variance: math.NaN(), Shots: 1, Valid: true})
		if !errors.Is(err, ErrObservation) || !strings.Contains(err.Error(), "known noise variance there is") {
			t.Errorf("%g: observed with %v", bad, err)
		}
		for step := 1; step <= 12; step++ { // the objective grows towards the forbidden region
			x := []float64{0.1, 0.1}
			if step > 1 {
				x = propose(t, p).X
			}
			if x[0] > 0.6 {
				t.Fatalf("%g: proposed %v", bad, x)
			}
			observe(t, p, Observation{Step: step, X: x, Mean: 10 * x[0], Variance: math.NaN(), Shots: 1, Valid: true})
		}
		if r, err := p.Recommend(); err != nil || r.X[0] > 0.6 || r.X[0] < 0.4 || math.IsNaN(r.LowerBound) {
			t.Errorf("%g: recommended %+v, %v", bad, r, err)
		}
	}
}

// A function that turns bad after it was accepted ends in an error, not in a panic.
func TestKnownVarianceThatTurnsBad(t *testing.T) {
	s, bad := knownSpec(), false
	s.NoiseVariance = func(x []float64) float64 {
		if bad {
			return math.NaN()
		}
		return growing(x)
	}
	p := fresh(t, s)
	observe(t, p, Observation{Step: 1, X: []float64{0.5, 0.5}, Mean: 1, Variance: math.NaN(), Shots: 1, Valid: true})
	propose(t, p)
	bad = true
	if q, err := p.Propose(context.Background()); err == nil || !strings.Contains(err.Error(), "infinitely noisy") {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestNewRefusesRisks(t *testing.T) {
	refused(t, []refusal{
		{`risk -1 must be finite and not negative`, knownSpec(), func(s *Spec) { s.Risk = -1 }},
		{`risk NaN must be finite`, rahboSpec(2, 1), func(s *Spec) { s.Risk = math.NaN() }},
		{`kind "rahbo-known-variance" needs the noise variance as a function of the setting; where it is not known use kind "rahbo"`, knownSpec(), func(s *Spec) { s.NoiseVariance = nil }},
		{`noise variance at [0.5 0.5]: the known noise variance there is -2`, knownSpec(), func(s *Spec) { s.NoiseVariance = func([]float64) float64 { return -2 } }},
		{`noise variance at [0.1 0.9]: the known noise variance there is NaN`, knownSpec(), func(s *Spec) {
			s.Candidates = [][]float64{{0, 0}, {0.1, 0.9}}
			s.NoiseVariance = func(x []float64) float64 { return math.Sqrt(0.5 - x[1]) }
		}},
		{`explore steps -1 must not be negative (0: 10)`, rahboSpec(2, 1), func(s *Spec) { s.ExploreSteps = -1 }},
	})
}

// With a known variance an improvement is that of the mean-variance objective, against direct evaluation.
func TestImprovementOfKnownWorth(t *testing.T) {
	const seed, n, shots = 13, 12, 5
	rng := rand.New(rand.NewPCG(seed, 0))
	s := knownSpec()
	s.Kind, s.Confidence, s.Beta = "ei", "", 2
	p := fresh(t, s)
	var x [][]float64
	var y []float64
	for i := range n {
		x, y = append(x, []float64{rng.Float64(), rng.Float64()}), append(y, 1.5+2*rng.NormFloat64())
		observe(t, p, Observation{Step: i + 1, X: x[i], Mean: y[i], Variance: math.NaN(), Shots: shots, Valid: true})
	}
	best := math.Inf(-1)
	for _, at := range x {
		best = max(best, denseBound(x, y, shots, at, 0))
	}
	_, options := decisionBefore(t, p.(*engine), n+1, 0)
	o := options[0]
	for range 6 {
		at := []float64{rng.Float64(), rng.Float64()}
		gain := denseBound(x, y, shots, at, 0) - best
		sd := denseBound(x, y, shots, at, 1) - denseBound(x, y, shots, at, 0)
		want := gain*num.NormalCDF(gain/sd) + sd*num.NormalDensity(gain/sd)
		got := o.InUserUnits(p.(*engine).model.Active, valuesAt(o, at)[0]) // its logarithm is searched
		if math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {                 // condition number near 1e4
			t.Errorf("seed %d, improvement at %v: %.12f, want %.12f", seed, at, got, want)
		}
		slopes(t, o, at)
	}
}

// Every acquisition that takes what is compared for normal weighs a variance that is known: of two
// peaks that are the same but for their noise all end at the quiet one, and go there more often.
func TestAcquisitionsWeighKnownRisk(t *testing.T) {
	kinds := []string{"ei", "costids", "mes", "pims", "jes", "gp-ucb", "ts"}
	for _, kind := range kinds[:testsize.Of(3, len(kinds))] {
		s := knownSpec()
		s.Kind, s.Confidence, s.Variables, s.ControlSets, s.Risk, s.InitialSteps, s.Rho, s.Seed = kind, "", box(1), full(1), 1, 5, 2, 4
		s.ControlSets[0].Cost = 1
		if kind == "gp-ucb" {
			s.Confidence = "constant"
		}
		s.Model.Lengthscale, s.Model.Mean = []float64{0.12}, 0
		s.NoiseVariance = func(x []float64) float64 { return 0.01 + 1.5*x[0]*x[0] } // 0.07 at the one, 0.97 at the other
		truth := func(x float64) float64 {
			a, b := (x-0.2)/0.1, (x-0.8)/0.1
			return 2 * (math.Exp(-a*a/2) + math.Exp(-b*b/2))
		}
		rng := rand.New(rand.NewPCG(5, 6))
		p := fresh(t, s)
		quiet, loud := 0, 0
		for range 25 {
			q := propose(t, p)
			if math.IsNaN(q.Why.Value) && !q.Initial || !q.Initial && math.Abs(q.Why.Risk-q.Why.NoiseVariance) > 1e-9 {
				t.Errorf("%s, step %d: %+v", kind, q.Step, q.Why)
			}
			switch {
			case q.X[0] < 0.35:
				quiet++
			case q.X[0] > 0.65:
				loud++
			}
			observe(t, p, Observation{Step: q.Step, X: q.X, Mean: truth(q.X[0]) + math.Sqrt(s.NoiseVariance(q.X)/4)*rng.NormFloat64(), Variance: math.NaN(), Shots: 4, Valid: true})
		}
		r, err := p.Recommend()
		if err != nil {
			t.Fatal(err)
		}
		if r.X[0] > 0.4 || quiet <= loud {
			t.Errorf("%s: %d steps at the quiet peak, %d at the other, recommended %.3f", kind, quiet, loud, r.X[0])
		}
	}
}
