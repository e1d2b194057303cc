package sim

import (
	"math"
	"testing"
)

// density returns d's density by its definition, normalised by the trapezoid rule.
func density(d dist) func(x float64) float64 {
	if d.kind == Uniform {
		return func(float64) float64 { return 1 }
	}
	raw := func(x float64) float64 { return math.Exp(-(x - d.mean) * (x - d.mean) / (2 * d.sd * d.sd)) }
	total := integrate(raw, 0, 1)
	return func(x float64) float64 { return raw(x) / total }
}

// integrate is the composite Simpson rule, fine enough for 1e-9 on what the tests
// ask of it.
func integrate(f func(float64) float64, a, b float64) float64 {
	const n = 4000
	sum, h := 0.0, (b-a)/n
	for i := 0; i <= n; i++ {
		weight := 2.0
		if i%2 == 1 {
			weight = 4
		}
		if i == 0 || i == n {
			weight = 1
		}
		sum += weight * f(a+float64(i)*h)
	}
	return sum * h / 3
}

var distributions = map[string]dist{
	"uniform":       {kind: Uniform},
	"central":       {kind: Normal, mean: 0.5, sd: 0.2},
	"narrow":        {kind: Normal, mean: 0.3, sd: 0.02},
	"wide":          {kind: Normal, mean: 0.7, sd: 5},
	"mean below":    {kind: Normal, mean: -0.4, sd: 0.15},
	"mean above":    {kind: Normal, mean: 1.4, sd: 0.15},
	"far tail":      {kind: Normal, mean: -2, sd: 0.2},
	"far the other": {kind: Normal, mean: 3, sd: 0.2},
}

func TestQuantileInvertsIntegral(t *testing.T) {
	for name, d := range distributions {
		p := density(d)
		for _, share := range []float64{0.001, 0.1, 0.5, 0.77, 0.999} {
			x := d.quantile(share)
			if got := integrate(p, 0, x); math.Abs(got-share) > 1e-8 {
				t.Errorf("%s: the integral up to quantile(%v) = %v is %v", name, share, x, got)
			}
		}
		if low, high := d.quantile(0), d.quantile(1); low < 0 || low > 1e-9 || high > 1 || high < 1-1e-9 {
			t.Errorf("%s: quantiles of 0 and 1 are %v and %v, want the ends of the range", name, low, high)
		}
	}
}

func TestQuantileBeyondPrecision(t *testing.T) {
	// A range 1000 standard deviations from the mean has no probability that a
	// float64 could hold; the nearest end is the limit.
	if x := (dist{kind: Normal, mean: 11, sd: 0.01}).quantile(0.5); x != 1 {
		t.Errorf("far above: %v, want 1", x)
	}
	if x := (dist{kind: Normal, mean: -10, sd: 0.01}).quantile(0.5); x != 0 {
		t.Errorf("far below: %v, want 0", x)
	}
}

func TestGaussianAverage(t *testing.T) {
	for name, d := range distributions {
		p := density(d)
		for _, centre := range []float64{-0.3, 0, 0.4, 0.9, 1.2} {
			for _, scale := range []float64{0.05, 0.15, 0.6} {
				want := integrate(func(x float64) float64 { return p(x) * gaussian(x, centre, scale) }, 0, 1)
				if got := d.gaussian(centre, scale); math.Abs(got-want) > 1e-8+1e-6*want {
					t.Errorf("%s: average of a Gaussian at %v of width %v is %v, by quadrature %v", name, centre, scale, got, want)
				}
			}
		}
	}
	point := dist{point: 0.3}
	if got, want := point.gaussian(0.5, 0.2), math.Exp(-0.5); math.Abs(got-want) > 1e-15 {
		t.Errorf("average over a point is %v, want %v", got, want)
	}
}

// TestHermiteRule: the rule integrates the moments of the standard normal
// distribution exactly up to degree 17.
func TestHermiteRule(t *testing.T) {
	want := 1.0
	for k := 0; k <= 17; k++ {
		sum := 0.0
		for _, node := range hermite {
			sum += node[1] * math.Pow(node[0], float64(k))
		}
		if k%2 == 1 {
			if math.Abs(sum) > 1e-9*want {
				t.Errorf("moment %d is %v, want 0", k, sum)
			}
			want *= float64(k) // (k)!! for the next even moment
			continue
		}
		if math.Abs(sum-want) > 1e-11*want {
			t.Errorf("moment %d is %v, want %v", k, sum, want)
		}
	}
}
