package expectations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// dense integrates over the random coordinates by composite Simpson with 2k+1 points
// each: the oracle, which knows nothing of the code under test but Predict.
func dense(g *gpcore.GP, in Inputs, density []func(float64) float64, low, high []float64, c []float64, k int) (mean, sd, square float64) {
	d := g.Dim()
	var random []int
	for i := range d {
		found := false
		for _, j := range in.Controlled {
			found = found || j == i
		}
		if !found {
			random = append(random, i)
		}
	}
	x := make([]float64, d)
	for j, i := range in.Controlled {
		x[i] = c[j]
	}
	var norm float64
	m, v := make([]float64, 1), make([]float64, 1)
	var walk func(at int, w float64)
	walk = func(at int, w float64) {
		if at == len(random) {
			g.Predict(m, v, x)
			mean += w * m[0]
			sd += w * math.Sqrt(v[0])
			square += w * v[0]
			norm += w
			return
		}
		h := (high[at] - low[at]) / float64(2*k)
		for i := range 2*k + 1 {
			u := low[at] + float64(i)*h
			s := 2.0
			switch {
			case i == 0 || i == 2*k:
				s = 1
			case i%2 == 1:
				s = 4
			}
			x[random[at]] = u
			walk(at+1, w*s*density[at](u))
		}
	}
	walk(0, 1)
	return mean / norm, sd / norm, square / norm
}

func normalDensity(m, s float64) func(float64) float64 {
	return func(x float64) float64 { return math.Exp(-(x - m) * (x - m) / (2 * s * s)) }
}

func evenly(float64) float64 { return 1 }

func TestExpectedMeanIsClosedForm(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1.7, gptest.Lengthscales(3, 0.2)), 40, 1e-2, 1)
	for _, c := range []struct {
		in        Inputs
		density   []func(float64) float64
		low, high []float64
	}{
		{Inputs{Controlled: []int{0, 2}, Random: []quadrature.Marginal{gptest.PaperMarginal()}},
			[]func(float64) float64{normalDensity(0.5, 0.141821)}, []float64{0}, []float64{1}},
		{Inputs{Controlled: []int{1}, Random: []quadrature.Marginal{quadrature.Uniform(-0.2, 0.9), quadrature.TruncatedNormal(1.3, 0.4, 0, 1)}},
			[]func(float64) float64{evenly, normalDensity(1.3, 0.4)}, []float64{-0.2, 0}, []float64{0.9, 1}},
		{Inputs{Controlled: []int{2}, Random: []quadrature.Marginal{quadrature.TruncatedNormal(0.1, 0.3, 0, 1), quadrature.TruncatedNormal(0.5, 0.2, 0, 1)}},
			[]func(float64) float64{normalDensity(0.1, 0.3), normalDensity(0.5, 0.2)}, []float64{0, 0}, []float64{1, 1}},
	} {
		e, err := New([]Term{{Process: g, Mean: 1}}, c.in)
		if err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		for _, p := range []float64{0, 0.31, 0.8} {
			x := vec.Constant(e.Dim(), p)
			got := make([]float64, 1)
			e.Values(got, x)
			want, _, _ := dense(g, c.in, c.density, c.low, c.high, x, 60)
			// Simpson with 120 intervals of a tenth of a lengthscale: error about 1e-9.
			if math.Abs(got[0]-want) > 1e-7 {
				t.Errorf("%v at %g: %.10f, want %.10f", c.in.Controlled, p, got[0], want)
			}
		}
	}
}

// The nodes' error in E[sigma] is at most that of 1024 independent draws, by root mean
// square over points and scrambles, in the papers' settings.
func TestExpectedDeviationBeatsSampling(t *testing.T) {
	for _, l := range []float64{0.1, 0.2, 0.3} {
		for _, random := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprintf("l=%g random=%d", l, random), func(t *testing.T) { beatsSampling(t, l, random) })
		}
	}
}

func beatsSampling(t *testing.T, l float64, random int) {
	d := random + 1
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, gptest.Lengthscales(d, l)), 100, 1e-2, 3)
	in := Inputs{Controlled: []int{random / 2}}
	for range random {
		in.Random = append(in.Random, gptest.PaperMarginal())
	}
	rng := rand.New(rand.NewPCG(2, 2))
	const points, draws = 12, 1024
	var ours, theirs float64
	for seed := range uint64(3) {
		in.Seed = seed
		e, err := New([]Term{{Process: g, SD: 1}}, in)
		if err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		for range points {
			c := gptest.Point(rng, 1)
			got := make([]float64, 1)
			e.Values(got, c)
			mean, variance := referenceDeviation(e, g, c)
			ours += (got[0] - mean) * (got[0] - mean)
			theirs += variance / draws
		}
	}
	t.Logf("ratio of the errors %.2f", math.Sqrt(ours/theirs))
	if !(ours <= theirs) {
		t.Errorf("%g times the root mean square error of %d draws", math.Sqrt(ours/theirs), draws)
	}
}

// referenceDeviation is the mean and the variance of sigma over R from a fine rule:
// 24 Gauss nodes a coordinate up to three, else 16384 Sobol points.
func referenceDeviation(e *Expected, g *gpcore.GP, c []float64) (mean, variance float64) {
	var n quadrature.Nodes
	if dr := len(e.random); dr <= 3 {
		n = quadrature.GaussProduct(e.in.Random, [][]int{{40}, {24, 24}, {20, 20, 20}}[dr-1])
	} else {
		n = quadrature.SobolNodes(e.in.Random, 99, 16384)
	}
	full := make([]float64, g.Dim()*len(n.Weight))
	for q := range n.Weight {
		e.loadPair(full[q*g.Dim():(q+1)*g.Dim()], c, &n, q)
	}
	m, v := make([]float64, len(n.Weight)), make([]float64, len(n.Weight))
	g.Predict(m, v, full)
	for q, w := range n.Weight {
		mean += w * math.Sqrt(v[q])
		variance += w * v[q]
	}
	return mean, variance - mean*mean
}
