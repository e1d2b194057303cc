package gpcore

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
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

// On a list with an upper bound the result is the list's best, and only few settings
// were looked at with the objective itself.
func TestMaximizeList(t *testing.T) {
	g := worldOf(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 60, 1e-2, 3)
	in := Inputs{Controlled: []int{0, 2}, Random: []Marginal{papersNormal()}}
	rng := rand.New(rand.NewPCG(1, 1))
	list := point(rng, 2*500)
	e, err := NewExpected([]Term{{Process: g, Mean: 1, SD: 2}}, in)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSearch([]Problem{{Objective: e, List: list}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := s.Run(context.Background(), 0)
	value := make([]float64, 500)
	e.Values(value, list)
	at := slices.Index(value, slices.Max(value))
	if !slices.Equal(m[0].X, list[2*at:2*at+2]) || !m[0].Complete {
		t.Errorf("%+v, want row %d of value %g", m[0], at, value[at])
	}
	if looked := s.problems[0].examined; looked > 100 {
		t.Errorf("%d of 500 settings looked at", looked)
	}
}

// The same seed gives the same bits on any number of workers, and after any number of
// units.
func TestSearchIsDeterministic(t *testing.T) {
	g := worldOf(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 60, 1e-2, 3)
	for _, slack := range []float64{0, 0.1, math.Inf(1)} {
		run := func(workers, units int) ([]float64, int) {
			s, err := NewSearch(cvsProblems(t, g, papersNormal()), Options{Seed: 7, Slack: slack, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			var out []float64
			m, done := s.Run(context.Background(), units)
			for _, m := range m {
				out = append(append(out, m.Value), m.X...)
			}
			return out, done
		}
		whole, total := run(1, 0)
		for _, units := range []int{0, 1, 5, 9, 14, 20, 26, total - 1} {
			want, done := run(1, units)
			if units > 0 && done != units {
				t.Errorf("slack %g: %d units done, want %d", slack, done, units)
			}
			for _, workers := range []int{2, 5} {
				got, d := run(workers, units)
				if !sameBits(got, want) || d != done {
					t.Errorf("slack %g: %d workers, %d units: differs from one worker", slack, workers, units)
				}
			}
			if units == total && !sameBits(want, whole) {
				t.Errorf("slack %g: all units differ from no limit", slack)
			}
		}
	}
}

// A search that is cut holds something that may be chosen, with its true value, from the
// first unit on; and more work never makes it worse.
func TestSearchIsAnytime(t *testing.T) {
	g := worldOf(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 40, 1e-2, 5)
	problems := cvsProblems(t, g, papersNormal())
	for i := range problems {
		problems[i].Axes[0] = Axis{Low: 0, High: 1, Step: 0.001}
	}
	s, err := NewSearch(problems, Options{Slack: math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	s.SetStarts(0, []float64{0.3337, 0.9})
	_, total := s.Run(context.Background(), 0)
	before := vec.Constant(len(problems), math.Inf(-1))
	value := make([]float64, 1)
	for units := 1; units <= total; units++ {
		m, done := s.Run(context.Background(), units)
		if done != units {
			t.Fatalf("%d units done, want %d", done, units)
		}
		for i, m := range m {
			if m.Complete != (units == total) {
				t.Errorf("%d of %d units: problem %d says complete %v", units, total, i, m.Complete)
			}
			if a := &problems[i].Axes[0]; m.X[0] != a.at(a.index(m.X[0])) {
				t.Errorf("%d units: problem %d returns %v, off the grid", units, i, m.X)
			}
			if math.IsInf(m.Value, -1) {
				if i == 0 {
					t.Errorf("%d units: nothing known of the first problem", units)
				}
				continue
			}
			problems[i].Objective.Values(value, m.X)
			if !agree(value[0], m.Value, 1e-9) {
				t.Errorf("%d units: problem %d has value %g, said %g", units, i, value[0], m.Value)
			}
			// Rounding to the grid may lose what climbing won, less than a step's worth.
			if m.Value < before[i]-1e-2 {
				t.Errorf("%d units: problem %d fell from %g to %g", units, i, before[i], m.Value)
			}
			before[i] = m.Value
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, done := s.Run(ctx, 0); done != 1 {
		t.Errorf("%d units after the context's end, want 1", done)
	}
}

// A decision allocates nothing after the first, with one worker.
func TestSearchAllocatesNothing(t *testing.T) {
	g := worldOf(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 40, 1e-2, 5)
	s, err := NewSearch(cvsProblems(t, g, papersNormal()), Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := [][]float64{{0.1, 0.2, 0.3}, {0.7, 0.4, 0.5}}
	i := 0
	decide := func() {
		_ = g.Replace(0, x[i%2], 1, 1e-2)
		s.Run(context.Background(), 0)
		i++
	}
	for range 60 { // until every observation was replaced and all memory has its size
		decide()
	}
	if a := testing.AllocsPerRun(20, decide); a != 0 {
		t.Errorf("%g allocations a decision", a)
	}
}

func TestProblemsAreChecked(t *testing.T) {
	b := bumps{d: 2}
	ok := []Axis{{High: 1}, {High: 1}}
	var bad *ValueError
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
		_, err := NewSearch([]Problem{p}, Options{})
		if err == nil || (name == "list with NaN" && !errors.As(err, &bad)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := NewSearch(nil, Options{}); err == nil {
		t.Error("no problems: no error")
	}
	if _, err := NewSearch([]Problem{{Objective: b, Axes: ok}}, Options{Slack: -1}); err == nil {
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
