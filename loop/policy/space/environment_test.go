package space

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

func surroundingsOf(kinds ...Distribution) *RandomVariables {
	vars := cube(len(kinds))
	for i := range kinds {
		vars[i].Random = kinds[i]
	}
	return NewRandomVariables(vars, axesOf(vars), 100, false, 5)
}

// expect is the rule's expectation of g.
func expect(n *Nodes, g func(x []float64) float64) float64 {
	sum := 0.0
	for j, w := range n.Weight {
		sum += w * g(n.At(j))
	}
	return sum
}

// The mean of a truncated normal in closed form,
// mean + sd (phi(a) - phi(b)) / (Phi(b) - Phi(a)).
func TestGaussNodes(t *testing.T) {
	for _, d := range []Distribution{{TruncatedNormal, 0.5, 0.2}, {TruncatedNormal, 0.1, 0.05}, {TruncatedNormal, 1.3, 0.4}, {TruncatedNormal, 0.4, 0.004}} {
		e := surroundingsOf(Distribution{Kind: Held}, d)
		n := e.Nodes([]int{0, 1})
		phi := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
		a, b := -d.Mean/d.SD, (1-d.Mean)/d.SD
		want := d.Mean + d.SD*(phi(a)-phi(b))/(num.NormalCDF(b)-num.NormalCDF(a))
		// 24 nodes over at most 16 standard deviations: about 1e-6 of one.
		if got := expect(&n, func(x []float64) float64 { return x[1] }); math.Abs(got-want) > 1e-5*d.SD {
			t.Errorf("%+v: mean %.9f, want %.9f", d, got, want)
		}
		if got := expect(&n, func(x []float64) float64 { return x[0] }); math.Abs(got-0.5) > 1e-14 {
			t.Errorf("a held variable moved to %g", got)
		}
	}
}

// Held variables alone are one point, at the last measured values.
func TestHeldIsAPointMass(t *testing.T) {
	e := surroundingsOf(Distribution{}, Distribution{})
	e.Last = []float64{0.3, 0.8}
	n := e.Nodes([]int{0, 1})
	if n.Count() != 1 || n.Weight[0] != 1 || n.X[0] != 0.3 || n.X[1] != 0.8 {
		t.Errorf("nodes %+v", n)
	}
	if full := e.Nodes(nil); full.Count() != 1 || full.Weight[0] != 1 || len(full.At(0)) != 0 {
		t.Errorf("nothing random: %+v", full)
	}
}

// A learnt distribution starts at uniform and gives N readings the weight
// N/(10+N); variables that were read together come together.
func TestLearntNodesKeepTheJointDistribution(t *testing.T) {
	e := surroundingsOf(Distribution{Kind: Learnt}, Distribution{Kind: Learnt}, Distribution{Kind: Uniform})
	n := e.Nodes([]int{0, 1, 2})
	if mean := expect(&n, func(x []float64) float64 { return x[0] }); math.Abs(mean-0.5) > 0.02 {
		t.Errorf("without readings the mean is %g", mean)
	}
	const readings, seed = 90, 2
	rng := rand.New(rand.NewPCG(seed, 0))
	for range readings {
		u := 0.2 + 0.1*rng.Float64()
		e.Readings.add([]float64{u, 1 - u, math.NaN()}) // perfectly opposed
	}
	e.Readings.add([]float64{0.9, math.NaN(), math.NaN()}) // read while variable 1 was controlled
	n = e.Nodes([]int{0, 1, 2})
	together, weight := 0.0, 0.0
	for j, w := range n.Weight {
		x := n.At(j)
		if x[0] == 0.9 {
			t.Error("a reading without variable 1 was used for both")
		}
		if math.Abs(x[0]+x[1]-1) < 1e-12 {
			together += w
		}
		weight += w
	}
	// 90 of 100, to the resolution of 128 nodes.
	if math.Abs(together-0.9) > 0.02 || math.Abs(weight-1) > 1e-12 {
		t.Errorf("seed %d: weight %g of readings, want 0.9; all weights %g", seed, together, weight)
	}
	alone := e.Nodes([]int{0})
	high := expect(&alone, func(x []float64) float64 {
		if x[0] == 0.9 {
			return 1
		}
		return 0
	})
	// One of 101 weights; a rule of 128 equal nodes gives it one node or two.
	if high < 0.5/128 || high > 2.5/128 {
		t.Errorf("variable 0 alone uses its own readings too: weight %g", high)
	}
}

func TestReadingsAreBounded(t *testing.T) {
	r := readings{limit: 3}
	for i := range 10 {
		r.add([]float64{float64(i)})
	}
	if got := r.joint([]int{0}); len(got) != 3 || got[0][0] != 7 {
		t.Errorf("kept %v", got)
	}
}
