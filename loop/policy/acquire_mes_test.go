package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/scripts/testsize"
)

// maximaOf repeats the maxima that a decision's first view used.
func maximaOf(t *testing.T, d *decision, n int) []acquisition.Optimum {
	t.Helper()
	m, err := d.Maxima(d.Views[0], n, d.Substream(num.ForSample, 0))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Sampled maxima: none of 3000 scattered settings has a greater value of the same
// sample, and a path's maximum is above all that was observed of it.
func TestMaximaAreMaxima(t *testing.T) {
	s := fixedSpec("mes", 2, 4)
	p := fresh(t, s)
	observeAt(t, p, s, 10)
	d, _ := decisionBefore(t, p.(*engine), 11, 0)
	rng := d.Substream(num.ForSample, 0) // another pass over the same stream
	scan := withCandidates(s, 3000).Candidates
	for k, m := range maximaOf(t, d, 5) {
		sample, err := d.Sample(d.Views[0], d.Goal.Domain, rng)
		if err != nil {
			t.Fatal(err)
		}
		o, err := sample.Expectation(d.Decision, d.Goal.Domain)
		if err != nil {
			t.Fatal(err)
		}
		if v := valuesAt(acquisition.Option{Objective: o}, m.X)[0]; math.Abs(v-m.Value) > 1e-9 {
			t.Errorf("sample %d is %.6f at its maximum, not %.6f", k, v, m.Value)
		}
		worst := 0.0
		for _, x := range scan {
			worst = max(worst, valuesAt(acquisition.Option{Objective: o}, x)[0]-m.Value)
		}
		if worst > 0.02 { // a sample's maximum need not be exact
			t.Errorf("sample %d: a scattered setting is %.4f above the maximum found", k, worst)
		}
	}
}

// MES, JES and PIMS are what their formulas say, from moments at each node of the random
// variables (whose rule TestImprovementAgainstQuadrature judges); and their gradients are
// those of differences. Priors that are averaged have means, units and offsets of their
// own. In the whole each of them does, by one prior and by several.
func TestInformationOptions(t *testing.T) {
	settings := [][]float64{{0.3}, {0.35, 0.6}, {0.3, 0.6, 0.9}}
	priors := []model.Prior{
		{Kernel: "se", Lengthscale: []float64{.3, .4, .5}, Outputscale: 4, NoiseSD: 0.1, Mean: 1},
		{Kernel: "matern52", Lengthscale: []float64{.5}, Outputscale: 1, NoiseSD: 0.2, Mean: -1,
			MeanOf: func(x []float64) float64 { return 0.3 * x[0] * x[1] }},
	}
	for i, c := range []struct {
		kind   string
		priors []model.Prior
	}{{kind: "mes"}, {kind: "jes"}, {kind: "pims"}, {"mes", priors}, {"jes", priors}} {
		if i%4 > 0 && !testsize.Whole() {
			continue
		}
		s := subsetsSpec("ucb-psq-per-cost", 9)
		s.Acquisition = c.kind
		if c.priors != nil {
			s.Model = model.Spec{Kernel: "se", Hyperparameters: "priors", Priors: c.priors}
		}
		d, options := allOptions(t, s, 12)
		count := acquisition.MaximaSamples
		if c.kind == "pims" {
			count = 1
		}
		maxima := maximaOf(t, d, count)
		for i, o := range options {
			got, want := valuesAt(o, settings[i])[0], 0.0
			nodes, _ := o.Objective.(*expectations.Expected).Rules()
			x := append([]float64(nil), 0, 0, 0)
			copy(x, settings[i])
			for q, w := range nodes.Weight {
				copy(x[i+1:], nodes.X[q*(2-i):(q+1)*(2-i)])
				want += w * informationAt(c.kind, d, maxima, x)
			}
			if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-9 {
				t.Errorf("%s, %d priors, set %d: %.6g, want %.6g", c.kind, len(c.priors), i, got, want)
			}
			slopes(t, o, settings[i])
			slopes(t, d.ForSearch(o, nil), settings[i])
		}
	}
}

// informationAt is the acquisition at a point of all coordinates by its formula.
func informationAt(kind string, d *decision, maxima []acquisition.Optimum, x []float64) float64 {
	noise, sum := d.ShotVariance(), 0.0
	for _, m := range maxima {
		c := m.Component
		inUnits := func(x []float64) (mu, sd float64) {
			mu, sd = momentsAt(c.GP, x)
			return c.Mean + c.Scale*(mu+c.OffsetAt(x)), c.Scale * sd
		}
		mu, sd := inUnits(x)
		switch kind {
		case "pims":
			return num.NormalCDF((mu - m.Value) / sd)
		case "mes":
			v, _, _ := acquisition.MaximumInformation(mu, sd, m.Value, noise)
			sum += v / float64(len(maxima))
		case "jes":
			// Moments with (x*, f*) as an exact observation, from the joint posterior.
			_, cov := posterior(c.GP, [][]float64{x, m.X})
			at, _ := inUnits(m.X)
			q := cov[0][1] / (cov[1][1] + model.MinNoise)
			w, _, _ := acquisition.TruncatedEntropy(mu+q*(m.Value-at), c.Scale*math.Sqrt(max(cov[0][0]-q*cov[0][1], 1e-12)), m.Value, noise)
			sum += (0.5*math.Log(sd*sd+noise) - w) / float64(len(maxima))
		}
	}
	return sum
}

// On listed settings maxima are exact: the greatest of the sample's values, and the
// decision takes the setting of greatest information.
func TestInformationOfListedSettings(t *testing.T) {
	for _, kind := range []string{"mes", "jes", "pims"} {
		s := withCandidates(fixedSpec(kind, 2, 3), 30)
		p := fresh(t, s)
		observeAt(t, p, s, 5)
		q := propose(t, p)
		d, options := decisionBefore(t, p.(*engine), q.Step, 0)
		values := valuesAt(options[0], d.Domains[0].List)
		if k := num.Argmax(values); q.X[0] != s.Candidates[k][0] || q.X[1] != s.Candidates[k][1] {
			t.Errorf("%s: proposed %v, the best is %v", kind, q.X, s.Candidates[k])
		}
		value := values[num.Argmax(values)]
		if kind == "pims" { // its logarithm is searched
			value = math.Exp(value)
		}
		if math.Abs(q.Why.Value-value) > 1e-9 {
			t.Errorf("%s: value %g, want %g", kind, q.Why.Value, value)
		}
	}
}

// Information per unit cost over control sets: none of many scattered settings of any
// control set has more information over its cost than what is proposed, which says so of
// itself.
func TestInformationPerCostOfSets(t *testing.T) {
	s := subsetsSpec("ucb-psq-per-cost", 13)
	s.Acquisition, s.InitialSteps = acquireMES, 2
	p := fresh(t, s)
	fill(t, p, s, 10, 1)
	q := propose(t, p)
	e := p.(*engine)
	d, err := e.decision(t.Context(), q.Step, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	options, err := e.acquisition.Options(d.Decision)
	if err != nil {
		t.Fatal(err)
	}
	scan, u := sobol.New(3), make([]float64, 3)
	for _, o := range options {
		size, cost := d.Domains[o.Set].Size(), s.ControlSets[o.Set].Cost
		if o.Set == q.ControlSet {
			x := make([]float64, size)
			d.Domains[o.Set].Project(x, q.X)
			if got := valuesAt(o, x)[0] / cost; math.Abs(got-q.Why.Value) > 1e-9*got {
				t.Errorf("the proposal tells %g per unit of cost, and says %g", got, q.Why.Value)
			}
		}
		for k := range 300 {
			scan.Point(u, k)
			if got := valuesAt(o, u[:size])[0] / cost; got > 1.01*q.Why.Value { // the search's tolerance
				t.Errorf("set %d at %v tells %g per unit of cost, the proposal %g", o.Set, u[:size], got, q.Why.Value)
			}
		}
	}
}
