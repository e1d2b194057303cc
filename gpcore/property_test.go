package gpcore_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/scripts/testsize"
)

// plain is the list of observations that a process must be equivalent to.
type plain struct {
	x        [][]float64
	y, noise []float64
}

// machine drives a process and its plain list through the same random operations.
type machine struct {
	g       *gpcore.GP
	m       plain
	kernels []kernels.Kernel // of one dimension
	noise   *rapid.Generator[float64]
	slack   float64
	vouched bool // noises are such that no covariance matrix may be refused
}

func (s *machine) drawPoint(t *rapid.T) []float64 {
	x := make([]float64, s.g.Dim())
	for i := range x {
		x[i] = rapid.Float64Range(0, 1).Draw(t, "x")
	}
	if n := len(s.m.x); n > 0 {
		switch rapid.IntRange(0, 4).Draw(t, "where") {
		case 0: // a duplicate
			copy(x, s.m.x[rapid.IntRange(0, n-1).Draw(t, "of")])
		case 1: // a near-duplicate
			copy(x, s.m.x[rapid.IntRange(0, n-1).Draw(t, "of")])
			x[0] += 1e-12
		}
	}
	return x
}

func drawTarget(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0, 1, 1, -0.5, 0.25, 3}).Draw(t, "y")
}

// do applies an operation; if it fails, nothing may have changed and the reason
// must be one that the documentation allows for finite input.
func (s *machine) do(t *rapid.T, op func() error, apply func()) {
	before := snapshot(s.g)
	switch err := op(); {
	case err == nil:
		apply()
	case errors.Is(err, gpcore.ErrNotPositiveDefinite) && !s.vouched,
		errors.Is(err, gpcore.ErrFull) && s.g.Len() == s.g.Cap(), errors.Is(err, gpcore.ErrIndex) && s.g.Len() == 0:
		if !gptest.SameBits(before, snapshot(s.g)) {
			t.Fatalf("%v changed the process", err)
		}
	default:
		t.Fatal(err)
	}
}

func (s *machine) index(t *rapid.T) int { return rapid.IntRange(0, max(len(s.m.y)-1, 0)).Draw(t, "i") }

func (m *plain) remove(i int) {
	m.x, m.y, m.noise = slices.Delete(m.x, i, i+1), slices.Delete(m.y, i, i+1), slices.Delete(m.noise, i, i+1)
}

func (m *plain) append(x []float64, y, noise float64) {
	m.x, m.y, m.noise = append(m.x, slices.Clone(x)), append(m.y, y), append(m.noise, noise)
}

func (s *machine) Append(t *rapid.T) {
	x, y, v := s.drawPoint(t), drawTarget(t), s.noise.Draw(t, "noise")
	s.do(t, func() error { return s.g.Append(x, y, v) }, func() { s.m.append(x, y, v) })
}

func (s *machine) Remove(t *rapid.T) {
	i := s.index(t)
	s.do(t, func() error { return s.g.Remove(i) }, func() { s.m.remove(i) })
}

func (s *machine) Replace(t *rapid.T) {
	i, x, y, v := s.index(t), s.drawPoint(t), drawTarget(t), s.noise.Draw(t, "noise")
	s.do(t, func() error { return s.g.Replace(i, x, y, v) }, func() { s.m.remove(i); s.m.append(x, y, v) })
}

func (s *machine) SetNoise(t *rapid.T) {
	i, v := s.index(t), s.noise.Draw(t, "noise")
	s.do(t, func() error { return s.g.SetNoise(i, v) }, func() { s.m.noise[i] = v })
}

func (s *machine) SetTarget(t *rapid.T) {
	i, y := s.index(t), drawTarget(t)
	s.do(t, func() error { return s.g.SetTarget(i, y) }, func() { s.m.y[i] = y })
}

func (s *machine) SetTargets(t *rapid.T) {
	y := make([]float64, len(s.m.y))
	for i := range y {
		y[i] = drawTarget(t)
	}
	s.do(t, func() error { return s.g.SetTargets(y) }, func() { copy(s.m.y, y) })
}

func (s *machine) drawNoises(t *rapid.T, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = s.noise.Draw(t, "noise")
	}
	return v
}

// Refactorise does one of what refactorises at once.
func (s *machine) Refactorise(t *rapid.T) {
	[]func(*rapid.T){s.SetNoises, s.SetKernel, s.Load}[rapid.IntRange(0, 2).Draw(t, "which")](t)
}

func (s *machine) SetNoises(t *rapid.T) {
	v := s.drawNoises(t, len(s.m.y))
	s.do(t, func() error { return s.g.SetNoises(v) }, func() { copy(s.m.noise, v) })
}

func (s *machine) SetKernel(t *rapid.T) {
	k := rapid.SampledFrom(s.kernels).Draw(t, "kernel")
	s.do(t, func() error { return s.g.SetKernel(k) }, func() {
		if s.g.Kernel() != k {
			t.Fatal("another kernel than the one set")
		}
	})
}

func (s *machine) Load(t *rapid.T) {
	n := rapid.IntRange(0, s.g.Cap()).Draw(t, "n")
	m := plain{noise: s.drawNoises(t, n)}
	var flat []float64
	for range n {
		x := s.drawPoint(t)
		m.x, m.y, flat = append(m.x, x), append(m.y, drawTarget(t)), append(flat, x...)
	}
	s.do(t, func() error { return s.g.Load(flat, m.y, m.noise) }, func() { s.m = m })
}

func (s *machine) Check(t *rapid.T) {
	n := len(s.m.y)
	if s.g.Len() != n {
		t.Fatalf("Len is %d, want %d", s.g.Len(), n)
	}
	for i := range n {
		if !slices.Equal(s.g.X(i), s.m.x[i]) || s.g.Target(i) != s.m.y[i] || s.g.NoiseVariance(i) != s.m.noise[i] {
			t.Fatalf("observation %d is not the one put there", i)
		}
	}
	for _, v := range snapshot(s.g) {
		if !check.IsFinite(v) {
			t.Fatal("not finite")
		}
	}
	checkPadding(t, s.g.Model().Factor)
	var x []float64
	for i := range min(n, 3) {
		x = append(x, s.m.x[n-1-i]...)
	}
	for i := range 3 * s.g.Dim() {
		x = append(x, 0.1+0.17*float64(i))
	}
	m := len(x) / s.g.Dim()
	mean, variance := make([]float64, m), make([]float64, m)
	s.g.Predict(mean, variance, x)
	o := newOracle(s.g)
	if o == nil {
		// Without noise the covariances, rounded to float64, need not be positive
		// definite although every pivot was: there is nothing to compare with.
		if slices.Min(s.m.noise) > 0 {
			t.Fatal("positive noise, and not positive definite")
		}
		return
	}
	wantMean, wantVariance := o.predict(s.g, x)
	for j := range m {
		// An error d in every element of K changes the mean by u^T d alpha and the
		// variance by u^T d u, with u = K^-1 k. A well-conditioned factorisation has d
		// near n*epsilon; slack is what nearly singular states leave behind.
		u, alpha := s.weights(x[j*s.g.Dim() : (j+1)*s.g.Dim()])
		d := s.slack * float64(n+1) * 0x1p-52
		if math.Abs(variance[j]-wantVariance[j]) > d*(1+u)*(1+u) {
			t.Fatalf("variance %d of %d: %g, want %g (|u| %g)", j, m, variance[j], wantVariance[j], u)
		}
		if math.Abs(mean[j]-wantMean[j]) > d*(1+u)*(1+alpha) {
			t.Fatalf("mean %d of %d: %g, want %g (|u| %g, |alpha| %g)", j, m, mean[j], wantMean[j], u, alpha)
		}
	}
}

// weights are the sums of absolute values of K^-1 k(x) and of K^-1 y.
func (s *machine) weights(x []float64) (u, alpha float64) {
	g := s.g
	view, solved := g.Model().OwnView(), make([]float64, vec.Up24(g.Cap()))
	view.Sync()
	view.Single(x, false)
	g.Model().Factor.Solve(view.K, view.L, solved)
	for i := range g.Len() {
		u += math.Abs(solved[i])
		alpha += math.Abs(g.Model().Factor.Alpha[i])
	}
	return u, alpha
}

// Any sequence of operations is equivalent to the factorisation of what is left,
// in 160 bits; a failing one changes nothing.
func TestAnySequence(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); !testsize.Whole() && f.Value.String() == f.DefValue { // the flag has the last word
		if err := f.Value.Set("30"); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(f.DefValue)
	}
	for _, c := range []struct {
		name    string
		noise   *rapid.Generator[float64]
		slack   float64
		vouched bool
	}{
		{"moderate", rapid.Float64Range(1e-4, 1), 500, true},
		{"tiny", rapid.SampledFrom([]float64{1e-12, 1e-10, 1e-8}), 1e5, false},
		{"none", rapid.SampledFrom([]float64{0, 0.01}), 1e6, false},
		{"24 decades", rapid.SampledFrom([]float64{1e-12, 1e-6, 1, 1e6, 1e12}), 1e5, false},
	} {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			d := rapid.IntRange(1, 2).Draw(t, "d")
			capacity := rapid.SampledFrom([]int{1, 2, 9, 26}).Draw(t, "capacity")
			l := []float64{0.3, 0.5}[:d]
			kernels := []kernels.Kernel{kernels.SquaredExponential(1, l), kernels.Matern52(1, l)}
			k := rapid.SampledFrom(kernels).Draw(t, "kernel")
			s := &machine{g: gpcore.New(k, capacity), kernels: kernels, noise: c.noise, slack: c.slack, vouched: c.vouched}
			t.Repeat(map[string]func(*rapid.T){
				"": s.Check, "append": s.Append, "append again": s.Append, "remove": s.Remove, "replace": s.Replace,
				"noise": s.SetNoise, "target": s.SetTarget, "targets": s.SetTargets,
				"refactorise": s.Refactorise,
			})
		}))
	}
}

func TestBadValuesAreNamed(t *testing.T) {
	k := kernels.SquaredExponential(1, []float64{1, 1})
	nan, inf := math.NaN(), math.Inf(1)
	g := gpcore.New(k, 4)
	for i := range 3 {
		if err := g.Append([]float64{float64(i), 0}, 1, 0.1); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(g)
	for i, c := range []struct {
		err  error
		want string
	}{
		{g.Append([]float64{0, nan}, 1, 1), "gpcore: x[1] = NaN must be finite"},
		{g.Append([]float64{inf, 0}, 1, 1), "gpcore: x[0] = +Inf must be finite"},
		{g.Append([]float64{0, 0}, nan, 1), "gpcore: y[0] = NaN must be finite"},
		{g.Append([]float64{0, 0}, 1, -1), "gpcore: noise variance[0] = -1 must be finite and not negative"},
		{g.Replace(1, []float64{0, 0}, 1, inf), "gpcore: noise variance[0] = +Inf must be finite and not negative"},
		{g.SetTarget(2, nan), "gpcore: y[2] = NaN must be finite"},
		{g.SetTarget(2, -2e100), "gpcore: y[2] = -2e+100 must be within 1e+100 of zero"},
		{g.Append([]float64{0, 0}, 1e101, 1), "gpcore: y[0] = 1e+101 must be within 1e+100 of zero"},
		{g.SetNoise(1, 1e301), "gpcore: noise variance[1] = 1e+301 must be at most 1e+300"},
		{g.SetTargets([]float64{1, inf, 1}), "gpcore: y[1] = +Inf must be finite"},
		{g.SetNoise(1, nan), "gpcore: noise variance[1] = NaN must be finite and not negative"},
		{g.SetNoises([]float64{1, 1, -2}), "gpcore: noise variance[2] = -2 must be finite and not negative"},
		{g.Load([]float64{1, 2, nan, 4}, []float64{1, 2}, []float64{1, 1}), "gpcore: x[2] = NaN must be finite"},
		{g.Load([]float64{1, 2}, []float64{1, 2}, []float64{1, 1}), gpcore.ErrShape.Error()},
		{g.Load(make([]float64, 10), make([]float64, 5), make([]float64, 5)), gpcore.ErrFull.Error()},
		{g.SetTargets([]float64{1}), gpcore.ErrShape.Error()},
		{g.Remove(3), gpcore.ErrIndex.Error()},
		{g.Remove(-1), gpcore.ErrIndex.Error()},
		{g.Replace(3, []float64{0, 0}, 1, 1), gpcore.ErrIndex.Error()},
		{g.SetKernel(kernels.SquaredExponential(1, []float64{1})), gpcore.ErrShape.Error()},
	} {
		if fmt.Sprint(c.err) != c.want {
			t.Errorf("case %d: %q, want %q", i, c.err, c.want)
		}
	}
	if !gptest.SameBits(before, snapshot(g)) {
		t.Error("a refused value changed the process")
	}
	// A kernel that overflows is refused as well.
	lin := gpcore.New(kernels.Linear([]float64{1e200}), 3)
	if err := lin.Append([]float64{1e80}, 1, 1); err == nil {
		t.Error("an infinite covariance was accepted")
	}
}
