package policy

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
)

// oracleJSON is the output of scripts/policy_oracle.py: numpy and scipy.
//
//go:embed testdata/oracle.json
var oracleJSON []byte

type riskOracle struct {
	Lengthscale                    []float64
	Outputscale, Mean, Beta, Alpha float64
	X, At                          [][]float64
	Y, S2, Optimistic, Pessimistic []float64
	Shots                          []int
	Delta, Norm, Lemma             float64
	NoiseLemma                     float64 `json:"noise_lemma"`
	// Held are settings of the first variable; Sets their two bounds where the second is uniform, once with a
	// draw of it for each shot, once with one for a step, which counts Inflation times.
	Held      []float64
	Sets      [2][][2]float64
	Inflation float64
}

type priorOracle struct {
	Beta   float64
	Priors []struct {
		Kernel            string
		Lengthscale       []float64
		Outputscale, Mean float64
		NoiseSD           float64 `json:"noise_sd"`
		Weight            float64
	}
	X, At           [][]float64
	Y, Probability  []float64
	Shots           []int
	Mean, SD, Upper []float64
}

type oracle struct {
	Priors      priorOracle
	Log, Raw    riskOracle
	Expectation struct {
		Lengthscale   []float64
		NoiseVariance float64 `json:"noise_variance"`
		Beta          float64
		Normal        [][2]float64
		X             [][]float64
		Y             []float64
		Cases         []struct {
			Controlled []int
			At         []float64
			Value      float64
		}
	}
}

func numbers(t *testing.T) *oracle {
	t.Helper()
	var o oracle
	if err := json.Unmarshal(oracleJSON, &o); err != nil {
		t.Fatal(err)
	}
	return &o
}

// riskEngine is a policy with the oracle's observations.
func riskEngine(t *testing.T, name string, r riskOracle, edit func(*Spec)) *engine {
	t.Helper()
	s := Spec{Kind: "rahbo", Variables: box(2), ControlSets: full(2), Risk: r.Alpha, Confidence: "constant",
		Beta: r.Beta, VarianceModel: name, Design: "sobol", Model: model.Spec{Kernel: "matern52", Hyperparameters: "fixed",
			Lengthscale: r.Lengthscale, Outputscale: r.Outputscale, Mean: r.Mean}}
	if edit != nil {
		edit(&s)
	}
	p := fresh(t, s)
	for i := range r.Y {
		observe(t, p, Observation{Step: i + 1, X: r.X[i], Mean: r.Y[i], Variance: r.S2[i], Shots: r.Shots[i], Valid: true})
	}
	e := p.(*engine)
	if err := e.model.Refresh(); err != nil {
		t.Fatal(err)
	}
	return e
}

// The whole of RAHBO's bounds, noise process and all, against dense solves.
func TestRiskBoundsAgainstNumpy(t *testing.T) {
	o := numbers(t)
	for name, r := range map[string]riskOracle{"log": o.Log, "raw": o.Raw} {
		e := riskEngine(t, name, r, nil)
		for k, x := range r.At {
			for sign, want := range map[float64]float64{1: r.Optimistic[k], -1: r.Pessimistic[k]} {
				beta := sign * r.Beta
				v, err := expectation(e.criterion.Terms(e.model.Posterior().LinearTerms(nil, 1, beta), beta), e.criterion.Random.Inputs(e.domains[0], 1), x)
				if err != nil {
					t.Fatal(err)
				}
				h := e.model.Active
				// 14 points with a condition number near 100: rounding is near 1e-13.
				if got := h.Center + h.Scale*v[0]; math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
					t.Errorf("%s, beta %+g at %v: %.12f, want %.12f", name, sign*r.Beta, x, got, want)
				}
			}
		}
	}
}

// The mean-variance bounds of a control set that leaves a variable alone, of decisions and of recommendations,
// against dense solves and quadrature: E f - alpha (E v + h Var f).
func TestRiskBoundsOfAControlSetAgainstNumpy(t *testing.T) {
	r := numbers(t).Log
	for i, word := range []string{"shot", "step"} {
		e := riskEngine(t, "log", r, func(s *Spec) {
			s.ControlSets, s.RandomDraws, s.Schedule = sets(2, []float64{1, 1}, []int{0}, []int{0, 1}), word, schedule.None
			s.Variables[1].Random = space.Distribution{Kind: space.Uniform}
		})
		if got, want := e.criterion.Random.Inflation(), []float64{1, r.Inflation}[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: the spread counts %g times, want %g", word, got, want)
		}
		d := prepared(t, e, len(r.Y)+1, []int{0, 1})
		d.Beta, d.NoiseBeta = r.Beta, r.Beta
		options, err := e.acquisition.Options(d.Decision)
		if err != nil {
			t.Fatal(err)
		}
		h := e.model.Active
		for k, c := range r.Held {
			said, err := e.estimates(e.domains[0], []float64{c})
			if err != nil {
				t.Fatal(err)
			}
			upper := h.Center + h.Scale*(valuesAt(options[0], []float64{c})[0]+options[0].Offset)
			for j, got := range []float64{upper, said[0].LowerBound} {
				// The policy's few nodes err by 1e-4 where the standard deviation has its sharp minima.
				if want := r.Sets[i][k][j]; math.Abs(got-want) > 5e-4*(1+math.Abs(want)) {
					t.Errorf("%s at %.3f: bound %d is %.7f, want %.7f", word, c, j, got, want)
				}
			}
		}
	}
}

func expectationEngine(t *testing.T, o *oracle) *engine {
	t.Helper()
	q := &o.Expectation
	s := Spec{Kind: "ucb-cvs", Variables: box(3), Confidence: "constant", Beta: q.Beta, Schedule: "etc-50", Design: "random",
		Model: model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: q.Lengthscale, Outputscale: 1,
			NoiseSD: math.Sqrt(q.NoiseVariance)}}
	s.ControlSets = sets(3, []float64{1, 1, 1}, []int{0, 1}, []int{2}, []int{0})
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: q.Normal[i][0], SD: q.Normal[i][1]}
	}
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range q.Y {
		if err := p.Observe(Observation{Step: i + 1, X: q.X[i], Mean: q.Y[i], Variance: math.NaN(), Shots: 1, Valid: true}); err != nil {
			t.Fatal(err)
		}
	}
	e := p.(*engine)
	if err := e.model.Refresh(); err != nil {
		t.Fatal(err)
	}
	return e
}

// UCB-CVS's acquisition against dense tensor quadrature.
func TestExpectationAgainstQuadrature(t *testing.T) {
	o := numbers(t)
	e := expectationEngine(t, o)
	for _, k := range o.Expectation.Cases {
		for _, d := range e.domains {
			if len(d.Coords) != len(k.Controlled) || d.Coords[0] != k.Controlled[0] {
				continue
			}
			v, err := expectation(e.model.Posterior().LinearTerms(nil, 1, o.Expectation.Beta), e.criterion.Random.Inputs(d, 1), k.At)
			if err != nil {
				t.Fatal(err)
			}
			// 1024 independent draws would have a standard error of about
			// 0.5/sqrt(1024) = 0.016; gpcore promises to be as good. One random
			// variable is much easier.
			tolerance := 2e-3
			if len(d.Random) > 1 {
				tolerance = 0.016
			}
			t.Logf("controlled %v: error %.2g", k.Controlled, v[0]-k.Value)
			if math.Abs(v[0]-k.Value) > tolerance {
				t.Errorf("controlled %v at %v: %.6f, want %.6f", k.Controlled, k.At, v[0], k.Value)
			}
		}
	}
}

// Gradients of the bound with its risk term against central differences.
func TestSlopes(t *testing.T) {
	for _, model := range []string{"log", "raw"} {
		s := rahboSpec(2, 3)
		s.VarianceModel = model
		_, options := decisionOf(t, s, 20, 10, 0)
		o := options[0].Objective.(search.Differentiable)
		for _, x := range [][]float64{{0.3, 0.8}, {0.52, 0.49}} {
			var v [1]float64
			var grad [2]float64
			valuesAt(options[0], x)
			o.Gradients(v[:], grad[:], x)
			for j := range x {
				const h = 1e-5 // truncation near h^2 times the third derivative ~ 1e-8, rounding near 1e-13/h
				up, down := slices.Clone(x), slices.Clone(x)
				up[j] += h
				down[j] -= h
				want := (valuesAt(options[0], up)[0] - valuesAt(options[0], down)[0]) / (2 * h)
				if math.Abs(grad[j]-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%s at %v: derivative %d is %g, want %g", model, x, j, grad[j], want)
				}
			}
		}
	}
}

// expectation is E[terms] at settings x.
func expectation(terms []expectations.Term, in expectations.Inputs, x []float64) ([]float64, error) {
	out := make([]float64, len(x)/len(in.Controlled))
	return out, space.Expectation(nil, out, terms, in, x)
}
