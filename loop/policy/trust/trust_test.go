package trust

import (
	"math"
	"slices"
	"testing"
)

func TestAfter(t *testing.T) {
	rising := func(n int) (out []float64) {
		for i := range n {
			out = append(out, float64(i))
		}
		return out
	}
	without := func(n int) []float64 { return slices.Repeat([]float64{-1}, n) }
	for _, c := range []struct {
		name   string
		worth  []float64
		design int
		want   Region
	}{
		{"the design alone", []float64{1, 3, 2}, 3, Region{1, 0.8}},
		{"a success", rising(4), 3, Region{3, 0.8}},
		{"three successes double it", rising(6), 3, Region{5, 1.6}},
		{"it grows no further", rising(30), 3, Region{29, 1.6}},
		{"failures", slices.Concat(rising(3), without(4)), 3, Region{2, 0.8}},
		{"as many failures as variables halve it", slices.Concat(rising(3), without(5)), 3, Region{2, 0.4}},
		{"a success between them", slices.Concat(rising(3), without(4), []float64{3}, without(4)), 3, Region{7, 0.8}},
		{"what is better by nothing is the centre, not a success", slices.Concat(rising(3), without(4), []float64{2.0001}), 3, Region{7, 0.4}},
		{"it begins anew", slices.Concat(rising(3), without(35)), 3, Region{-1, 0.8}},
		{"around the first since, however bad", slices.Concat(rising(3), without(35), []float64{-5}), 3, Region{38, 0.8}},
		{"and the best since", slices.Concat(rising(3), without(35), []float64{-5, -4, -6}), 3, Region{39, 0.8}},
		{"no readings", nil, 3, Region{-1, 0.8}},
		{"the design is forgotten", []float64{1, 2}, 0, Region{1, 0.8}},
	} {
		if got := After(c.worth, c.design, 5); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := After(slices.Concat(rising(3), without(4)), 3, 2).Length; got != 0.4 {
		t.Errorf("two variables, four failures: length %g", got)
	}
}

func TestReach(t *testing.T) {
	r := Region{Length: 0.8}
	if got := r.Reach(nil, 3); !slices.Equal(got, []float64{0.4, 0.4, 0.4}) {
		t.Errorf("without lengthscales %v", got)
	}
	got := r.Reach([]float64{0.1, 0.4, 0.2}, 3)
	for i, want := range []float64{0.2, 0.8, 0.4} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%v", got)
		}
	}
}
