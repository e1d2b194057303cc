package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// RAHBO-US's first stage goes where the noise process is least known, whatever the
// objective; its second takes the expected variance for the true one.
func TestNoiseIsExploredFirst(t *testing.T) {
	s := rahboSpec(2, 4)
	s.Kind, s.Confidence, s.InitialSteps, s.ExploreSteps = "rahbo-us", "constant", 5, 6
	p := fresh(t, s)
	e := p.(*engine)
	w := story{scale: 1, shots: 6}
	for step := 1; step <= 14; step++ {
		q := propose(t, p)
		if step > 5 {
			r := e.model
			at := make([]float64, 0, 2*41*41)
			for i := range 41 {
				for j := range 41 {
					at = append(at, float64(i)/40, float64(j)/40)
				}
			}
			mean, variance := make([]float64, 41*41), make([]float64, 41*41)
			r.Noise.GP.Predict(mean, variance, at)
			most := variance[num.Argmax(variance)]
			var m, v [1]float64
			r.Noise.GP.Predict(m[:], v[:], q.X)
			expected, _, _ := r.Noise.ShotVariance(m[0], 0, 0)
			expected *= r.Active.Scale * r.Active.Scale
			switch first := step <= 5+6; {
			case first && v[0] < 0.97*most: // a plateau of several corners: the search is global, not exact
				t.Errorf("step %d: the noise's variance is %g at %v, %g elsewhere", step, v[0], q.X, most)
			case first && math.Abs(q.Why.Value-math.Sqrt(v[0])) > 1e-9:
				t.Errorf("step %d: value %g, want the sd %g", step, q.Why.Value, math.Sqrt(v[0]))
			case !first && math.Abs(q.Why.NoiseVariance-expected) > 1e-9*expected:
				t.Errorf("step %d: noise variance %g, expected is %g", step, q.Why.NoiseVariance, expected)
			}
		}
		for _, o := range w.answer(&s, q) {
			observe(t, p, o)
		}
	}
}

// On the sine the baseline finds the quiet maximum too.
func TestNoiseExploredFirstFindsTheQuietMaximum(t *testing.T) {
	n := sine(1)
	for seed := range uint64(3) {
		s := rahboSpec(1, seed)
		s.Kind = "rahbo-us"
		if rec, regret := n.campaign(t, s, 1, 0.99, 35); n.sd(rec.X) > 0.5 || 0.99-n.mv(rec.X, 1) > 0.05 {
			t.Errorf("seed %d: recommended %v, cumulative regret %.1f", seed, rec.X, regret)
		}
	}
}
