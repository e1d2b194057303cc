package model

import (
	"math"
	"testing"
)

func TestRepeats(t *testing.T) {
	m, err := New(&Rules{Dims: 1, Spec: Spec{Kernel: "se", Hyperparameters: HyperFixed, Lengthscale: []float64{0.2}, Outputscale: 1, NoiseSD: 0.1, Capacity: 64}})
	if err != nil {
		t.Fatal(err)
	}
	step := 0
	tell := func(x ...float64) {
		for _, at := range x {
			step++
			m.Observe(Row{X: []float64{at}, Mean: math.Sin(math.Pi * at), Variance: math.NaN(), Shots: 1, Step: step})
		}
		if err := m.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, want bool, first int) {
		t.Helper()
		if got := m.Repeats(3, first, 0); got != want {
			t.Errorf("%s: repeats %v", what, got)
		}
	}
	tell(0.1, 0.5)
	expect("fewer steps than that", false, 1)
	tell(0.9)
	expect("the first look", false, 1)
	tell(0.5, 0.5, 0.51, 0.49)
	expect("thrice at the best", true, 1)
	expect("some of it in the initial design", false, 6)
	tell(0.3)
	expect("the last one elsewhere", false, 1)
	tell(0.1, 0.1, 0.1, 0.1)
	expect("known, but far from the best", false, 1)
	tell(0.5, 0.51, 0.5)
	expect("back at the best", true, 1)
}

func TestSurprise(t *testing.T) {
	m, err := New(&Rules{Dims: 1, Spec: Spec{Kernel: "se", Hyperparameters: HyperFixed, Lengthscale: []float64{0.2}, Outputscale: 1, NoiseSD: 0.1, Capacity: 64}})
	if err != nil {
		t.Fatal(err)
	}
	step := 0
	expect := func(what string, want, first int, readings ...[2]float64) {
		t.Helper()
		for _, r := range readings {
			step++
			m.Observe(Row{X: []float64{r[0]}, Mean: r[1], Variance: math.NaN(), Shots: 1, Step: step})
		}
		if err := m.Refresh(); err != nil {
			t.Fatal(err)
		}
		if got := m.Surprise(2, first); got != want {
			t.Errorf("%s: row %d, want %d", what, got, want)
		}
	}
	expect("as the prior says", -1, 1, [2]float64{0.1, 0}, [2]float64{0.3, 0.1})
	expect("far above it", 2, 1, [2]float64{0.9, 2})
	expect("in the design", -1, 4)
	expect("the step before too", 2, 1, [2]float64{0.1, 0})
	expect("no longer among the newest", -1, 1, [2]float64{0.1, 0})
	expect("worse than expected", -1, 1, [2]float64{0.6, -1})
	expect("where much is known, an outlier is noise", -1, 1, [2]float64{0.1, 0}, [2]float64{0.1, 0}, [2]float64{0.1, 0}, [2]float64{0.1, 0.3})
}
