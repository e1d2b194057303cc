package sampling

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// moments collects the mean and covariance of draws of m values.
type moments struct {
	n           float64
	sum, square []float64
}

func (s *moments) add(v []float64) {
	m := len(v)
	if s.sum == nil {
		s.sum, s.square = make([]float64, m), make([]float64, m*m)
	}
	s.n++
	for i, a := range v {
		s.sum[i] += a
		for j, b := range v {
			s.square[i*m+j] += a * b
		}
	}
}

// check compares with the exact posterior of g at x. A mean of n draws has standard
// error sd/sqrt(n), a covariance at most sqrt(2)*sd_i*sd_j/sqrt(n); five of them are
// allowed, plus slack for approximate draws.
func (s *moments) check(t *testing.T, g *gpcore.GP, x []float64, slack float64) {
	t.Helper()
	m, d := len(s.sum), g.Dim()
	mean, variance := make([]float64, m), make([]float64, m)
	g.Predict(mean, variance, x)
	for i := range m {
		view := g.Model().OwnView()
		view.Single(x[i*d:(i+1)*d], true)
		vi := append([]float64(nil), view.L[:g.Len()]...)
		mi := s.sum[i] / s.n
		if se := math.Sqrt(variance[i] / s.n); math.Abs(mi-mean[i]) > 5*se+slack+1e-6 {
			t.Errorf("mean %d of draws %g, want %g (SE %g)", i, mi, mean[i], se)
		}
		for j := range i + 1 {
			view.Single(x[j*d:(j+1)*d], true)
			c := g.Kernel().Cov(x[i*d:(i+1)*d], x[j*d:(j+1)*d])
			for k, v := range vi {
				c -= v * view.L[k]
			}
			got := s.square[i*m+j]/s.n - mi*s.sum[j]/s.n
			if se := math.Sqrt(2 * variance[i] * variance[j] / s.n); math.Abs(got-c) > 5*se+slack+1e-6 {
				t.Errorf("covariance %d,%d of draws %g, want %g (SE %g)", i, j, got, c, se)
			}
		}
	}
}

// samplingProblem is a process with data at the first 12 of 40 points.
func samplingProblem(t *testing.T, k kernels.Kernel, noise float64) (g *gpcore.GP, x []float64, at []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(51, 52))
	g = gpcore.New(k, 12)
	for i := range 40 {
		x = append(x, gptest.Point(rng, k.Dim())...)
		if i < 12 {
			if err := g.Append(x[len(x)-k.Dim():], rng.NormFloat64(), noise); err != nil {
				t.Fatal(err)
			}
			at = append(at, i)
		}
	}
	return g, x, at
}

func TestJointDraws(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g, x, at := samplingProblem(t, k, 0.3)
		some := x[8*3 : 16*3]
		j, err := NewJoint(g, some)
		if err != nil || j.Len() != 8 {
			t.Fatal(err)
		}
		f, err := NewFinite(k, x)
		if err != nil {
			t.Fatal(err)
		}
		var joint, finite moments
		v, all := make([]float64, 8), make([]float64, 40)
		for range 4000 {
			j.Draw(rng, v)
			joint.add(v)
			if err := f.Draw(rng, all, g, at); err != nil {
				t.Fatal(err)
			}
			finite.add(all[8:16])
		}
		joint.check(t, g, some, 0)
		finite.check(t, g, some, 0)
	})
}

// Many points closer than rounding can tell apart: draws are finite and smooth.
func TestJointOfNearlyDeterminedPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	g := gpcore.New(kernels.SquaredExponential(1, []float64{1}), 3)
	_ = g.Append([]float64{0.5}, 1, 1e-10)
	x, v := make([]float64, 300), make([]float64, 300)
	for i := range x {
		x[i] = float64(i) / 300
	}
	for range 5 {
		if err := DrawJoint(g, rng, v, x); err != nil {
			t.Fatal(err)
		}
		if math.Abs(v[150]-1) > 1e-3 {
			t.Errorf("draw misses the datum: %g", v[150])
		}
		for i := 1; i < len(v); i++ {
			// One step is 1/300 lengthscale; slopes are of order one.
			if !(math.Abs(v[i]-v[i-1]) < 0.05) {
				t.Fatalf("jump from %g to %g", v[i-1], v[i])
			}
		}
	}
	f, err := NewFinite(g.Kernel(), x)
	if err != nil {
		t.Fatal(err)
	}
	if f.rank > 20 {
		t.Errorf("rank %d of a smooth prior", f.rank)
	}
}

// The average over features of amplitude(x)*amplitude(y)*cos(omega.(x-y)) is the
// kernel: checked within five standard errors of that average.
func TestWavesHaveTheKernel(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g := gpcore.New(k, 1)
		const features = 24000 // a multiple of every number of strata here
		p, err := NewPath(g, rng, features)
		if _, ok := k.(gptest.CustomKernel); ok || err != nil {
			if !errors.Is(err, ErrNoSpectrum) {
				t.Fatal(err)
			}
			return
		}
		ex, ey := make([]float64, p.eval.Width), make([]float64, p.eval.Width)
		for range 5 {
			x, y := gptest.Point(rng, 3), gptest.Point(rng, 3)
			p.eval.Embed(ex, x)
			p.eval.Embed(ey, y)
			sum, square := 0.0, 0.0
			for i := range p.features {
				w := &p.features[i]
				a, phase := w.Amplitude*w.Amplitude*features, 0.0
				for _, q := range w.Linear {
					a *= ex[q] * ey[q]
				}
				for q, o := range w.Omega {
					phase += o * (ex[q] - ey[q])
				}
				c := a * math.Cos(phase)
				sum, square = sum+c, square+c*c
			}
			mean := sum / features
			se := math.Sqrt((square/features - mean*mean) / features)
			if want := k.Cov(x, y); math.Abs(mean-want) > 5*se+1e-12 {
				t.Errorf("covariance of the features %g, want %g (SE %g)", mean, want, se)
			}
		}
	})
}

func TestPaths(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g, x, _ := samplingProblem(t, k, 0.3)
		some := x[9*3 : 14*3]
		var m moments
		v := make([]float64, 5)
		for range 1500 {
			p, err := NewPath(g, rng, 96)
			if errors.Is(err, ErrNoSpectrum) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p.Values(v, some)
			m.add(v)
		}
		// With w independent between draws the covariance is unbiased, so no slack.
		m.check(t, g, some, 0)
		p, _ := NewPath(g, rng, 96)
		grad := make([]float64, 3)
		var one [1]float64
		for range 10 {
			at := gptest.Point(rng, 3)
			var value [1]float64
			p.Gradients(value[:], grad, at)
			p.Values(one[:], at)
			if value != one {
				t.Fatalf("value %g, want %g", value, one)
			}
			for i := range grad {
				const h = 1e-6
				x := at[i]
				at[i] = x + h
				p.Values(one[:], at)
				up := one[0]
				at[i] = x - h
				p.Values(one[:], at)
				at[i] = x
				// Exponential kernels have features of any frequency; hence the loose bound.
				if want := (up - one[0]) / (2 * h); !gptest.Agree(grad[i], want, 1e-3) {
					t.Fatalf("derivative %g, want %g", grad[i], want)
				}
			}
		}
	})
}

// The derivatives at many points are those at each alone, to the last bit.
func TestGradientsOfManyPoints(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g, _, _ := samplingProblem(t, k, 0.3)
		p, err := NewPath(g, rng, 50)
		if errors.Is(err, ErrNoSpectrum) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		const points = 30
		x := make([]float64, 0, 3*points)
		for range points {
			x = append(x, gptest.Point(rng, 3)...)
		}
		value, grad := make([]float64, points), make([]float64, 3*points)
		p.Gradients(value, grad, x)
		for j := range points {
			one, slope := make([]float64, 1), make([]float64, 3)
			p.Gradients(one, slope, x[3*j:3*j+3])
			if !gptest.SameBits(one, value[j:j+1]) || !gptest.SameBits(slope, grad[3*j:3*j+3]) {
				t.Fatalf("point %d: %g %g alone, %g %g among others", j, one, slope, value[j], grad[3*j:3*j+3])
			}
		}
	})
}

// Without noise every path goes through the data, and a path is not changed by
// what happens to the process.
func TestPathsInterpolate(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	g, x, at := samplingProblem(t, kernels.Matern52(1, []float64{0.3, 0.3, 0.3}), 1e-12)
	p, err := NewPath(g, rng, 200)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 12)
	p.Values(v, x[:36])
	for i := range v {
		// Noise of 1e-6 and weights of up to 1e3 in v.
		if math.Abs(v[i]-g.Target(i)) > 1e-4 {
			t.Errorf("path gives %g at a datum of %g", v[i], g.Target(i))
		}
	}
	w := make([]float64, 12)
	_ = g.Remove(3)
	_ = g.SetKernel(kernels.Matern32(2, []float64{1, 1, 1}))
	p.Values(w, x[:36])
	for i := range v {
		if v[i] != w[i] {
			t.Fatal("a path changed with the process")
		}
	}
	f, _ := NewFinite(g.Kernel(), x)
	if err := f.Draw(rng, make([]float64, 40), g, at); err != gpcore.ErrShape {
		t.Error("observations that are not the candidates named were accepted")
	}
	if _, err := NewJoint(g, []float64{1, math.NaN(), 1}); err == nil {
		t.Error("NaN was accepted")
	}
}

// TestPathSumsItsWaves: the values of a path, which sums its features at 24 points at once, are those
// of the features one by one, to the last bit, for kernels with and without linear factors.
func TestPathSumsItsWaves(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 5))
	for _, k := range []kernels.Kernel{
		kernels.Matern52(1, gptest.Lengthscales(3, 0.3)), kernels.SquaredExponential(1, gptest.Lengthscales(3, 0.3)), kernels.Linear([]float64{1, 1, 1}),
	} {
		p, err := NewPath(gptest.ClusteredGP(t, k, 30, 1e-2, 1), rng, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 24, 31} {
			x, got := gptest.Point(rng, 3*n), make([]float64, n)
			p.Values(got, x)
			for j := range got {
				p.load(x[3*j:], 1)
				p.eval.Fill(&p.job)
				if want := p.sum[0] + p.prior(p.point); got[j] != want {
					t.Fatalf("seed 19, %T, point %d of %d: %g, want %g", k, j, n, got[j], want)
				}
			}
		}
	}
}
