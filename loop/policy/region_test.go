package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
)

// dish has its top at 0.3 of every range; every second variable is without effect.
func dish(x []float64) float64 {
	sum := 0.0
	for i := 0; i < len(x); i += 2 {
		sum -= (x[i] - 0.3) * (x[i] - 0.3)
	}
	return sum
}

func dishSpec(dims int, seed uint64, region string) Spec {
	s := fixedSpec("irgp-ucb", dims, seed)
	s.Confidence, s.Model, s.InitialSteps, s.Region = "", Model{Kernel: "matern52", Hyperparameters: model.HyperPriors}, 6, region
	return s
}

// playDish returns the proposals of so many steps and what is truly recommended.
func playDish(t *testing.T, s Spec, steps int) (all []Proposal, worth float64) {
	t.Helper()
	p, rng := fresh(t, s), rand.New(rand.NewPCG(s.Seed, 3))
	for step := 1; step <= steps; step++ {
		q, err := p.Propose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
		observe(t, p, Observation{Step: step, X: q.X, Mean: dish(q.X) + 0.02*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Cost: 1, Valid: true})
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	return all, dish(r.X)
}

// Decisions look in the whole domain unless a file asks for a region, and then every fourth does.
func TestRegionIsAskedFor(t *testing.T) {
	const steps = 12
	plain, _ := playDish(t, dishSpec(12, 1, ""), steps)
	whole, _ := playDish(t, dishSpec(12, 1, regionWhole), steps)
	trusting, _ := playDish(t, dishSpec(12, 1, regionTrust), steps)
	if !same(plain, whole) {
		t.Error("without a word it is not as with region \"whole\"")
	}
	if same(plain, trusting) {
		t.Error("with region \"trust\" it is as without")
	}
}

// The region begins around the best of the design, and no decision leaves it.
func TestDecisionsStayInTheRegion(t *testing.T) {
	s := dishSpec(12, 4, regionTrust)
	all, _ := playDish(t, s, s.InitialSteps+1)
	near := false
	for _, p := range all[:s.InitialSteps] {
		apart := 0.0
		for i, v := range p.X {
			apart = max(apart, math.Abs(v-all[s.InitialSteps].X[i]))
		}
		near = near || apart <= 0.4+1e-9 // lengthscales are the same at first
	}
	if !near {
		t.Errorf("the first decision, %v, is in no box of 0.8 around a setting of the design", all[s.InitialSteps].X)
	}
}

// A region that has shrunk to nothing begins anew far from all that were measured.
func TestRegionBeginsAnew(t *testing.T) {
	s := dishSpec(2, 1, regionTrust)
	s.Model = Model{Kernel: "se", Hyperparameters: model.HyperFixed, Lengthscale: []float64{0.5, 0.5}, Outputscale: 1, NoiseSD: 0.05, Capacity: 200}
	all, worth := playDish(t, s, 90)
	at := slices.IndexFunc(all, func(p Proposal) bool { return !math.IsNaN(p.Why.Unseen) })
	if at < 0 || all[at].Why.Unseen < 0.1 {
		t.Errorf("step %d of %d is the first elsewhere", at+1, len(all))
	}
	if worth < -0.01 {
		t.Errorf("what was found before is lost: %g recommended", worth)
	}
}
