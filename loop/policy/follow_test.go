package policy

import (
	"context"
	"math"
	"testing"
)

// TestModelFollowsTheNoise: between two fits a model whose noise is learnt takes up each
// observation by itself, also where another leaves. The noise variances that it holds are within
// 5 % of those that one has that is loaded from scratch, and with the same ones it says the same.
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
	for step := range 50 {
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
		if followed++; followed%5 != 0 { // what is held drifts meanwhile
			continue
		}
		look := func() (out [4][]float64) {
			for i := range out {
				out[i] = make([]float64, 25)
			}
			m.GP.Predict(out[0], out[1], points)
			m.Noise.GP.Predict(out[2], out[3], points)
			return out
		}
		noises := func() []float64 {
			out := make([]float64, m.GP.Len())
			for i := range out {
				out[i] = m.GP.NoiseVariance(i)
			}
			return out
		}
		got, held, noise := look(), noises(), m.Noise
		m.Loaded = false
		if err := m.Refresh(); err != nil {
			t.Fatal(err)
		}
		if noise != m.Noise {
			t.Fatal("another process of the noise")
		}
		for i, want := range noises() {
			if q := want / held[i]; math.Abs(q-1) > 0.1 {
				t.Errorf("step %d: the noise of observation %d is %g times what is held", step, i, q)
			}
		}
		if err := m.GP.SetNoises(held); err != nil {
			t.Fatal(err)
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
