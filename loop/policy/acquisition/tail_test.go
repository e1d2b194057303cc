package acquisition

import (
	_ "embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// improvementJSON is the output of scripts/improvement_oracle.py: mpmath.
//
//go:embed testdata/improvement.json
var improvementJSON []byte

// The logarithms and their slopes against mpmath, from four standard deviations above the best to 1e8
// below it. Before the continued fraction begins, at five, the textbook's forms lose a factor 5^2 of the
// 1e-16 of a number, and some more in the error function: 1e-12.
func TestLogarithmsInTheTail(t *testing.T) {
	var rows []struct {
		Mean, SD                float64
		Improvement, Exceedance [3]float64
	}
	if err := json.Unmarshal(improvementJSON, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 30 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		for name, c := range map[string]struct {
			of   func(mean, sd float64) (value, byMean, bySD float64)
			want [3]float64
		}{"improvement": {logImprovement, r.Improvement}, "exceedance": {logExceedance, r.Exceedance}} {
			var got [3]float64
			got[0], got[1], got[2] = c.of(r.Mean, r.SD)
			for i := range got {
				if d := math.Abs(got[i] - c.want[i]); !(d <= 1e-12*math.Abs(c.want[i])+1e-14) {
					t.Errorf("%s at %g, %g: number %d is %.17g, want %.17g", name, r.Mean, r.SD, i, got[i], c.want[i])
				}
			}
		}
	}
}

// The terms of the continued fraction are enough: four hundred give the same number, to the last bit.
func TestTailFractionHasEnoughTerms(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		at, want := tailFrom*math.Exp(4*rng.Float64()*rng.Float64()), 0.0
		for i := 400; i >= 1; i-- {
			want = float64(i) / (at + want)
		}
		if got := tailFraction(at); got != want {
			t.Fatalf("seed %d: at %v it is %v, with 400 terms %v", seed, at, got, want)
		}
	}
}

// Sums of numbers whose logarithms lie far below what a number holds.
func TestLogSum(t *testing.T) {
	s := logSum{math.Inf(-1)}
	s.add(math.Inf(-1))
	s.add(-5000)
	old, part := s.add(-5000 + math.Log(3))
	if want := -5000 + math.Log(4); math.Abs(s.value-want) > 1e-11 || math.Abs(old-0.25) > 1e-11 || math.Abs(part-0.75) > 1e-11 { // 5000 holds 1e-12
		t.Errorf("%.15g, shares %g and %g, want %.15g, 0.25 and 0.75", s.value, old, part, want)
	}
}
