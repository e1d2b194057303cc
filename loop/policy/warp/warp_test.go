package warp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// There and back, slopes against differences, and growth, on both sides of the reference.
func TestLog(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		l := Log{Center: 10 * rng.NormFloat64(), Width: math.Exp(3 * rng.NormFloat64())}
		y := l.Center + l.Width*math.Copysign(math.Exp(3*rng.NormFloat64()), rng.NormFloat64())
		z, slope := l.Of(y)
		if back := l.Back(z); math.Abs(back-y) > 1e-9*(math.Abs(y)+math.Abs(l.Center)) {
			t.Errorf("seed %d: %+v: %g comes back as %g", seed, l, y, back)
		}
		h := 1e-3 * (math.Abs(y-l.Center) + l.Width) // not less: values near the reference are differences
		above, _ := l.Of(y + h)
		below, _ := l.Of(y - h)
		if d := (above - below) / (2 * h); math.Abs(d-slope) > 1e-4*slope && math.Abs(y-l.Center) > h || !(above > below) {
			t.Errorf("seed %d: %+v at %g: slope %g, differences say %g", seed, l, y, slope, d)
		}
		if at, one := l.Of(l.Center); at != l.Center || one != 1 {
			t.Errorf("seed %d: %+v moves its reference to %g with slope %g", seed, l, at, one)
		}
		if far := l.Back(math.Copysign(1e300, rng.NormFloat64())); math.IsNaN(far) || math.IsInf(far, 0) {
			t.Errorf("seed %d: %+v: far away is %g", seed, l, far)
		}
	}
	if z, slope := (Log{Width: 1e-9}).Of(-1e300); !(z < 0) || math.IsInf(z, 0) || !(slope*slope > 0) {
		t.Errorf("of the greatest readings: %g, slope %g", z, slope)
	}
	if z, slope := (Log{}).Of(3); z != 3 || slope != 1 || (Log{}).Back(3) != 3 || (Log{}).Spread(3, 0.5) != 0.5 {
		t.Errorf("none makes %g, %g of 3", z, slope)
	}
}

// Of a smooth function its exponential asks for a logarithm about the worst reading, minus the exponential about the
// best one, wherever zero is; itself asks for nothing, nor do equal values and few.
func TestChoose(t *testing.T) {
	const seed, n = 2, 40
	rng := rand.New(rand.NewPCG(seed, 0))
	x, smooth := make([]float64, 2*n), make([]float64, n)
	for k := range smooth {
		x[2*k], x[2*k+1] = rng.Float64(), rng.Float64()
		smooth[k] = 6 + 2*math.Sin(4*x[2*k]) + 2*math.Cos(3*x[2*k+1]) + 0.01*rng.NormFloat64()
	}
	const none, worst, best = 0, 1, 2
	for _, c := range []struct {
		name string
		of   func(v float64) float64
		want int
	}{
		{"itself", func(v float64) float64 { return v }, none},
		{"exponential", math.Exp, worst},
		{"minus the exponential", func(v float64) float64 { return -math.Exp(v) }, best},
		{"both signs", func(v float64) float64 { return 400 - math.Exp(v) }, best},
		{"far from zero", func(v float64) float64 { return 1e5 + math.Exp(v) }, worst},
		{"equal", func(float64) float64 { return 3 }, none},
		{"huge", func(v float64) float64 { return 1e300 * v }, none},
		{"huge, minus the exponential", func(v float64) float64 { return -1e300 * math.Exp(v) }, best},
		{"at one end of a sensor's range", func(v float64) float64 { return max(v, 6) }, none},
		{"two values", func(v float64) float64 { return math.Copysign(1, v-6) }, none},
		{"differences that are no numbers", func(v float64) float64 { return math.Copysign(1.7e308, v-6) }, none},
	} {
		y := make([]float64, n)
		for k := range y {
			y[k] = c.of(smooth[k])
		}
		got, err := Choose(x, y, 2)
		is := none
		switch {
		case got.Acts() && got.Center == slices.Max(y):
			is = best
		case got.Acts():
			is = worst
		}
		if err != nil || is != c.want {
			t.Errorf("seed %d, %s: %+v (%v), want %d", seed, c.name, got, err, c.want)
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

// A search has looked closely at the optimum. Noise that is the same everywhere leaves no logarithm that is narrow beside
// it; noise of the logarithms, which shrinks towards the optimum, does.
func TestChooseIsWiderThanTheNoise(t *testing.T) {
	const n, sd = 40, 1.0
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 3))
		x, even, shrinking := make([]float64, 2*n), make([]float64, n), make([]float64, n)
		for k := range even {
			u, v := rng.Float64()-0.4, rng.Float64()-0.6
			if k%2 == 1 {
				u, v = 0.02*rng.NormFloat64(), 0.02*rng.NormFloat64()
			}
			x[2*k], x[2*k+1] = 0.4+u, 0.6+v
			square := u*u + v*v
			even[k], shrinking[k] = -2e4*square*square+sd*rng.NormFloat64(), -300*square*math.Exp(0.1*rng.NormFloat64())
		}
		wide, err := Choose(x, even, 2)
		if err != nil || wide.Acts() && wide.Width < 5*sd { // the standard deviation is known to a factor
			t.Errorf("seed %d: %+v (%v), and the noise's standard deviation is %g", seed, wide, err, sd)
		}
		if narrow, err := Choose(x, shrinking, 2); err != nil || !narrow.Acts() || narrow.Width >= 10*sd {
			t.Errorf("seed %d: %+v (%v) where the noise shrinks", seed, narrow, err)
		}
	}
}

// A search has measured the smooth top of a hill again and again, without noise: each reading there is known more precisely than
// the last. That alone asks for no logarithm that is narrow beside the hill.
func TestChooseOfASmoothTop(t *testing.T) {
	const n = 60
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 4))
		x, y := make([]float64, 2*n), make([]float64, n)
		for k := range y {
			u, v := rng.Float64()-0.4, rng.Float64()-0.6
			if k >= 20 {
				u, v = math.Pow(10, -2-float64(k)/20)*rng.NormFloat64(), math.Pow(10, -2-float64(k)/20)*rng.NormFloat64()
			}
			x[2*k], x[2*k+1], y[k] = 0.4+u, 0.6+v, 70*math.Exp(-(u*u+v*v)/(2*0.25*0.25))
		}
		if l, err := Choose(x, y, 2); err != nil || l.Acts() && l.Width < 0.1 {
			t.Errorf("seed %d: %+v (%v) of a hill of 70", seed, l, err)
		}
	}
}
