package expectations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// expectCases are criteria of every kind of kernel, term and rule.
func expectCases(t *testing.T) map[string]*Expected {
	t.Helper()
	l := gptest.Lengthscales(3, 0.4)
	se := gptest.ClusteredGP(t, kernels.SquaredExponential(1.3, l), 45, 1e-2, 1)
	matern := gptest.ClusteredGP(t, kernels.Matern52(0.8, l), 45, 1e-2, 2)
	mixed := gptest.ClusteredGP(t, kernels.Sum(kernels.SquaredExponential(1, l), kernels.Linear([]float64{0.3, 0.2, 0.5})), 45, 1e-2, 3)
	rng := rand.New(rand.NewPCG(4, 4))
	readings := &quadrature.Nodes{}
	for range 30 {
		readings.X = append(readings.X, rng.Float64(), rng.Float64())
	}
	risk := func(mu, sigma float64) (v, byMu, bySigma float64) {
		v = math.Exp(mu - sigma)
		return -v, -v, v
	}
	hill := func(grad, x []float64) float64 {
		v := math.Sin(3*x[0]) * x[1] * x[2]
		if grad != nil {
			grad[0], grad[1], grad[2] = 3*math.Cos(3*x[0])*x[1]*x[2], math.Sin(3*x[0])*x[2], math.Sin(3*x[0])*x[1]
		}
		return v
	}
	further := func(g *gpcore.GP) *Further {
		f := &Further{Of: func(k int, mu, sigma float64) (v, byMu, bySigma float64) {
			v = 0.1 * math.Sin(mu-sigma) * float64(k+1)
			slope := 0.1 * math.Cos(mu-sigma) * float64(k+1)
			return v, slope, -slope
		}}
		if err := f.Observe(g, []float64{0.2, 0.8, 0.4, 0.9, 0.1, 0.5, 0.3, 0.3, 0.7}, []float64{1.5, 0.7, -0.4}, 1e-3); err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := Inputs{Controlled: []int{0, 2}, Random: []quadrature.Marginal{gptest.PaperMarginal()}}
	two := Inputs{Controlled: []int{1}, Random: []quadrature.Marginal{gptest.PaperMarginal(), quadrature.Uniform(0, 1)}}
	all := Inputs{Controlled: []int{0, 1, 2}}
	joint := Inputs{Controlled: []int{2}, Nodes: readings}
	cases := map[string]*Expected{}
	for name, c := range map[string]struct {
		terms []Term
		in    Inputs
	}{
		"se one":         {[]Term{{Process: se, Mean: 1, SD: 2}}, one},
		"se two":         {[]Term{{Process: se, Mean: 1, SD: 2}}, two},
		"se all":         {[]Term{{Process: se, Mean: 1, SD: 2}}, all},
		"se readings":    {[]Term{{Process: se, Mean: 1, SD: 2}}, joint},
		"se pessimistic": {[]Term{{Process: se, Mean: 1, SD: -2}}, one},
		"matern two":     {[]Term{{Process: matern, Mean: 1, SD: 2}}, two},
		"matern all":     {[]Term{{Process: matern, Mean: 1, SD: 2}}, all},
		"mixed one":      {[]Term{{Process: mixed, Mean: 1, SD: 2}}, one},
		"mixed all":      {[]Term{{Process: mixed, Mean: -1, SD: 2}}, all},
		"risk all":       {[]Term{{Process: se, Mean: 1, SD: 2}, {Process: matern, Of: risk}}, all},
		"risk two":       {[]Term{{Process: se, Mean: 1, SD: 2}, {Process: mixed, Of: risk}}, two},
		"function one":   {[]Term{{Process: se, Of: risk}}, one},
		"function joint": {[]Term{{Process: se, Mean: 1, SD: 2}, {Process: se, Of: risk}}, joint},
		"offset all":     {[]Term{{Process: se, Mean: 1, SD: 2, Offset: hill}, {Process: matern, Of: risk, Offset: hill}}, all},
		"offset two":     {[]Term{{Process: se, Mean: 1, SD: 2, Offset: hill}, {Process: mixed, Of: risk, Offset: hill}}, two},
		"further all":    {[]Term{{Process: matern, Of: risk, Further: further(matern)}}, all},
		"further se":     {[]Term{{Process: se, Further: further(se), Offset: hill}}, all},
		"further two":    {[]Term{{Process: mixed, Of: risk, Further: further(mixed), Offset: hill}}, two},
		"two processes":  {[]Term{{Process: se, Mean: 1, SD: 2}, {Process: se, Mean: 0.5, SD: 1}}, one},
	} {
		e, err := New(c.terms, c.in)
		if err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		cases[name] = e
	}
	return cases
}

// Gradients agree with central differences, the value is that of Values, and one point
// alone (its own code path) agrees with many.
func TestExpectedGradients(t *testing.T) {
	for name, e := range expectCases(t) {
		for _, f := range []struct {
			what      string
			values    func(dst, x []float64)
			gradients func(dst, grad, x []float64)
		}{{"objective", e.Values, e.Gradients}, {"surrogate", e.SurrogateValues, e.SurrogateGradients}} {
			t.Run(name+" "+f.what, func(t *testing.T) { checkGradients(t, e.Dim(), f.values, f.gradients) })
		}
	}
}

func checkGradients(t *testing.T, d int, values func(dst, x []float64), gradients func(dst, grad, x []float64)) {
	const m, h = 30, 1e-5
	rng := rand.New(rand.NewPCG(9, 9))
	x := gptest.Point(rng, m*d)
	v, got, g := make([]float64, m), make([]float64, m), make([]float64, m*d)
	values(v, x)
	gradients(got, g, x)
	one, gone := make([]float64, 1), make([]float64, d)
	pair := make([]float64, 2)
	for j := range m {
		row := x[j*d : (j+1)*d]
		// Rounding of k^T K^-1 k with noise 1e-2 is about 1e-13.
		if !gptest.Agree(v[j], got[j], 1e-10) {
			t.Fatalf("point %d: value %g, with gradient %g", j, v[j], got[j])
		}
		gradients(one, gone, row)
		if !gptest.Agree(one[0], v[j], 1e-10) {
			t.Fatalf("point %d alone: %g, among others %g", j, one[0], v[j])
		}
		for k := range d {
			p := append(append([]float64(nil), row...), row...)
			p[k] += h
			p[d+k] -= h
			values(pair, p)
			// Central differences: truncation h^2 f''' and rounding 1e-13/h, about 1e-8.
			want := (pair[0] - pair[1]) / (2 * h)
			if math.Abs(g[j*d+k]-want) > 1e-6 || math.Abs(gone[k]-want) > 1e-6 {
				t.Fatalf("point %d: derivative by %d is %g, alone %g, by differences %g", j, k, g[j*d+k], gone[k], want)
			}
		}
	}
}

// Jensen's bound is nowhere below the objective, and it is what it says: computed here
// from the nodes one by one.
func TestJensenBound(t *testing.T) {
	bounded := 0
	for name, e := range expectCases(t) {
		if e.Surrogate() != search.UpperBound {
			continue
		}
		bounded++
		rng := rand.New(rand.NewPCG(5, 5))
		for range 20 {
			x := gptest.Point(rng, e.Dim())
			a, u := make([]float64, 1), make([]float64, 1)
			e.Values(a, x)
			e.SurrogateValues(u, x)
			want := 0.0
			for i, term := range e.terms {
				mean, square := 0.0, 0.0
				for q, w := range e.nodes.Weight {
					full := make([]float64, e.d)
					e.loadPair(full, x, &e.nodes, q)
					m, v := make([]float64, 1), make([]float64, 1)
					term.Process.Predict(m, v, full)
					mean += w * m[0]
					square += w * v[0]
				}
				only, err := New([]Term{{Process: term.Process, Mean: 1}}, e.in)
				if err != nil {
					t.Fatal(err)
				}
				only.Prepare()
				only.Values(a[:1:1], x)
				mean = a[0]
				want += term.Mean*mean + term.SD*math.Sqrt(square)
				_ = i
			}
			e.Values(a, x)
			if u[0] < a[0]-1e-9 || !gptest.Agree(u[0], want, 1e-9) {
				t.Errorf("%s at %v: bound %g, objective %g, want bound %g", name, x, u[0], a[0], want)
			}
		}
	}
	if bounded < 4 {
		t.Fatal(fmt.Sprint("only ", bounded, " bounded cases"))
	}
}

// After changes of the process, what Prepare keeps equals what it would make afresh.
func TestPrepareFollowsChanges(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, gptest.Lengthscales(3, 0.3)), 40, 1e-2, 8)
	in := Inputs{Controlled: []int{1}, Random: []quadrature.Marginal{gptest.PaperMarginal(), quadrature.Uniform(0, 1)}}
	terms := []Term{{Process: g, Mean: 1, SD: 2}}
	e, err := New(terms, in)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	x := gptest.Point(rng, 25)
	got, want := make([]float64, 25), make([]float64, 25)
	for i, change := range []func() error{
		func() error { return nil },
		func() error { return g.Replace(0, gptest.Point(rng, 3), 1, 0.01) },
		func() error { return g.Remove(17) },
		func() error { return g.Append(gptest.Point(rng, 3), -1, 0.01) },
		func() error { return g.SetNoise(5, 0.3) },
		func() error { return g.SetTarget(5, 2) },
		func() error { return g.SetKernel(kernels.SquaredExponential(2, gptest.Lengthscales(3, 0.2))) },
		func() error { return g.SetKernel(kernels.Matern52(2, gptest.Lengthscales(3, 0.2))) },
		func() error { return g.SetKernel(kernels.SquaredExponential(1, gptest.Lengthscales(3, 0.05))) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		fresh, err := New(terms, in)
		if err != nil {
			t.Fatal(err)
		}
		fresh.Prepare()
		e.Values(got, x)
		fresh.Values(want, x)
		if !gptest.SameBits(got, want) {
			t.Errorf("change %d: values differ", i)
		}
		e.SurrogateValues(got, x)
		fresh.SurrogateValues(want, x)
		if !gptest.SameBits(got, want) {
			t.Errorf("change %d: surrogates differ", i)
		}
	}
}
