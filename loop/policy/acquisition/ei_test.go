package acquisition

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Far tails keep their relative precision, so that the logarithm is climbed: against
// the asymptotic series phi(z) (1/z^2 - 3/z^4 + 15/z^6 - 105/z^8).
func TestImprovementInTheTail(t *testing.T) {
	for _, z := range []float64{-12, -20, -35} {
		want := num.NormalDensity(z) * (1/(z*z) - 3/math.Pow(z, 4) + 15/math.Pow(z, 6) - 105/math.Pow(z, 8))
		if got, _, _ := expectedImprovement(z, 1); math.Abs(got/want-1) > 1e-4 {
			t.Errorf("z = %g: %g, the series gives %g", z, got, want)
		}
	}
	if v, _, _ := expectedImprovement(-1, 1e-300); v != 0 {
		t.Errorf("no chance gives %g", v)
	}
}
