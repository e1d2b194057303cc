package sim

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

// TestUniformFillsEvenly counts numbers in bins: along a stream, across streams,
// across seeds, and pairs of neighbours. The seeds are fixed, so the test cannot
// fail by chance; a chi-square beyond 6 standard deviations would be a defect.
func TestUniformFillsEvenly(t *testing.T) {
	const n, bins = 1 << 16, 256
	cases := map[string]func(i uint64) int{
		"index":  func(i uint64) int { return int(source{1}.uniform(streamShot, i) * bins) },
		"stream": func(i uint64) int { return int(source{1}.uniform(i, 3) * bins) },
		"seed":   func(i uint64) int { return int(source{i}.uniform(streamShot, 3) * bins) },
		"neighbours": func(i uint64) int {
			s := source{1}
			return int(s.uniform(streamShot, i)*16)*16 + int(s.uniform(streamShot, i+1)*16)
		},
		"streams side by side": func(i uint64) int {
			s := source{1}
			return int(s.uniform(streamShot, i)*16)*16 + int(s.uniform(streamShot+1, i)*16)
		},
	}
	for name, bin := range cases {
		var count [bins]float64
		for i := range uint64(n) {
			count[bin(i)]++
		}
		chi := 0.0
		for _, c := range count {
			chi += (c - n/bins) * (c - n/bins) / (n / bins)
		}
		if z := (chi - (bins - 1)) / math.Sqrt(2*(bins-1)); math.Abs(z) > 6 {
			t.Errorf("%s: chi-square %.1f with %d degrees of freedom, %.1f sd off", name, chi, bins-1, z)
		}
	}
}

func TestNormalMoments(t *testing.T) {
	const n = 200_000
	var m [5]float64
	for i := range uint64(n) {
		z := source{2}.normal(streamShot, i)
		for k := range m {
			m[k] += math.Pow(z, float64(k)) / n
		}
	}
	// Moments of the standard normal distribution, and the variances of its powers.
	want, variance := [5]float64{1, 0, 1, 0, 3}, [5]float64{0, 1, 2, 15, 96}
	for k := range m {
		if tolerance := 5*math.Sqrt(variance[k]/n) + 1e-9; math.Abs(m[k]-want[k]) > tolerance {
			t.Errorf("moment %d is %v, want %v within 5 standard errors, %v", k, m[k], want[k], tolerance)
		}
	}
}

func TestNormalQuantileInvertsCDF(t *testing.T) {
	for z := -8.0; z <= 5; z += 0.37 {
		if got := normalQuantile(normalCDF(z)); math.Abs(got-z) > 1e-9*(1+math.Abs(z)) { // 1-1e-7 has 9 digits left
			t.Errorf("quantile(cdf(%v)) = %v", z, got)
		}
	}
}

// TestFlickerCorrelates compares the correlation of pulses with the formula in
// flicker's comment, over many seeds and places in the stream.
func TestFlickerCorrelates(t *testing.T) {
	const runs = 40_000
	for _, lag := range []uint64{0, 1, 2, 7, 64, 1000, 1 << octaves} {
		sum := 0.0
		for i := range uint64(runs) {
			s := source{i}
			n := s.bits(99, 0) >> 32
			sum += s.flicker(n) * s.flicker(n+lag) / runs
		}
		want := 0.0
		for j := range octaves {
			want += max(0, 1-float64(lag)/float64(int(1)<<j)) / octaves
		}
		// The product of two normals with correlation c has variance 1+c².
		if tolerance := 5 * math.Sqrt((1+want*want)/runs); math.Abs(sum-want) > tolerance {
			t.Errorf("lag %d: correlation %.4f, want %.4f within 5 standard errors, %.4f", lag, sum, want, tolerance)
		}
	}
}

// TestFlickerIsOneOverF: between 20 pulses and 4000 the power of octave-wide
// bands, measured as the variance of differences of means over m pulses, hardly
// changes: 1/f noise has the same power in every octave, white noise half of it
// in each next.
func TestFlickerIsOneOverF(t *testing.T) {
	testsize.OneGoroutine(t)
	const runs = 400
	power := func(m uint64) float64 {
		sum := 0.0
		for i := range uint64(runs) {
			s := source{1000 + i}
			n := s.bits(99, 0) >> 32
			a, b := 0.0, 0.0
			for k := range m {
				a += s.flicker(n+k) / float64(m)
				b += s.flicker(n+m+k) / float64(m)
			}
			sum += (a - b) * (a - b) / runs
		}
		return sum
	}
	first := power(16)
	for _, m := range []uint64{64, 256, 1024} {
		// 400 squares of normals estimate a variance to 7%; two of them to 10%.
		if ratio := power(m) / first; ratio < 0.6 || ratio > 1.6 {
			t.Errorf("means over %d pulses differ with %.2f times the power of means over 16; 1/f noise keeps it near 1", m, ratio)
		}
	}
}
