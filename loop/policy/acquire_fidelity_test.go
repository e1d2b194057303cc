package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// fidelitySpec has three variables of which the last is a fidelity with target 1.
func fidelitySpec(seed uint64) Spec {
	s := subsetsSpec("multi-fidelity-mes", seed)
	s.Fidelity = []float64{math.NaN(), math.NaN(), 1}
	return s
}

// informationOfPair is what y = f(x) + noise tells of f(x') <= bound, by quadrature on
// entropies, from the joint posterior of f(x) and f(x').
func informationOfPair(mean []float64, cov [][]float64, noise, bound float64) float64 {
	total := cov[0][0] + noise
	root, sd := math.Sqrt(total), math.Sqrt(cov[1][1])
	slope := cov[0][1] / total
	leak := math.Sqrt(cov[1][1] - slope*cov[0][1]) // sd of f(x') given y
	below := num.NormalCDF((bound - mean[1]) / sd)
	left := integral(mean[0]-12*root, mean[0]+12*root, func(y float64) float64 {
		p := num.NormalDensity((y-mean[0])/root) / root * num.NormalCDF((bound-mean[1]-slope*(y-mean[0]))/leak) / below
		if p > 0 {
			return -p * math.Log(p)
		}
		return 0
	})
	return 0.5*math.Log(2*math.Pi*math.E*total) - left
}

// Multi-fidelity information is that of a reading about the function at the target
// fidelity, by quadrature on the joint posterior; with the fidelity controlled and left
// random. The maxima are those of samples at the target.
func TestFidelityInformation(t *testing.T) {
	priors := fidelitySpec(6)
	priors.Model = model.Spec{Kernel: "se", Hyperparameters: "priors", Priors: []model.Prior{
		{Kernel: "se", Lengthscale: []float64{.3, .4, .5}, Outputscale: 4, NoiseSD: 0.1, Mean: 1},
		{Kernel: "matern52", Lengthscale: []float64{.5}, Outputscale: 1, NoiseSD: 0.2, Mean: -1,
			MeanOf: func(x []float64) float64 { return 0.3 * x[0] * x[2] }}}}
	for name, s := range map[string]Spec{"given": fidelitySpec(6), "priors": priors} {
		d, options := allOptions(t, s, 12)
		maxima, noise := maximaOf(t, d, acquisition.MaximaSamples), d.ShotVariance()
		for _, m := range maxima {
			if m.X[2] != 1 {
				t.Fatalf("%s: a maximum was sought at %v", name, m.X)
			}
		}
		for i, c := range [][]float64{{0.3}, {0.35, 0.6}, {0.3, 0.6, 0.2}, {0.7, 0.1, 1}} {
			o := options[min(i, 2)]
			f := o.Objective.(*acquisition.FidelityInformation)
			want, x := 0.0, make([]float64, 3)
			copy(x, c)
			for q, w := range f.Nodes.Weight {
				copy(x[len(c):], f.Nodes.X[q*len(f.Random):(q+1)*len(f.Random)])
				for _, m := range maxima {
					b := m.Component
					at := []float64{x[0], x[1], 1}
					mean, cov := posterior(b.GP, [][]float64{x, at})
					for k, p := range [][]float64{x, at} {
						mean[k] = b.Mean + b.Scale*(mean[k]+b.OffsetAt(p))
						for l := range cov[k] {
							cov[k][l] *= b.Scale * b.Scale
						}
					}
					want += w * informationOfPair(mean, cov, noise, m.Value) / float64(len(maxima))
				}
			}
			if got := valuesAt(o, c)[0]; math.Abs(got-want) > 1e-5*(1+want) { // the quadrature's own error
				t.Errorf("%s, set %d: %.8f, quadrature says %.8f", name, i, got, want)
			}
		}
	}
}

// At the target fidelity the information is max-value entropy search's; and without a
// fidelity the acquisition is that.
func TestFidelityAtTheTarget(t *testing.T) {
	d, options := allOptions(t, fidelitySpec(8), 12)
	maxima, noise := maximaOf(t, d, acquisition.MaximaSamples), d.ShotVariance()
	x := []float64{0.2, 0.7, 1}
	mu, sd := momentsAt(d.Criterion.Model.GP, x)
	want := 0.0
	for _, m := range maxima {
		v, _, _ := acquisition.MaximumInformation(mu, sd, m.Value, noise)
		want += v / float64(len(maxima))
	}
	if got := valuesAt(options[2], x)[0]; math.Abs(got-want) > 1e-7 {
		t.Errorf("at the target: %g, want %g", got, want)
	}
	s := fidelitySpec(8)
	s.Fidelity = nil
	_, options = allOptions(t, s, 12)
	if _, ok := options[0].Objective.(*expectations.Expected); !ok {
		t.Errorf("without a fidelity the objective is %T", options[0].Objective)
	}
}

// Cheap readings that tell of the target are taken, dear ones little: where the cost
// grows a hundredfold along the fidelity, most steps stay in its cheaper half, and the
// recommendation at the end is still good at the target.
func TestFidelitySpendsLittle(t *testing.T) {
	s := fidelitySpec(3)
	s.ControlSets = full(3)
	s.ControlSets[0].Cost = 0
	s.SettingCost = func(_ int, x []float64) float64 { return math.Pow(100, x[2]) }
	s.Model.Lengthscale, s.Model.Outputscale, s.Model.NoiseSD = []float64{.3, .3, 1}, 1, 0.01
	s.InitialSteps = 6
	world := func(x []float64) float64 {
		return math.Exp(-8*((x[0]-0.3)*(x[0]-0.3)+(x[1]-0.6)*(x[1]-0.6))) + 0.2*x[2]
	}
	p := fresh(t, s)
	cheap, total := 0, 12
	for range s.InitialSteps + total {
		q := propose(t, p)
		if !q.Initial && q.X[2] < 0.5 {
			cheap++
		}
		observe(t, p, Observation{Step: q.Step, X: q.X, Mean: world(q.X), Variance: math.NaN(), Shots: 1, Cost: q.Cost, Valid: true})
	}
	if cheap < total*2/3 {
		t.Errorf("%d of %d steps were cheap", cheap, total)
	}
	g := p.(*engine).model.GP
	best, at := math.Inf(-1), []float64{0, 0, 1}
	scan, x := sobol.New(2), make([]float64, 2)
	for k := range 2000 {
		scan.Point(x, k)
		if mu, _ := momentsAt(g, []float64{x[0], x[1], 1}); mu > best {
			best, at[0], at[1] = mu, x[0], x[1]
		}
	}
	if world(at) < 1.15 { // of 1.2
		t.Errorf("the posterior at the target is greatest at %v, worth %g of 1.2", at, world(at))
	}
}

func TestFidelitiesAreChecked(t *testing.T) {
	nan := math.NaN()
	good := fidelitySpec(1)
	refused(t, []refusal{
		{`no meaning for acquisition "mes"`, good, func(s *Spec) { s.Acquisition = acquireMES }},
		{"2 target fidelities for 3 variables", good, func(s *Spec) { s.Fidelity = []float64{nan, 1} }},
		{"target fidelity 1.5", good, func(s *Spec) { s.Fidelity = []float64{nan, nan, 1.5} }},
		{"at least one must be a fidelity", good, func(s *Spec) { s.Fidelity = []float64{nan, nan, nan} }},
		{"one none", good, func(s *Spec) { s.Fidelity = []float64{0, 0, 1} }},
		{"at least 1", idsSpec(1, 2), func(s *Spec) { s.Rho = 0.99 }},
		{"at least 1", idsSpec(1, 2), func(s *Spec) { s.Rho = nan }},
		{"rho +Inf", idsSpec(1, 2), func(s *Spec) { s.Rho = math.Inf(1) }},
		{"control set 2 is free", idsSpec(1, 2), func(s *Spec) { s.ControlSets[1].Cost = 0 }},
		{"control set 1: cost -1", idsSpec(1, 2), func(s *Spec) { s.ControlSets[0].Cost = -1 }},
		{"control sets 1 and 2 hold the same", idsSpec(1, 2), func(s *Spec) { s.ControlSets[1] = s.ControlSets[0] }},
		{"budget 0.05 is below 0.1", idsSpec(1, 2), func(s *Spec) { s.Budget = 0.05 }},
	})
}

// A reading that is no number is refused and changes nothing, whatever the acquisition.
func TestAcquisitionsRefuseNaN(t *testing.T) {
	for _, kind := range []string{"costids", "mes", "multi-fidelity-mes", "pims", "jes", "ei-per-cost"} {
		s := fixedSpec(kind, 2, 3)
		s.Rho = 2
		p, q := fresh(t, s), fresh(t, s)
		observeAt(t, p, s, 4)
		observeAt(t, q, s, 4)
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			err := p.Observe(Observation{Step: 5, X: []float64{0.5, 0.5}, Mean: bad, Variance: math.NaN(), Shots: 1, Valid: true})
			if err == nil {
				t.Errorf("%s: mean %g was accepted", kind, bad)
			}
		}
		if a, b := propose(t, p), propose(t, q); !same([]Proposal{a}, []Proposal{b}) {
			t.Errorf("%s: a refused reading changed the next proposal from %v to %v", kind, b.X, a.X)
		}
	}
}
