package warp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// There and back, slopes against differences, and growth, for values of either sign.
func TestPower(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		p := Power{exponents[rng.IntN(len(exponents))], math.Copysign(math.Exp(3*rng.NormFloat64()), rng.NormFloat64())}
		y := p.Reference * math.Exp(2*rng.NormFloat64())
		z, slope := p.Of(y)
		if back := p.Back(z); math.Abs(back-y) > 1e-9*math.Abs(y) {
			t.Errorf("seed %d: %+v: %g comes back as %g", seed, p, y, back)
		}
		h := 1e-5 * math.Abs(y)
		above, _ := p.Of(y + h)
		below, _ := p.Of(y - h)
		if d := (above - below) / (2 * h); math.Abs(d-slope) > 1e-5*slope || !(above > below) {
			t.Errorf("seed %d: %+v at %g: slope %g, differences say %g", seed, p, y, slope, d)
		}
		if p.Takes(-y) == p.Acts() {
			t.Errorf("seed %d: %+v takes %g: %v", seed, p, -y, p.Takes(-y))
		}
		if at, one := p.Of(p.Reference); math.Abs(at-p.Reference) > 1e-12*math.Abs(at) || math.Abs(one-1) > 1e-12 {
			t.Errorf("seed %d: %+v moves its reference to %g with slope %g", seed, p, at, one)
		}
		if far := p.Back(math.Copysign(1e300, rng.NormFloat64())); math.IsNaN(far) || p.Exponent == 0 && math.IsInf(far, 0) {
			t.Errorf("seed %d: %+v: far away is %g", seed, p, far)
		}
	}
}

// Of a smooth function its exponential asks for the logarithm, its square for the root, the former with the sign
// turned too; itself for nothing, nor do values of both signs, equal ones and few.
func TestChoose(t *testing.T) {
	const seed, n = 2, 40
	rng := rand.New(rand.NewPCG(seed, 0))
	x, smooth := make([]float64, 2*n), make([]float64, n)
	for k := range smooth {
		x[2*k], x[2*k+1] = rng.Float64(), rng.Float64()
		smooth[k] = 6 + 2*math.Sin(4*x[2*k]) + 2*math.Cos(3*x[2*k+1]) + 0.01*rng.NormFloat64()
	}
	for _, c := range []struct {
		name string
		of   func(v float64) float64
		want float64
	}{
		{"itself", func(v float64) float64 { return v }, 1},
		{"exponential", math.Exp, 0},
		{"minus the exponential", func(v float64) float64 { return -math.Exp(v) }, 0},
		{"square", func(v float64) float64 { return v * v }, 0.5},
		{"both signs", func(v float64) float64 { return math.Exp(v) - 400 }, 1},
		{"zero among them", func(v float64) float64 { return max(math.Exp(v)-400, 0) }, 1},
		{"equal", func(float64) float64 { return 3 }, 1},
		{"huge", func(v float64) float64 { return 1e300 * v }, 1},
	} {
		y := make([]float64, n)
		for k := range y {
			y[k] = c.of(smooth[k])
		}
		got, err := Choose(x, y, 2)
		if err != nil || got.Exponent != c.want {
			t.Errorf("seed %d, %s: exponent %g (%v), want %g", seed, c.name, got.Exponent, err, c.want)
		}
	}
	if got, err := Choose(x[:4], []float64{1, 1000}, 2); err != nil || got.Acts() {
		t.Errorf("two readings: %+v (%v)", got, err)
	}
}

// What only noise tells asks for nothing: in at most one of a hundred draws.
func TestChooseOfNoise(t *testing.T) {
	wrong := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x, y := make([]float64, 2*16), make([]float64, 16)
		for k := range y {
			x[2*k], x[2*k+1], y[k] = rng.Float64(), rng.Float64(), 5+rng.NormFloat64()
		}
		if p, err := Choose(x, y, 2); err != nil || p.Acts() {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 100 draws of nothing but noise were transformed", wrong)
	}
}
