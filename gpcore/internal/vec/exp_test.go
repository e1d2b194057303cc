package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

const prec = 200 // bits of the reference

func exact(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// ln2 is the logarithm of two to the precision of the reference.
var ln2 = func() *big.Float {
	v, _, err := big.ParseFloat("0.69314718055994530941723212145817656807550013436025525412068000949339362196969472", 10, prec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return v
}()

// powerULPs is the distance of got from 2^(f+r/ln 2), 0 <= r < ln 2, in units in
// the last place, by a Taylor series.
func powerULPs(got float64, f int, r *big.Float) float64 {
	sum, term := exact(1), exact(1)
	for i := 1; i < 60; i++ {
		term.Mul(term, r)
		term.Quo(term, exact(float64(i)))
		sum.Add(sum, term)
	}
	sum.SetMantExp(sum, f)
	d := exact(got)
	v, _ := d.Sub(d, sum).Float64()
	return math.Abs(v) / math.Ldexp(1, f-52)
}

// exp2ULPs and expULPs are the errors of values of 2^x and e^x.
func exp2ULPs(got, x float64) float64 {
	f := math.Floor(x)
	r := exact(x - f)
	return powerULPs(got, int(f), r.Mul(r, ln2))
}

func expULPs(got, x float64) float64 {
	f := math.Floor(x / math.Ln2)
	r, whole := exact(x), exact(f)
	r.Sub(r, whole.Mul(whole, ln2))
	if r.Sign() < 0 { // x/ln 2 was rounded up to an integer
		f, r = f-1, r.Add(r, ln2)
	}
	return powerULPs(got, int(f), r)
}

func TestExponentialsAreAccurate(t *testing.T) {
	const seed = 5
	for _, c := range []struct {
		name  string
		limit float64
		f     func(float64) float64
		ulps  func(got, x float64) float64
	}{
		{"Exp2", exp2Limit, Exp2, exp2ULPs},
		{"Exp", expLimit, Exp, expULPs},
	} {
		rng := rand.New(rand.NewPCG(seed, seed))
		worst, at := 0.0, 0.0
		try := func(x float64) {
			if e := c.ulps(c.f(x), x); e > worst {
				worst, at = e, x
			}
		}
		for range testsize.Of(1000, 4000) {
			try(-60 * rng.Float64())
			try(c.limit * (2*rng.Float64() - 1))
			try(rng.NormFloat64())
			try(-rng.ExpFloat64() * 1e-3)
			// close to where the nearest integer changes
			half := float64(rng.IntN(1800)-900) + 0.5
			if c.name == "Exp" {
				half *= math.Ln2
			}
			try(half * (1 + float64(rng.IntN(9)-4)*0x1p-52))
		}
		for _, x := range []float64{0, 5e-324, -5e-324, 0x1p-1022, 0x1p-54, -0x1p-53, c.limit, -c.limit} {
			try(x)
		}
		t.Logf("%s: largest error %.3f ulp, at %g", c.name, worst, at)
		// One rounding of a Horner chain whose last step adds 1 to at most 0.42, in
		// units that are half as large below one.
		if worst > 1 {
			t.Errorf("%s(%g) is off by %.3f ulp, want at most 1", c.name, at, worst)
		}
	}
}

// The vector code takes the same path: variance one, one coordinate, whose square
// is the exponent.
func TestGaussianPanelIsAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, tier := range Tiers() {
		restore := Use(tier)
		worst := 0.0
		for range 100 {
			p := &Pairs{Rows: []float64{0}, Lanes: make([]float64, Lanes), N: 1, D: 1, Variance: 1, Out: make([]float64, Lanes)}
			for j := range p.Lanes {
				p.Lanes[j] = float64(float32(30 * rng.Float64())) // the square is exact
			}
			Gaussian(p)
			for j, v := range p.Lanes {
				worst = max(worst, exp2ULPs(p.Out[j], -v*v))
			}
		}
		t.Logf("%v: largest error %.3f ulp", tier, worst)
		if worst > 1 {
			t.Errorf("%v: largest error %.3f ulp, want at most 1", tier, worst)
		}
		restore()
	}
}

func TestExponentialsOutsideTheirRange(t *testing.T) {
	inf := math.Inf(1)
	for _, x := range []float64{1000.5, 1e300, math.MaxFloat64, inf} {
		if got := Exp2(x); got != 0x1p1000 {
			t.Errorf("Exp2(%g) = %g, want 2^1000", x, got)
		}
		if got := Exp2(-x); got != 0x1p-1000 {
			t.Errorf("Exp2(%g) = %g, want 2^-1000", -x, got)
		}
		if got, want := Exp(x), Exp(expLimit); got != want {
			t.Errorf("Exp(%g) = %g, want %g", x, got, want)
		}
		if got, want := Exp(-x), Exp(-expLimit); got != want {
			t.Errorf("Exp(%g) = %g, want %g", -x, got, want)
		}
	}
	for x, want := range map[float64]float64{0: 1, 1: 2, -3: 0.125} {
		if got := Exp2(x); got != want {
			t.Errorf("Exp2(%g) = %g, want %g", x, got, want)
		}
	}
	if nan := math.NaN(); !math.IsNaN(Exp2(nan)) || !math.IsNaN(Exp(nan)) {
		t.Error("the exponential of NaN is a number")
	}
}
