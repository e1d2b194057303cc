package constraint

import (
	"math"
	"testing"
)

// The mass between bounds keeps its digits in both tails, and its derivatives are those
// of finite differences.
func TestMassBetween(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ low, high, want float64 }{
		{-1, 1, 0.6826894921370859}, {-inf, 0, 0.5}, {8, inf, 6.220960574271785e-16}, {-inf, -8, 6.220960574271785e-16},
		{8, 9, 6.219832001225e-16}, {-inf, inf, 1},
	} { // of the standard normal; Q(8) and Q(8)-Q(9) from Abramowitz and Stegun's expansion 26.2.12
		if got, _, _ := massBetween(c.low, c.high, 0, 1); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("[%g, %g]: %.15g, want %.15g", c.low, c.high, got, c.want)
		}
		for _, mean := range []float64{-0.3, 0.8} {
			const sd, h = 1.3, 1e-6
			at := func(mean, sd float64) float64 { v, _, _ := massBetween(c.low, c.high, mean, sd); return v }
			_, byMean, bySD := massBetween(c.low, c.high, mean, sd)
			wantMean := (at(mean+h, sd) - at(mean-h, sd)) / (2 * h)
			wantSD := (at(mean, sd+h) - at(mean, sd-h)) / (2 * h)
			if math.Abs(byMean-wantMean) > 1e-8 || math.Abs(bySD-wantSD) > 1e-8 {
				t.Errorf("[%g, %g] at %g: slopes %g, %g; differences %g, %g", c.low, c.high, mean, byMean, bySD, wantMean, wantSD)
			}
		}
	}
}
