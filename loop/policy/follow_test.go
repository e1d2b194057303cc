package policy

import (
	"context"
	"math"
	"testing"
)

// TestModelFollowsTheNoise: between two fits a model whose noise is learnt takes up each
// observation by itself, also where another leaves, and says what one says that is loaded
// from scratch.
func TestModelFollowsTheNoise(t *testing.T) {
	s := rahboSpec(2, 71)
	s.InitialSteps, s.Model.Capacity, s.Model.RefitEvery, s.Model.RefitLag = 6, 20, 15, 2
	p := fresh(t, s)
	m := p.(*engine).model
	points := make([]float64, 0, 50)
	for i := range 25 {
		points = append(points, float64(i%5)/4, float64(i/5)/4)
	}
	followed := 0
	for range 50 {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		loads := m.Loads
		for _, o := range answers(&s, q) {
			observe(t, p, o)
		}
		if m.Noise == nil || !m.Loaded {
			continue
		}
		if m.Loads != loads {
			t.Fatalf("step %d: loaded from scratch", q.Step)
		}
		followed++
		look := func() (out [4][]float64) {
			for i := range out {
				out[i] = make([]float64, 25)
			}
			m.GP.Predict(out[0], out[1], points)
			m.Noise.GP.Predict(out[2], out[3], points)
			return out
		}
		got := look()
		noise := m.Noise
		m.Loaded = false
		if err := m.Refresh(); err != nil {
			t.Fatal(err)
		}
		if noise != m.Noise {
			t.Fatal("another process of the noise")
		}
		for k, want := range look() {
			for i := range want {
				// Rounding alone differs: some 1e-16 by the condition, below 1e5 with these noises.
				if math.Abs(got[k][i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
					t.Fatalf("step %d: number %d at point %d is %g, and %g from scratch", q.Step, k, i, got[k][i], want[i])
				}
			}
		}
	}
	if followed < 30 {
		t.Errorf("%d of 50 steps were followed", followed)
	}
}
