package model

import (
	"math"
	"testing"
)

// The prior that knows the dimension is, as a density of log l, that of a log-normal in l, up to one
// factor; its mode is exp(sqrt(2) + log(d)/2 - 3). The prior of "range" does not depend on d.
func TestLengthscalePriors(t *testing.T) {
	for _, d := range []int{1, 3, 10, 200} {
		m := &Rules{Dims: d, Spec: Spec{LengthscalePrior: LengthscaleDimension}}
		p := m.lengthscalePrior()
		density := func(l float64) float64 { // of LogNormal(sqrt 2 + log(d)/2, sqrt 3), in l
			q := (math.Log(l) - math.Sqrt2 - math.Log(float64(d))/2) / math.Sqrt(3)
			return -q*q/2 - math.Log(l)
		}
		ours := func(l float64) float64 { q := (math.Log(l) - p.Mean) / p.SD; return -q * q / 2 }
		for _, l := range []float64{0.01, 0.3, 7} {
			if got, want := ours(l)-ours(1), density(l)-density(1); math.Abs(got-want) > 1e-12 {
				t.Errorf("d = %d: log density at %g less that at 1 is %g, want %g", d, l, got, want)
			}
		}
		mode := m.usualLengthscale()
		if want := 0.2047866778 * math.Sqrt(float64(d)); math.Abs(mode/want-1) > 1e-4 {
			t.Errorf("d = %d: mode %g, want %g", d, mode, want)
		}
		all := m.lengthscaleLevels(-1.5, -0.5, 0.5, 1.5)
		for i, l := range all {
			if i > 0 && all[i-1].value >= l.value || math.Abs(math.Log(l.weight)-ours(l.value)) > 1e-12 {
				t.Errorf("d = %d: levels %v", d, all)
			}
		}
		plain := (&Rules{Dims: d}).lengthscaleLevels(-1.5, 1.5)
		if math.Abs(plain[0].value-0.105) > 1e-3 || math.Abs(plain[1].value-0.857) > 1e-3 {
			t.Errorf("d = %d: range has levels %v", d, plain)
		}
	}
}

// Where variables are many, lengthscales that all share come to be longer than those of few; "shared" and "dimension"
// have none of them.
func TestLongLengthscales(t *testing.T) {
	for d, want := range map[int]int{1: 0, 4: 0, 5: 1, 17: 1, 18: 2, 200: 2} {
		m := &Rules{Dims: d}
		if got := m.longLevels(); len(got) != want {
			t.Errorf("%d variables: %v", d, got)
		}
		m.Spec.Lengthscales = LengthscalesShared
		dimension := &Rules{Dims: d, Spec: Spec{LengthscalePrior: LengthscaleDimension}}
		if m.longLevels() != nil || dimension.longLevels() != nil {
			t.Errorf("%d variables: longer ones that nobody asked for", d)
		}
	}
}
