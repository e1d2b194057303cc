package optimum

import (
	"math"
	"slices"
	"testing"
)

// TestPolish climbs a narrow tilted ridge whose top is known.
func TestPolish(t *testing.T) {
	j := &judge{ctx: t.Context(), plant: Plant{Axes: []Axis{{High: 1}, {High: 1}}}}
	ridge := func(u []float64) float64 {
		a, b := u[0]-0.3+u[1]-0.8, u[0]-0.3-(u[1]-0.8)
		return -100*a*a - b*b
	}
	s := start{u: []float64{0.9, 0.05}}
	s.value = ridge(s.u)
	j.polish(&s, []int{0, 1}, ridge, [2]float64{searchStep, searchEnd})
	if math.Abs(s.u[0]-0.3) > 1e-3 || math.Abs(s.u[1]-0.8) > 1e-3 || s.value != ridge(s.u) {
		t.Errorf("the climb ends at %v with %v, the top is at 0.3, 0.8", s.u, s.value)
	}
}

// TestPolishOverLevels: a step that is shorter than the gap between two levels
// still gets across it.
func TestPolishOverLevels(t *testing.T) {
	levels := func(x float64) float64 {
		return map[bool]float64{true: 0.45, false: math.Round(x)}[x >= 0.225 && x < 0.725]
	}
	j := &judge{ctx: t.Context(), plant: Plant{Axes: []Axis{{High: 1, Nearest: levels, Gap: 0.55}, {High: 3, Nearest: math.Round, Gap: 1. / 3}}}}
	value := func(u []float64) float64 {
		w := slices.Clone(u)
		j.roundToDevice(w)
		return w[0] + w[1]
	}
	s := start{u: []float64{0, 0}}
	j.polish(&s, []int{0, 1}, value, [2]float64{searchStep, searchEnd})
	if s.value != 2 {
		t.Errorf("the climb over levels ends at %v with %v, the top is 2", s.u, s.value)
	}
}

func TestSpread(t *testing.T) {
	ranked := []start{{[]float64{0, 0}, 9}, {[]float64{0.05, 0.09}, 8}, {[]float64{0, 0.2}, 7}, {[]float64{0.5, 0.5}, 6}}
	got := spread(ranked, 2)
	if len(got) != 2 || got[0].value != 9 || got[1].value != 7 {
		t.Errorf("spread picks %v, want the first and the third", got)
	}
}
