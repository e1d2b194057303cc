package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Over many batches of k normal shots, the log link's target is unbiased for log
// variance and has the sampling variance that it claims, within five standard
// errors.
func TestLogLinkIsExact(t *testing.T) {
	const n, seed, sd = 40000, 3, 0.7
	for _, k := range []int{2, 3, 10} {
		rng := rand.New(rand.NewPCG(seed, uint64(k)))
		sum, square, claimed := 0.0, 0.0, 0.0
		truth := math.Log(sd * sd)
		for range n {
			s2 := variance(k, sd, rng)
			y, v := (logLink{floor: 1e-300}).target(s2, k)
			sum += y - truth
			square += (y - truth) * (y - truth)
			claimed = v
		}
		if z := sum / n / math.Sqrt(claimed/n); math.Abs(z) > 5 {
			t.Errorf("seed %d, %d shots: biased by %.1f standard errors", seed, k, z)
		}
		// The kurtosis of log chi-squared with one degree of freedom is 7, so the
		// relative standard error of the variance is at most sqrt(6/n).
		if ratio := square / n / claimed; math.Abs(ratio-1) > 5*math.Sqrt(6.0/n) {
			t.Errorf("seed %d, %d shots: variance %.4f of what is claimed", seed, k, ratio)
		}
	}
}

func TestLinkBoundsAreNotNegative(t *testing.T) {
	for _, l := range []link{logLink{floor: 1e-6}, rawLink{center: 1, scale: 2}} {
		for v := -50.0; v < 20; v += 0.37 {
			value, slope := l.variance(v)
			if value < 0 || slope < 0 {
				t.Errorf("%T at %g: variance %g, slope %g", l, v, value, slope)
			}
			up, _ := l.variance(v + 1e-6)
			down, _ := l.variance(v - 1e-6)
			if want := (up - down) / 2e-6; math.Abs(v+0.5) > 1e-3 && math.Abs(slope-want) > 1e-5*(1+want) {
				t.Errorf("%T at %g: slope %g, want %g", l, v, slope, want)
			}
		}
	}
	if y, _ := (logLink{floor: 1e-6}).target(0, 10); math.IsInf(y, 0) || math.IsNaN(y) {
		t.Errorf("a sample variance of zero gives %g", y)
	}
}

// variance is the sample variance of k normal shots.
func variance(k int, sd float64, rng *rand.Rand) float64 {
	mean, squares := 0.0, 0.0
	for i := range k {
		d := 3 + sd*rng.NormFloat64() - mean
		mean += d / float64(i+1)
		squares += d * d * float64(i) / float64(i+1)
	}
	return squares / float64(k-1)
}

// Variances of many points are those of each.
func TestShotVariances(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, l := range map[string]link{"logarithms": logLink{floor: 1e-6}, "variances": rawLink{center: 1, scale: 2}, "below zero": rawLink{center: 1, scale: 2, free: true}} {
		v := &NoiseField{Hyper: &noiseHyper{link: l, Mean: -0.3}}
		mean, sd, got := make([]float64, 50), make([]float64, 50), make([]float64, 50)
		for i := range mean {
			mean[i], sd[i] = rng.NormFloat64(), rng.Float64()
		}
		v.ShotVariances(got, mean, sd, -1.5)
		for i, g := range got {
			if want, _, _ := v.ShotVariance(mean[i], sd[i], -1.5); g != want {
				t.Errorf("%s: %g at (%g, %g), want %g", name, g, mean[i], sd[i], want)
			}
		}
	}
}
