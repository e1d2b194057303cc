package acquisition

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
)

func TestEmptiness(t *testing.T) {
	endless := math.Inf(1)
	for _, c := range []struct {
		name                            string
		points, weight, around, x, want []float64
	}{
		{"the nearest point", []float64{0.1, 0.1, 0.5, 0.5}, []float64{1, 1}, []float64{1, 1}, []float64{0.5, 0.8}, []float64{0.3}},
		{"around the end of a range", []float64{0.1, 0.5}, []float64{1, 1}, []float64{1, 1}, []float64{0.9, 0.5}, []float64{0.2}},
		{"in a list there is no way around", []float64{0.1, 0.5}, []float64{1, 1}, []float64{endless, endless}, []float64{0.9, 0.5}, []float64{0.8}},
		{"a variable without effect", []float64{0.1, 0.5}, []float64{1, 0.01}, []float64{1, 1}, []float64{0.1, 0.9}, []float64{0.004}},
		{"two rows", []float64{0.5}, []float64{1}, []float64{1}, []float64{0.5, 0.75}, []float64{0, 0.25}},
	} {
		e := &emptiness{points: c.points, weight: c.weight, around: c.around}
		got := make([]float64, len(c.want))
		e.Values(got, c.x)
		for j := range got {
			if math.Abs(got[j]-c.want[j]) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// The gradient against central differences, away from where the nearest point is another one or a ring's two ways are as
// long: the function is a norm there, and the step 1e-6 leaves 1e-12 of its third derivative, and rounding 1e-10.
func TestEmptinessGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for d := 1; d <= 6; d++ {
		e := &emptiness{weight: make([]float64, d), around: make([]float64, d)}
		for i := range d {
			e.weight[i], e.around[i] = rng.Float64(), []float64{1, 1.25, math.Inf(1)}[rng.IntN(3)]
		}
		for range 20 * d {
			e.points = append(e.points, rng.Float64())
		}
		const rows, h = 30, 1e-6
		x, value, grad, at := make([]float64, rows*d), make([]float64, rows), make([]float64, rows*d), make([]float64, 1)
		for i := range x {
			x[i] = rng.Float64()
		}
		e.Gradients(value, grad, x)
		for j := range rows {
			row := slices.Clone(x[j*d : (j+1)*d])
			if e.Values(at, row); at[0] != value[j] {
				t.Fatalf("%d variables: value %g with the gradient, %g without", d, value[j], at[0])
			}
			for i, v := range row {
				row[i] = v + h
				e.Values(at, row)
				up := at[0]
				row[i] = v - h
				e.Values(at, row)
				row[i] = v
				if want := (up - at[0]) / (2 * h); math.Abs(grad[j*d+i]-want) > 1e-6 {
					t.Errorf("%d variables, row %v, coordinate %d: %g, want %g", d, row, i, grad[j*d+i], want)
				}
			}
		}
		copy(x, e.points)
		if e.Gradients(value[:1], grad, x[:d]); value[0] != 0 || slices.ContainsFunc(grad[:d], func(g float64) bool { return g != 0 }) {
			t.Errorf("%d variables: at a point %g, gradient %v", d, value[0], grad[:d])
		}
	}
}

func TestRingOf(t *testing.T) {
	for _, c := range []struct {
		axis search.Axis
		want float64
	}{
		{search.Axis{High: 1}, 1},
		{search.Axis{High: 0.9, Step: 0.1}, 1},
		{search.Axis{Levels: []float64{0, 0.25, 0.5, 0.75, 1}}, 1.25},
		{search.Axis{Levels: []float64{0.4}}, math.Inf(1)},
	} {
		if got := ringOf(c.axis); math.Abs(got-c.want) > 1e-12 && got != c.want {
			t.Errorf("%+v: %g, want %g", c.axis, got, c.want)
		}
	}
}

// A look elsewhere needs so many steps before it that repeat what is known: of a run that does nothing else, at most 6 sqrt(T) of
// the first T steps look elsewhere, and less than one in a hundred of a million.
func TestPatience(t *testing.T) {
	looks, repeated := 0, 0
	for step := 1; step <= 1_000_000; step++ {
		if repeated < Patience(step) {
			repeated++
			continue
		}
		looks, repeated = looks+1, 0
		if float64(looks) > 6*math.Sqrt(float64(step)) {
			t.Fatalf("%d looks elsewhere in %d steps", looks, step)
		}
	}
	if looks < 100 || looks > 10_000 {
		t.Errorf("%d looks elsewhere in a million steps", looks)
	}
}
