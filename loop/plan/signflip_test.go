package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// darwin holds the differences in height, in eighths of an inch, of 15 pairs of cross- and
// self-fertilised plants. Fisher (The Design of Experiments, section 21) counted all 2^15
// sums by hand: 863 are 314 or more.
var darwin = []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}

func TestSignFlipOnDarwinsPlants(t *testing.T) {
	got := signFlip(darwin)
	if got.P != 863.0/32768 || got.PTwoSided != 2*863.0/32768 || math.Abs(float64(got.Value)-314.0/15) > 1e-12 {
		t.Errorf("got %+v, want p = 863/32768 and a mean of 314/15", got)
	}
	// -d is the same sample seen from the other side.
	turned := make([]float64, len(darwin))
	for i, x := range darwin {
		turned[i] = -x
	}
	other := signFlip(turned)
	if other.PLess != got.P || other.P != got.PLess || other.Low != -got.High || other.High != -got.Low {
		t.Errorf("turned: %+v, of %+v", other, got)
	}
}

// The confidence limits are those centres that the two-sided halves of the test just do
// not refuse: shifted by a little less than the low limit, the sample is significant at
// 2.5 %, shifted by a little more, it is not.
func TestSignFlipLimitsBelongToTheTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	for n := MinPairs; n <= 10; n++ {
		d := make([]float64, n)
		for i := range d {
			d[i] = 1 + rng.NormFloat64()
		}
		got := signFlip(d)
		shifted := func(by float64) PairedDifference {
			s := make([]float64, n)
			for i := range d {
				s[i] = d[i] - by
			}
			return signFlip(s)
		}
		const little = 1e-6 // far less than the distance of neighbouring subset means
		low, high := float64(got.Low), float64(got.High)
		if p := shifted(low - little).P; p > 0.025 {
			t.Errorf("n = %d: below the low limit p = %v", n, p)
		}
		if p := shifted(low + little).P; p <= 0.025 {
			t.Errorf("n = %d: above the low limit p = %v", n, p)
		}
		if p := shifted(high + little).PLess; p > 0.025 {
			t.Errorf("n = %d: above the high limit p = %v", n, p)
		}
		if p := shifted(high - little).PLess; p <= 0.025 {
			t.Errorf("n = %d: below the high limit p = %v", n, p)
		}
	}
}

func TestSignFlipOfFew(t *testing.T) {
	for _, c := range []struct {
		d         []float64
		p, pTwo   float64
		unlimited bool
	}{
		{[]float64{0, 0, 0, 0, 0, 0}, 1, 1, false}, // no noise and no difference
		{[]float64{1, 1, 1, 1, 1, 1}, 1.0 / 64, 2.0 / 64, false},
		{[]float64{-1, -1, -1, -1, -1, -1}, 1, 2.0 / 64, false},
		{[]float64{2}, 0.5, 1, true},
		{[]float64{1, 2, 3, 4, 5}, 1.0 / 32, 2.0 / 32, true}, // five pairs: 2.5 % is less than one of 32
		{[]float64{0.1, 0.2, -0.3}, 5.0 / 8, 1, true},        // 0.1 + 0.2 - 0.3 is 0 but for rounding
	} {
		got := signFlip(c.d)
		if float64(got.P) != c.p || float64(got.PTwoSided) != c.pTwo || math.IsNaN(float64(got.Low)) != c.unlimited {
			t.Errorf("%v: got %+v, want p %v, %v", c.d, got, c.p, c.pTwo)
		}
	}
}
