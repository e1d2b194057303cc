package search_test

import (
	"context"
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
)

// pressed is a curved ridge of two coordinates. Of further ones it is the greater the greater they are, so that a climb
// presses them against their bounds, by slopes that change along the ridge.
type pressed struct {
	further int
	looked  *int
}

func (p pressed) Dim() int                    { return 2 + p.further }
func (p pressed) Fork() search.Objective      { return p }
func (p pressed) Values(dst, x []float64)     { p.evaluate(dst, nil, x) }
func (p pressed) Gradients(v, g, x []float64) { *p.looked += len(v); p.evaluate(v, g, x) }

// evaluate is -4 (b - a^2)^2 - (0.6 - a)^2 + sum over the further ones of c (80 + 30 a - 20 b), less what that is at c = 1.
func (p pressed) evaluate(dst, grad, x []float64) {
	d := p.Dim()
	for i := range dst {
		x := x[i*d : (i+1)*d]
		a, b := x[0], x[1]
		ridge, off, beyond := b-a*a, 0.6-a, 0.0
		for _, c := range x[2:] {
			beyond += c - 1
		}
		dst[i] = -4*ridge*ridge - off*off + beyond*(80+30*a-20*b)
		if grad == nil {
			continue
		}
		g := grad[i*d : (i+1)*d]
		g[0], g[1] = 16*ridge*a+2*off+30*beyond, -8*ridge-20*beyond
		for j := range p.further {
			g[2+j] = 80 + 30*a - 20*b
		}
	}
}

// A climb along a face of the box is as fast as one that knows only the coordinates of the face.
func TestClimbsOnAFace(t *testing.T) {
	climb := func(further int) (looked int) {
		axes := []search.Axis{{Low: -1, High: 1}, {Low: -1, High: 1}}
		for range further {
			axes = append(axes, search.Axis{Low: -1, High: 1})
		}
		s, err := search.New([]search.Problem{{Objective: pressed{further, &looked}, Axes: axes, Screen: 24, Climbs: 1}}, search.Options{Seed: 3, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.SetStarts(0, []float64{-0.5, 0.5, 1, 1}[:2+further])
		m, _ := s.Run(context.Background(), 0)
		if !(math.Abs(m[0].Value) < 1e-6) {
			t.Errorf("with %d coordinates more the best value is %g, want 0", further, m[0].Value)
		}
		return looked
	}
	alone, beside := climb(0), climb(2)
	t.Logf("%d points with two coordinates, %d with four", alone, beside)
	if 4*beside > 5*alone {
		t.Errorf("%d points were looked at with two coordinates, %d with two more that are at their bounds", alone, beside)
	}
}
