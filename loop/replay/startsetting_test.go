package replay

import (
	"math"
	"testing"
)

func TestStartSettingRoundTrip(t *testing.T) {
	x := []float64{0.1, math.NaN(), -1e-300, 3}
	got, err := ParseStart(FormatStart(x), len(x))
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if got[i] != x[i] && !(math.IsNaN(got[i]) && math.IsNaN(x[i])) {
			t.Errorf("%v became %v", x, got)
		}
	}
	for _, text := range []string{"", "[1]", "{}", "[1,2,3,nan]"} {
		if _, err := ParseStart(text, 4); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
