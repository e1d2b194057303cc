package tracking

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// TestPaths: how far and how fast the moving optima go.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name       string
		longest    float64 // of a single step
		total, tol float64 // length of the way
	}{
		// 1.6 in 1000 steps and back; the last of 2000 steps is the first but one.
		{"tracking/bump2-slow", 0.0016, 3.2, 0.004}, {"tracking/bump4-slow", 0.0016, 3.2, 0.004},
		{"tracking/bump2-jump", 1.8, 1.8, 1e-9}, {"tracking/bump4-jump", 1.8, 1.8, 1e-9},
		{"tracking/peaks2-slow", 0.0022, 2 * math.Pi * 0.7, 0.004},
		{"tracking/peaks2-jump", math.Hypot(1.6, 0.8), math.Hypot(1.6, 0.8), 1e-9},
	} {
		p := drawn(t, c.name)
		m := movingOf(t, c.name)
		var longest, total float64
		for step := 1; step <= steps; step++ {
			here := m.centre(step)
			if v := p.Truth(step, here); v != 1 {
				t.Fatalf("%s: %v at the optimum of step %d", c.name, v, step)
			}
			for _, v := range here {
				if math.Abs(v) > 1 {
					t.Fatalf("%s: the optimum of step %d is at %v", c.name, step, here)
				}
			}
			if step > 1 {
				d := landscape.Distance(here, m.centre(step-1))
				longest, total = max(longest, d), total+d
			}
		}
		if longest > c.longest*1.001 || math.Abs(total-c.total) > c.tol {
			t.Errorf("%s: longest step %v, way %v; want %v, %v", c.name, longest, total, c.longest, c.total)
		}
	}
	// A quarter of a lengthscale of 0.4 off the centre of the bump.
	if v := drawn(t, "tracking/bump2-jump").Truth(1, []float64{-0.9/math.Sqrt2 + 0.1, -0.9 / math.Sqrt2}); math.Abs(v-math.Exp(-0.01/0.405)) > 1e-12 {
		t.Errorf("bump 0.1 off its centre: %v", v)
	}
}

func movingOf(t *testing.T, name string) moving {
	t.Helper()
	for _, m := range []moving{
		bump("bump2-slow", 2, slowly), bump("bump2-jump", 2, jumping), bump("bump4-slow", 4, slowly), bump("bump4-jump", 4, jumping),
		twoPeaks("peaks2-slow", circling), twoPeaks("peaks2-jump", leaping),
	} {
		if "tracking/"+m.name == name {
			return m
		}
	}
	t.Fatalf("no %s", name)
	return moving{}
}

// drawn draws seed 0 of an experiment.
func drawn(t *testing.T, name string) *experiment.Problem {
	t.Helper()
	for _, x := range Experiments() {
		if x.Name == name {
			p, err := x.Draw(0)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("no experiment %s", name)
	return nil
}
