package policy

import (
	"github.com/labtuner/tuner/loop/policy/schedule"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
)

// riskySets is a choice of control sets with a risk term.
func riskySets(acquisition string, seed uint64) Spec {
	s := subsetsSpec("ucb-cvs", seed)
	s.Schedule, s.Acquisition, s.Risk = schedule.None, acquisition, 1.5
	return s
}

// drawsAround draws points of all coordinates: controlled ones at c, the others from their
// distributions.
func drawsAround(d *decision, o acquisition.Option, c []float64, n int, rng *rand.Rand) []float64 {
	dom := d.Domains[o.Set]
	x := make([]float64, 0, n*len(d.Domains[0].Axes))
	for range n {
		at := make([]float64, len(d.Domains[0].Axes))
		for j, i := range dom.Coords {
			at[i] = c[j]
		}
		for _, i := range dom.Random {
			at[i] = d.Criterion.Random.Marginals[i].Quantile(rng.Float64())
		}
		x = append(x, at...)
	}
	return x
}

// momentsOfDraws are mean and variance.
func momentsOfDraws(v []float64) (mean, variance float64) {
	for _, y := range v {
		mean += y / float64(len(v))
	}
	for _, y := range v {
		variance += (y - mean) * (y - mean) / float64(len(v))
	}
	return mean, variance
}

// The risk-averse bound over control sets against Monte Carlo on the random variables:
// E[mu + beta s] - alpha (E[lower bound of the noise] + max(sd[mu] - beta sqrt(E[s^2]), 0)^2),
// with learnt and known noise, and priors that are averaged; gradients against differences.
func TestSpreadAgainstMonteCarlo(t *testing.T) {
	const draws = 20000
	rng := rand.New(rand.NewPCG(1, 2))
	known := riskySets(acquireUCB, 3)
	known.NoiseVariance = func(x []float64) float64 { return 0.05 + 0.2*x[2]*x[2] }
	priors := riskySets(acquireUCB, 3)
	priors.Model = model.Spec{Kernel: "se", Hyperparameters: "priors", Priors: []model.Prior{
		{Lengthscale: []float64{.3, .4, .5}, Outputscale: 4, NoiseSD: 0.1, Mean: 1},
		{Kernel: "matern52", Lengthscale: []float64{.5}, Outputscale: 1, NoiseSD: 0.2, MeanOf: func(x []float64) float64 { return 0.5 * x[1] }}}}
	steep := riskySets(acquireUCB, 3)
	steep.Beta, steep.Risk = 0.3, 30 // the lower end of the spread is above 0, and most of what is taken off
	for name, s := range map[string]Spec{"learnt noise": riskySets(acquireUCB, 3), "steep": steep, "known noise": known, "priors": priors} {
		d, options := allOptions(t, s, 14)
		alpha := s.Risk * d.Criterion.Model.Active.Scale
		for i, c := range [][]float64{{0.3}, {0.3, 0.6}, {0.3, 0.6, 0.9}} {
			x := drawsAround(d, options[i], c, draws, rng)
			want, wobble := 0.0, 0.0
			mu, sd := make([]float64, draws), make([]float64, draws)
			for _, q := range d.Views[0] {
				one := model.View{q}
				one[0].Weight = 1
				one.Moments(nil, mu, sd, x)
				m, v := momentsOfDraws(mu)
				s, _ := momentsOfDraws(sd)
				for k, v := range sd {
					sd[k] = v * v
				}
				square, _ := momentsOfDraws(sd)
				low := max(math.Sqrt(v)-d.Beta*math.Sqrt(square), 0)
				if name == "steep" && i < 2 && low == 0 {
					t.Error("steep: the lower end of the spread is 0, so it is not looked at")
				}
				want += q.Weight * (m + d.Beta*s - alpha*low*low)
				wobble += q.Weight * (math.Sqrt(v/draws) + alpha*v*math.Sqrt(3.0/draws))
			}
			noise := make([]float64, draws)
			if field := d.Criterion.Model.Noise; field != nil {
				field.GP.Predict(mu, sd, x)
				for k := range noise {
					noise[k], _, _ = field.ShotVariance(mu[k], math.Sqrt(sd[k]), -d.NoiseBeta)
				}
				m, v := momentsOfDraws(noise)
				want -= alpha * m
				wobble += alpha * math.Sqrt(v/draws)
			} else if known := d.Criterion.Model.Known; known == nil {
				t.Errorf("%s: the noise is neither learnt nor known", name)
			} else {
				for k := range noise {
					noise[k] = known.At(x[3*k:3*k+3]) / (d.Criterion.Model.Active.Scale * d.Criterion.Model.Active.Scale)
				}
				m, _ := momentsOfDraws(noise)
				want -= alpha * m
			}
			got := valuesAt(options[i], c)[0] + options[i].Offset
			// Five standard errors of the draws, and 1% for rules of 24 or 128 nodes.
			if math.Abs(got-want) > 5*wobble+0.01*math.Abs(want)+0.002 {
				t.Errorf("%s, set %d: %.5f, Monte Carlo says %.5f (standard error %.5f)", name, i, got, want, wobble)
			}
			slopes(t, options[i], c)
		}
	}
}

// A sample with a risk term counts the variance of itself.
func TestSpreadOfSamples(t *testing.T) {
	const draws = 4000
	s := riskySets(acquireTS, 5)
	d, options := allOptions(t, s, 14)
	alpha := s.Risk * d.Criterion.Model.Active.Scale
	rng := rand.New(rand.NewPCG(3, 4))
	for i, c := range [][]float64{{0.3}, {0.3, 0.6}, {0.3, 0.6, 0.9}} {
		f := make([]float64, draws)
		options[2].Objective.Values(f, drawsAround(d, options[i], c, draws, rng)) // the full set's: the sample itself
		m, v := momentsOfDraws(f)
		se := math.Sqrt(v/draws) + alpha*v*math.Sqrt(3.0/draws)
		if got, want := valuesAt(options[i], c)[0], m-alpha*v; math.Abs(got-want) > 5*se+0.01*math.Abs(want)+1e-9 {
			t.Errorf("set %d: %.5f, Monte Carlo says %.5f (standard error %.5f)", i, got, want, se)
		}
		slopes(t, options[i], c)
	}
}

// Where one draw of the random variables holds for a step, their spread counts as often as the step has
// shots: in the bound by which a decision is made, in a sample of it, and in what is recommended.
func TestSpreadOfDrawsThatHoldForAStep(t *testing.T) {
	const shots, n, draws = 3, 14, 4000
	of := func(acquisition, word string, alpha float64) (*decision, []acquisition.Option) {
		s := riskySets(acquisition, 5)
		s.RandomDraws, s.Risk, s.Beta = word, alpha, 0.01 // so that the lower end of the spread is above 0
		return optionsAfter(t, s, n, shots)
	}
	// The whole of the difference is the spread, shots - 1 times.
	differs := func(name string, each, step, spread, tolerance float64) {
		t.Helper()
		if got, want := each-step, (shots-1)*spread; want <= 0 || math.Abs(got-want) > tolerance*want {
			t.Errorf("%s: a draw for the step takes off %g more, want %g", name, got, want)
		}
	}
	for i, c := range [][]float64{{0.3}, {0.3, 0.6}} {
		d, each := of(acquireUCB, "shot", 1.5)
		_, step := of(acquireUCB, "step", 1.5)
		j := d.Evaluation(d.Views[0], each[i].Set)
		shape, err := d.Criterion.Cache.Shape(d.Views[0][0].GP, d.Criterion.Random.Inputs(j.Domain, d.Step))
		if err != nil {
			t.Fatal(err)
		}
		full, coarse := shape.Rules()
		scale := d.Criterion.Model.Active.Scale
		low := d.Criterion.SpreadOf(j, d.Beta, full, coarse).Bound(c)
		differs("bound", valuesAt(each[i], c)[0], valuesAt(step[i], c)[0], 1.5*scale*low, 1e-9)

		_, sample := of(acquireTS, "shot", 1e-12) // the sample itself, with the noise that it has
		_, each = of(acquireTS, "shot", 1.5)
		_, step = of(acquireTS, "step", 1.5)
		f := make([]float64, draws)
		sample[2].Objective.Values(f, drawsAround(d, sample[i], c, draws, rand.New(rand.NewPCG(3, 4))))
		_, v := momentsOfDraws(f)
		differs("sample", valuesAt(each[i], c)[0], valuesAt(step[i], c)[0], 1.5*scale*v, 0.01+5*math.Sqrt(3.0/draws))

		var variance [2]float64
		for k, word := range []string{"shot", "step"} {
			d, _ := of(acquireUCB, word, 1.5)
			s, err := d.Criterion.Summarise(j, risk.Ends{Noise: -1, Spread: -1}, c)
			if err != nil {
				t.Fatal(err)
			}
			variance[k] = s[0].RiskVariance()
		}
		differs("recommendation", -variance[0], -variance[1], d.Criterion.SpreadOf(j, -1, full, coarse).Bound(c), 1e-9)
	}
}

// steepWorld is steep along x2, over which a step that leaves x2 alone is scattered; x1
// and x3 matter little.
func steepWorld(x []float64) float64 { return 1.5*math.Sin(9*x[1]) + 0.3*math.Sin(3*x[0]) }

// With risk the policy pays for holding the variable along which the objective is steep,
// and recommends that; the bound of its recommendation is the mean-variance one.
func TestRiskHoldsTheSteepVariable(t *testing.T) {
	for _, alpha := range []float64{0, 8} {
		s := subsetsSpec("ucb-cvs", 7)
		s.Model.Lengthscale[1] = 0.12                                     // as the world: a model that is too smooth takes the slope for noise
		s.Schedule, s.Epsilon, s.Beta = schedule.Epsilon, []float64{3}, 1 // cheapest unless it costs much of the objective
		s.ControlSets = sets(3, []float64{.1, .2}, []int{0}, []int{0, 1})
		s.Risk = alpha
		p := fresh(t, s)
		rng := rand.New(rand.NewPCG(s.Seed, 1))
		held := 0
		for range 45 {
			q := propose(t, p)
			x := append([]float64(nil), q.X...)
			for i, v := range x {
				if math.IsNaN(v) {
					x[i] = p.(*engine).criterion.Random.Marginals[i].Quantile(rng.Float64())
				}
			}
			if q.Step > 30 && q.ControlSet == 1 { // before that the slope has to be learnt
				held++
			}
			observe(t, p, Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Mean: steepWorld(x) + 0.1*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Valid: true})
		}
		if alpha == 0 && held > 2 || alpha > 0 && held < 13 {
			t.Errorf("risk %g: the steep variable was held in %d of the last 15 decisions", alpha, held)
		}
		r, err := p.Recommend()
		if err != nil {
			t.Fatal(err)
		}
		e := p.(*engine)
		c := make([]float64, e.domains[r.ControlSet].Size())
		e.domains[r.ControlSet].Project(c, r.X)
		want := r.Mean - s.Beta*r.SD
		if alpha > 0 {
			s, err := e.criterion.Summarise(e.present(e.domains[r.ControlSet]), risk.Ends{Noise: -s.Beta, Spread: -s.Beta}, c)
			if err != nil {
				t.Fatal(err)
			}
			want -= alpha * e.model.Active.Scale * e.model.Active.Scale * s[0].RiskVariance()
		}
		if math.Abs(r.LowerBound-want) > 1e-9 {
			t.Errorf("risk %g: lower bound %g, want %g", alpha, r.LowerBound, want)
		}
	}
}
