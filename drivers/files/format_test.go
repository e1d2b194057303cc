package files

import (
	"math"
	"slices"
	"testing"
)

func TestParamsRoundTrip(t *testing.T) {
	values := []float64{0, -1, 2.5, 1e-300, 123456789.125, 1e21}
	for style, want := range map[string]string{
		styleArray: "params = array([0., -1., 2.5, 1e-300, 1.23456789125e+08, 1e+21])\n",
		styleList:  "params = [0., -1., 2.5, 1e-300, 1.23456789125e+08, 1e+21]\n",
	} {
		text := formatParams(style, values)
		if text != want {
			t.Errorf("%s: %q, want %q", style, text, want)
		}
		got, err := parseParams(text)
		if err != nil || !slices.Equal(got, values) {
			t.Errorf("%s: %v, %v", style, got, err)
		}
	}
}

func TestParseResult(t *testing.T) {
	for text, want := range map[string]result{
		"cost = 0.5\nuncer = 0.01\nbad = false\n":           {0.5, 0.01, false},
		"cost=1e-3\r\nbad=0\r\n":                            {1e-3, math.NaN(), false},
		"# by MATLAB\n\n cost = -2 # volts\nrun = 'blue'\n": {-2, math.NaN(), false},
		"bad = True":             {math.NaN(), math.NaN(), true},
		"cost = 3\nbad = TRUE\n": {3, math.NaN(), true},
	} {
		got, err := parseResult(text)
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if err != nil || !same(got.cost, want.cost) || !same(got.uncer, want.uncer) || got.bad != want.bad {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// FuzzParseResult: no text is a crash, and a good result has a finite cost or is bad.
func FuzzParseResult(f *testing.F) {
	for _, seed := range []string{"cost = 0.5\nuncer = 0.01\nbad = false\n", "bad = true", "cost = inf", "=\n==", "cost = 1_0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseResult(text)
		if err == nil && !r.bad && (math.IsNaN(r.cost) || math.IsInf(r.cost, 0)) {
			t.Errorf("%q gave the cost %v", text, r.cost)
		}
		if err == nil && (r.uncer < 0 || math.IsInf(r.uncer, 0)) {
			t.Errorf("%q gave the uncertainty %v", text, r.uncer)
		}
	})
}

func TestStands(t *testing.T) {
	var approach, noisy []float64
	for i := range 1000 {
		approach = append(approach, 10-10*math.Exp(-float64(i)/50))
		noisy = append(noisy, 10+0.004*float64(1-2*(i%2)))
	}
	if !stands(noisy[:4], 10) || stands(noisy[:3], 10) {
		t.Error("noise below a thousandth of the reach is taken for motion, or three looks for enough")
	}
	first := 0
	for n := 1; n <= len(approach) && first == 0; n++ {
		if stands(approach[:n], 10) {
			first = n
		}
	}
	// From one quarter to the next less than a thousandth: what is left is less still.
	if left := 10 - approach[max(first, 1)-1]; first == 0 || left > 0.01 {
		t.Errorf("taken for still after %d looks, %v from the end", first, left)
	}
}
