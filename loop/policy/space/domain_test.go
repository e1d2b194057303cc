package space

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func axesOf(vars []Variable) []Axis {
	var out []Axis
	for i := range vars {
		out = append(out, NewAxis(&vars[i]))
	}
	return out
}

func TestAxisValues(t *testing.T) {
	for _, c := range []struct {
		v        Variable
		in, want float64
		count    int
	}{
		{Variable{Low: -2, High: 2}, 0.1234, 0.1234, 0},
		{Variable{Low: -2, High: 2}, 2.5, 2, 0},
		{Variable{Low: 0, High: 1, Resolution: 0.1}, 0.31, 0.3, 11},
		{Variable{Low: 0, High: 1, Resolution: 0.1}, 7, 1, 11},
		{Variable{Low: 10, High: 14, Resolution: 0.005}, 12.3474, 12.345, 801},
		{Variable{Low: 0.5, High: 9.5, Integer: true}, 0.1, 1, 9},
		{Variable{Low: 0.5, High: 9.5, Integer: true}, 6.4, 6, 9},
		{Variable{Low: 0, High: 9, Integer: true, Resolution: 4}, 7, 8, 3},
		{Variable{Low: 0, High: 64, Levels: []float64{1, 4, 16, 64}}, 11, 16, 4},
		{Variable{Low: 0, High: 64, Levels: []float64{1, 4, 16, 64}}, 0, 1, 4},
		{Variable{Low: 0, High: 64, Levels: []float64{1, 4, 16, 64}}, 99, 64, 4},
		{Variable{Low: 0, High: 64, Levels: []float64{1, 4, 16, 64}}, 10, 4, 4}, // a tie goes down
	} {
		a := NewAxis(&c.v)
		if got := a.nearest(c.in); got != c.want {
			t.Errorf("%+v: nearest to %g is %v, want %v", c.v, c.in, got, c.want)
		}
		if got := a.count(); got != c.count {
			t.Errorf("%+v: %d values, want %d", c.v, got, c.count)
		}
		for i := range a.count() {
			if v := a.at(i); v < c.v.Low || v > c.v.High || a.index(v) != i {
				t.Errorf("%+v: value %d is %v with index %d", c.v, i, v, a.index(v))
			}
		}
	}
}

// Whatever the search says, a proposal obeys range, levels, integers and steps.
func TestProposalsAreAllowed(t *testing.T) {
	vars := []Variable{
		{Name: "a", Low: -3, High: 5},
		{Name: "b", Low: 1, High: 900, Integer: true},
		{Name: "c", Low: 0, High: 64, Levels: []float64{1, 4, 16, 64}},
		{Name: "d", Low: 0.05, High: 2, Resolution: 0.001},
		{Name: "e", Low: 0, High: 1},
	}
	d := NewDomain(axesOf(vars), []bool{true, true, true, true, false}, 0, nil)
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		x := make([]float64, 4)
		for j := range x {
			x[j] = 1.4*rng.Float64() - 0.2
		}
		d.Round(x)
		p := d.Proposal(x)
		switch {
		case !math.IsNaN(p[4]):
			t.Fatal("a random variable got a value")
		case p[0] < -3 || p[0] > 5, p[1] != math.Round(p[1]) || p[1] < 1 || p[1] > 900, p[2] != 1 && p[2] != 4 && p[2] != 16 && p[2] != 64:
			t.Fatalf("seed %d: proposal %v", seed, p)
		case p[3] < 0.05 || p[3] > 2 || math.Abs(p[3]*1000-math.Round(p[3]*1000)) > 1e-9:
			t.Fatalf("seed %d: %v is no multiple of 0.001 in its range", seed, p[3])
		}
		y := append([]float64(nil), x...)
		if d.Round(y); !reflect.DeepEqual(x, y) {
			t.Fatalf("seed %d: settling twice moved %v to %v", seed, x, y)
		}
	}
	for j, a := range d.ProblemAxes() {
		if got := len(a.Levels); got != []int{0, 0, 4, 0}[j] {
			t.Errorf("axis %d has %d levels: 900 integers are rounded, four levels are stepped through", j, got)
		}
	}
}

func TestDiscreteProductsAreListed(t *testing.T) {
	vars := []Variable{
		{Name: "level", Low: 1, High: 9, Integer: true},
		{Name: "block", Low: 4, High: 64, Levels: []float64{4, 8, 64}},
	}
	d := NewDomain(axesOf(vars), []bool{true, true}, 0, nil)
	if d.Listed() != 27 {
		t.Fatalf("%d settings, want 27", d.Listed())
	}
	seen := map[[2]float64]bool{}
	for k := range 27 {
		p := d.Proposal(d.Row(k))
		seen[[2]float64{p[0], p[1]}] = true
	}
	if len(seen) != 27 || !seen[[2]float64{9, 64}] || !seen[[2]float64{1, 4}] {
		t.Errorf("settings %v", seen)
	}
}

func TestCandidatesAreProjected(t *testing.T) {
	vars := cube(3)
	rows := [][]float64{{0.1, 0.2, 0.3}, {0.1, 0.2, 0.9}, {0.5, 0.6, 0.7}}
	d := NewDomain(axesOf(vars), []bool{true, true, false}, 0, rows)
	if d.Listed() != 2 {
		t.Fatalf("%d settings, want two distinct ones", d.Listed())
	}
	if p := d.Proposal([]float64{0.45, 0.9}); p[0] != 0.5 || p[1] != 0.6 || !math.IsNaN(p[2]) {
		t.Errorf("proposal %v", p)
	}
	if !d.Contains([]float64{0.1, 0.2, 5}) || d.Contains([]float64{0.1, 0.6, 5}) {
		t.Error("only candidates may be proposed")
	}
}

// cube is d continuous variables on [0, 1] that are uniform when left alone.
func cube(d int) []Variable {
	out := make([]Variable, d)
	for i := range out {
		out[i] = Variable{Name: fmt.Sprintf("x%d", i), High: 1, Start: math.NaN(), Random: Distribution{Kind: Uniform}}
	}
	return out
}
