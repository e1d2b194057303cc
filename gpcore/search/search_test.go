package search

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
)

// bumps is a function with known maxima: a sum of Gaussians, without gradients.
type bumps struct {
	d      int
	center []float64
	height []float64
	width  float64
	calls  *int
}

func (b bumps) Dim() int        { return b.d }
func (b bumps) Fork() Objective { return b }
func (b bumps) Values(dst, x []float64) {
	if b.calls != nil {
		*b.calls += len(dst)
	}
	for j := range dst {
		dst[j] = 0
		for k, h := range b.height {
			s := 0.0
			for i := range b.d {
				t := (x[j*b.d+i] - b.center[k*b.d+i]) / b.width
				s += t * t
			}
			dst[j] += h * math.Exp(-s/2)
		}
	}
}

func (b bumps) at(x ...float64) float64 {
	v := make([]float64, 1)
	b.Values(v, x)
	return v[0]
}

func TestMaximizeWithoutGradients(t *testing.T) {
	b := bumps{d: 2, center: []float64{1.2, -3, 7, 4, 9.5, -4.8}, height: []float64{1, 2, 1.9}, width: 0.8}
	m, err := Maximize(context.Background(), Problem{Objective: b, Axes: []Axis{{Low: 0, High: 10}, {Low: -5, High: 5}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A tolerance of 1e-8 in the value of a parabola of width 0.8 is 1e-4 in the place.
	if !m.Complete || math.Abs(m.X[0]-7) > 1e-3 || math.Abs(m.X[1]-4) > 1e-3 || math.Abs(m.Value-2) > 1e-6 {
		t.Errorf("%+v, want 2 at (7, 4)", m)
	}
}

// The best setting of a grid of integers, steps and levels is the best of all, by brute
// force; and every value returned may be chosen.
func TestMaximizeDiscrete(t *testing.T) {
	levels := []float64{0.5, 1, 2.5, 4, 8}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := bumps{d: 3, height: []float64{1, 1.2, 1.4}, width: 2}
		for range b.height {
			b.center = append(b.center, 10*rng.Float64(), 10*rng.Float64(), 10*rng.Float64())
		}
		axes := []Axis{{Low: 0, High: 10, Step: 1}, {Low: 0, High: 10, Step: 0.1}, {Levels: levels}}
		m, err := Maximize(context.Background(), Problem{Objective: b, Axes: axes}, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(-1)
		for i := range 11 {
			for j := range 101 {
				for _, l := range levels {
					best = max(best, b.at(float64(i), float64(j)*0.1, l))
				}
			}
		}
		if m.Value < best-1e-12 || m.Value != b.at(m.X...) {
			t.Errorf("seed %d: %g at %v, want %g", seed, m.Value, m.X, best)
		}
		for i := range axes {
			if a := &axes[i]; m.X[i] != a.at(a.index(m.X[i])) {
				t.Errorf("seed %d: coordinate %d is %g, which may not be chosen", seed, i, m.X[i])
			}
		}
	}
}

// A mixed problem: one integer, one continuous coordinate.
func TestMaximizeMixed(t *testing.T) {
	b := bumps{d: 2, center: []float64{3.4, 0.7, 6.6, 0.2}, height: []float64{1, 1.1}, width: 0.9}
	m, err := Maximize(context.Background(), Problem{Objective: b, Axes: []Axis{{Low: 0, High: 9, Step: 1}, {Low: 0, High: 1}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for i := range 10 {
		for j := range 100001 {
			best = max(best, b.at(float64(i), float64(j)/1e5))
		}
	}
	if m.X[0] != math.Round(m.X[0]) || m.Value < best-1e-7 {
		t.Errorf("%+v, want %g", m, best)
	}
}

func TestProblemsAreChecked(t *testing.T) {
	b := bumps{d: 2}
	ok := []Axis{{High: 1}, {High: 1}}
	var bad *gpcore.ValueError
	for name, p := range map[string]Problem{
		"no objective":   {Axes: ok},
		"axes":           {Objective: b, Axes: ok[:1]},
		"list and axes":  {Objective: b, Axes: ok, List: []float64{1, 2}},
		"list":           {Objective: b, List: []float64{1, 2, 3}},
		"empty list":     {Objective: b, List: []float64{}},
		"list with NaN":  {Objective: b, List: []float64{1, math.NaN()}},
		"low above high": {Objective: b, Axes: []Axis{{High: 1}, {Low: 2, High: 1}}},
		"infinite":       {Objective: b, Axes: []Axis{{High: 1}, {High: math.Inf(1)}}},
		"step":           {Objective: b, Axes: []Axis{{High: 1}, {High: 1, Step: -1}}},
		"screen":         {Objective: b, Axes: ok, Screen: -100},
		"climbs":         {Objective: b, Axes: ok, Climbs: -1},
		"no coordinates": {Objective: bumps{}, Axes: []Axis{}},
		"no columns":     {Objective: bumps{}, List: []float64{1}},
		"tiny step":      {Objective: b, Axes: []Axis{{High: 1}, {High: 1, Step: 1e-300}}},
		"wide levels":    {Objective: b, Axes: []Axis{{High: 1}, {Levels: []float64{-1.5e308, 1.5e308}}}},
		"levels":         {Objective: b, Axes: []Axis{{High: 1}, {Levels: []float64{1, 1}}}},
	} {
		_, err := New([]Problem{p}, Options{})
		if err == nil || (name == "list with NaN" && !errors.As(err, &bad)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := New(nil, Options{}); err == nil {
		t.Error("no problems: no error")
	}
	if _, err := New([]Problem{{Objective: b, Axes: ok}}, Options{Slack: -1}); err == nil {
		t.Error("negative slack: no error")
	}
}

// NaN is never chosen, and a function that is nowhere finite ends.
func TestMaximizeNaN(t *testing.T) {
	b := hole{bumps{d: 1, center: []float64{0.9}, height: []float64{1}, width: 0.3}, 0.5}
	m, err := Maximize(context.Background(), Problem{Objective: b, Axes: []Axis{{High: 1}}}, Options{})
	if err != nil || math.Abs(m.X[0]-0.5) > 1e-3 || math.IsNaN(m.Value) {
		t.Errorf("%+v, %v: want the edge of the hole at 0.5", m, err)
	}
	b.from = -1
	if m, _ = Maximize(context.Background(), Problem{Objective: b, Axes: []Axis{{High: 1}}}, Options{}); !math.IsInf(m.Value, -1) {
		t.Errorf("%+v: want minus infinity", m)
	}
}

// hole is NaN beyond a place.
type hole struct {
	bumps
	from float64
}

func (h hole) Fork() Objective { return h }
func (h hole) Values(dst, x []float64) {
	h.bumps.Values(dst, x)
	for j, v := range x {
		if v > h.from {
			dst[j] = math.NaN()
		}
	}
}
