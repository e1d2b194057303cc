package show

import (
	"math"
	"testing"
)

func TestSparkline(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		levels string
		want   string
	}{
		{nil, ASCIILevels, ""},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, UnicodeLevels, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, ASCIILevels, "_.:-=+*#"},
		{[]float64{-5, nan, 5}, ASCIILevels, "_ #"},
		{[]float64{3, 3}, ASCIILevels, "=="},
		{[]float64{nan}, ASCIILevels, " "},
		{[]float64{-math.MaxFloat64, math.MaxFloat64, 0}, ASCIILevels, "_#="},
	} {
		if got := Sparkline(c.values, c.levels); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}
