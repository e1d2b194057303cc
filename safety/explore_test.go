package safety

import (
	"math"
	"slices"
	"testing"
)

func TestShrinkKeepsNearTheNearestSafeSetting(t *testing.T) {
	var k ProvenSettings
	span, nan := []float64{10, 100}, math.NaN()
	x := []float64{9, 90}
	if c := k.Shrink(x, span, 0.1); slices.Contains(c, true) || x[0] != 9 {
		t.Errorf("with nothing known: %v", x)
	}
	k.Add([]float64{5, 50})
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{9, 90}, []float64{6, 60}}, {[]float64{5.5, 45}, []float64{5.5, 45}},
		{[]float64{0, 55}, []float64{4, 55}}, {[]float64{nan, 90}, []float64{nan, 60}},
	} {
		x := slices.Clone(c.x)
		changed := k.Shrink(x, span, 0.1)
		for i := range x {
			if x[i] != c.want[i] && !(math.IsNaN(x[i]) && math.IsNaN(c.want[i])) || changed[i] != (c.x[i] != c.want[i] && !math.IsNaN(c.x[i])) {
				t.Errorf("%v becomes %v (%v), want %v", c.x, x, changed, c.want)
			}
		}
	}
	// Step by step the far corner is reached, if every step was safe.
	for range 4 {
		x := []float64{9, 90}
		k.Shrink(x, span, 0.1)
		k.Add(x)
	}
	x = []float64{9, 90}
	if c := k.Shrink(x, span, 0.1); slices.Contains(c, true) {
		t.Errorf("after four safe steps: %v", x)
	}
	for n := range 3 * safeSettingsMax {
		k.Add([]float64{float64(n), 0})
	}
	if len(k.settings) != safeSettingsMax || k.settings[0][0] != 5 {
		t.Errorf("%d settings, the first %v", len(k.settings), k.settings[0])
	}
}
