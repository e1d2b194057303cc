package policy

import (
	"errors"
	"math"
	"testing"
)

// What is seen at the recommended setting is what the recommendation says of it, and
// far from all data the model falls back on what it expects anywhere.
func TestLookSeesTheRecommendation(t *testing.T) {
	s := rahboSpec(2, 13)
	p := fresh(t, s)
	story{scale: 3, offset: -7, shots: 5}.tell(t, p, &s, 20, nil)
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	v := p.(Predictor)
	seen, err := v.Predict(r.ControlSet, [][]float64{r.X, {0.123, 0.987}})
	if err != nil {
		t.Fatal(err)
	}
	// The same sums in another order.
	for _, c := range [][2]float64{{seen[0].Mean, r.Mean}, {seen[0].SD, r.SD}, {seen[0].NoiseSD, r.NoiseSD}, {seen[0].LowerBound, r.LowerBound}} {
		if math.Abs(c[0]-c[1]) > 1e-9*(1+math.Abs(c[1])) {
			t.Errorf("seen %+v, recommended %+v", seen[0], r.Estimate)
		}
	}
	if seen[1].LowerBound > r.LowerBound && seen[1].SD < r.SD {
		t.Errorf("a setting that was never played is known better: %+v, %+v", seen[1], r.Estimate)
	}
	best, ok, err := v.BestOf(r.ControlSet)
	if err != nil || !ok || best.X[0] != r.X[0] || best.X[1] != r.X[1] {
		t.Errorf("best of the only control set: %+v, %v, %v; recommended %+v", best, ok, err, r)
	}
}

// lookAround looks at the middle of the domain, at what each control set has brought, and
// weighs another risk. TestSameSeedSameProposals shows that it changes nothing.
func lookAround(t *testing.T, v Predictor, s *Spec) {
	t.Helper()
	middle := make([]float64, len(s.Variables))
	for i, x := range s.Variables {
		middle[i] = (x.Low + x.High) / 2
	}
	for set := range s.ControlSets {
		seen, err := v.Predict(set, [][]float64{middle})
		if err != nil || !(seen[0].SD > 0) {
			t.Fatalf("control set %d: %+v, %v", set, seen, err)
		}
		if _, _, err := v.BestOf(set); err != nil {
			t.Fatal(err)
		}
	}
	w := v.(Weigher)
	_, err := w.RecommendAt(2.5)
	if _, err2 := w.Tradeoffs(); err != nil && !errors.Is(err, ErrNoNoise) || err2 != nil && !errors.Is(err2, ErrNoNoise) {
		t.Fatal(err, err2)
	}
}

func TestLookRefuses(t *testing.T) {
	s := rahboSpec(2, 1)
	p := fresh(t, s).(Predictor)
	if _, err := p.Predict(0, nil); !errors.Is(err, ErrNoData) {
		t.Errorf("nothing observed: %v", err)
	}
	observe(t, p.(Policy), Observation{Step: 1, X: []float64{0.3, 0.4}, Mean: 7, Variance: math.NaN(), Shots: 1, Valid: true})
	for _, c := range []struct {
		set int
		x   [][]float64
	}{{1, nil}, {-1, nil}, {0, [][]float64{{0.5}}}, {0, [][]float64{{0.5, math.NaN()}}}} {
		if _, err := p.Predict(c.set, c.x); err == nil {
			t.Errorf("control set %d, %v: no error", c.set, c.x)
		}
	}
}
