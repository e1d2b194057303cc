package policy

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
)

// toldSteps are observations of the noisy world at settings of a Sobol-like lattice, of the full set.
func toldSteps(n, shots int, seed uint64) (all []Observation) {
	rng := rand.New(rand.NewPCG(seed, 9))
	for step := 1; step <= n; step++ {
		x := []float64{math.Mod(float64(step)*0.618034, 1), math.Mod(float64(step)*0.754878, 1)}
		mean, sd := noisyWorld(x)
		sum, square := 0.0, 0.0
		for range shots {
			y := mean + sd*rng.NormFloat64()
			sum, square = sum+y, square+y*y
		}
		m := sum / float64(shots)
		o := Observation{Step: step, X: x, Mean: m, Variance: math.NaN(), Shots: shots, Valid: true}
		if shots > 1 {
			o.Variance = max(square-float64(shots)*m*m, 0) / float64(shots-1)
		}
		all = append(all, o)
	}
	return all
}

// A recommendation at another risk is, to the bit, that of a policy which had that risk from the
// beginning, of one set and of several; afterwards the policy is as it was.
func TestRecommendAtIsAsIfItHadBeenTheRisk(t *testing.T) {
	several := twoSets(kindRAHBO, 3)
	for name, s := range map[string]Spec{"one set": rahboSpec(2, 3), "several": several} {
		with := func(risk float64) Policy {
			s := s
			s.Risk = risk
			p := fresh(t, s)
			for i, o := range toldSteps(24, 4, 3) {
				if name == "several" {
					o.ControlSet, o.Shots, o.Variance = i%2, 1, math.NaN()
				}
				observe(t, p, o)
			}
			return p
		}
		p := with(1)
		before, err := p.Recommend()
		if err != nil {
			t.Fatal(err)
		}
		for _, risk := range []float64{0.25, 4} {
			got, err := p.(Weigher).RecommendAt(risk)
			if err != nil {
				t.Fatal(err)
			}
			want, err := with(risk).Recommend()
			if err != nil {
				t.Fatal(err)
			}
			if got.ControlSet != want.ControlSet || got.LowerBound != want.LowerBound || got.Mean != want.Mean {
				t.Errorf("%s at risk %g: %+v, want %+v", name, risk, got, want)
			}
		}
		if after, err := p.Recommend(); err != nil || after.LowerBound != before.LowerBound || after.ControlSet != before.ControlSet {
			t.Errorf("%s: %+v, %v after weighing; before %+v", name, after, err, before)
		}
	}
}

// Whatever kind a run was of, another risk can be weighed by its record, where that has several
// shots a step; where it has one, it is refused.
func TestForRiskOfEveryKind(t *testing.T) {
	for _, kind := range Kinds() {
		s := rahboSpec(2, 5)
		s.Kind, s.Risk, s.VarianceModel, s.Confidence = kind, 0, "", "constant"
		if kind == "rahbo-known-variance" {
			s.NoiseVariance = func(x []float64) float64 { _, sd := noisyWorld(x); return sd * sd }
		}
		weighed := ForRisk(s)
		if s.Kind != kind || s.Risk != 0 {
			t.Fatalf("%s: the run's own specification was changed", kind)
		}
		p, err := New(weighed)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		w := p.(Weigher)
		if _, err := w.Tradeoffs(); !errors.Is(err, ErrNoData) {
			t.Errorf("%s, nothing observed: %v", kind, err)
		}
		for _, o := range toldSteps(8, 1, 5) {
			observe(t, p, o)
		}
		if _, err := w.RecommendAt(1); (err == nil) != (s.NoiseVariance != nil) || err != nil && !errors.Is(err, ErrNoNoise) {
			t.Errorf("%s, one shot a step: %v", kind, err)
		}
		if _, err := w.RecommendAt(0); err != nil {
			t.Errorf("%s, one shot a step, risk 0: %v", kind, err)
		}
		for _, o := range toldSteps(16, 5, 5)[8:] {
			observe(t, p, o)
		}
		r, err := w.RecommendAt(10)
		if err != nil || r.X[0] > 0.3 { // at a = 0.3 risk 10 takes 1.1 off, of 1.04
			t.Errorf("%s: at risk 10 %v, %v", kind, r.X, err)
		}
	}
}

// The intervals of a tradeoff hold the truth, and each setting is there once.
func TestTradeoffsHoldTheTruth(t *testing.T) {
	const seed = 7
	s := rahboSpec(2, seed)
	s.Beta = 3
	p := fresh(t, s)
	told := toldSteps(40, 10, seed)
	for _, o := range append(told, Observation{Step: 41, X: told[3].X, Mean: told[3].Mean, Variance: told[3].Variance, Shots: 10, Valid: true}) {
		observe(t, p, o)
	}
	all, err := p.(Weigher).Tradeoffs()
	if err != nil || len(all) != 40 {
		t.Fatalf("%d settings, %v; want 40", len(all), err)
	}
	outside := 0
	for _, r := range all {
		mean, sd := noisyWorld(r.X)
		if math.Abs(r.Mean-mean) > 3*r.SD || sd < r.ShotLow || sd > r.ShotHigh {
			outside++
			t.Logf("at %v: mean %.3f (%.3f), true %.3f; sd %.3f in [%.3f, %.3f], true %.3f", r.X, r.Mean, r.SD, mean, r.ShotSD, r.ShotLow, r.ShotHigh, sd)
		}
		if !(r.ShotLow <= r.ShotSD && r.ShotSD <= r.ShotHigh) || !math.IsNaN(r.LowerBound) {
			t.Errorf("at %v: %+v", r.X, r)
		}
	}
	// Three standard deviations, of a model whose hyperparameters are fitted: at the edge a = 0,
	// where the noise vanishes, a log-normal process cannot follow.
	if outside > 4 {
		t.Errorf("seed %d: of %d settings %d lie outside", seed, len(all), outside)
	}
}

// What variables do that a setting leaves alone: a held one is where it was measured last, the others
// have the moments of their distributions, in their units.
func TestRecommendationSaysWhatIsLeft(t *testing.T) {
	s := rahboSpec(4, 1)
	s.Kind, s.Confidence = kindUCBCVS, "constant"
	s.Risk = 0
	s.Variables[1] = space.Variable{Name: "held", Low: -5, High: 5, Start: 1, Random: space.Distribution{Kind: space.Held}}
	s.Variables[2] = space.Variable{Name: "normal", Low: 10, High: 30, Start: math.NaN(), Random: space.Distribution{Kind: space.TruncatedNormal, Mean: 20, SD: 2}}
	s.Variables[3] = space.Variable{Name: "uniform", Low: 0, High: 12, Start: math.NaN(), Random: space.Distribution{Kind: space.Uniform}}
	s.ControlSets = []space.ControlSet{{Controlled: []bool{true, false, false, false}, Cost: 1}}
	s.Schedule = schedule.None
	p := fresh(t, s)
	for step := 1; step <= 6; step++ {
		u := float64(step) / 7
		observe(t, p, Observation{Step: step, X: []float64{u, 2.5, 20 + u, 12 * u}, Mean: u, Variance: math.NaN(), Shots: 1, Valid: true})
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	// 128 common random numbers instead of integrals: as close as that.
	for i, want := range []Left{{Mean: math.NaN(), SD: math.NaN()}, {Kind: space.Held, Mean: 2.5}, {space.TruncatedNormal, 20, 2}, {space.Uniform, 6, 12 / math.Sqrt(12)}} {
		got := r.Left[i]
		near := func(a, b, tolerance float64) bool {
			return math.Abs(a-b) <= tolerance || math.IsNaN(a) && math.IsNaN(b)
		}
		exact := 0.0
		if i > 1 {
			exact = 0.1
		}
		if got.Kind != want.Kind || !near(got.Mean, want.Mean, exact) || !near(got.SD, want.SD, exact) {
			t.Errorf("variable %d: %+v, want %+v", i, got, want)
		}
	}
}
