package policy

import (
	"context"
	"testing"
)

// TestCutSearchesTakeLess: where decisions are limited to half of the work that a complete one takes, most of them are
// complete all the same, with fewer points; without a limit they take on all of it.
func TestCutSearchesTakeLess(t *testing.T) {
	const steps, settled = 40, 6
	s := fixedSpec("irgp-ucb", 4, 7)
	work := func(limit int) (cut, most int) {
		p := fresh(t, s)
		p.(WorkLimiter).LimitWork(limit)
		for step := 1; step <= steps; step++ {
			q, err := p.Propose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if step > settled {
				if most = max(most, q.Work); q.Cut {
					cut++
				}
			}
			for _, o := range (story{scale: 1, shots: 5}).answer(&s, q) {
				observe(t, p, o)
			}
		}
		return cut, most
	}
	cut, whole := work(0)
	if cut > 0 {
		t.Fatalf("%d decisions are cut without a limit", cut)
	}
	limit := whole / 2
	cut, most := work(limit)
	if most > limit || cut == 0 || cut > (steps-settled)/4 {
		t.Errorf("limited to %d of %d units: %d of %d decisions are cut, at most %d units done", limit, whole, cut, steps-settled, most)
	}
}
