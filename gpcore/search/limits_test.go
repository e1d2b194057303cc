package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
)

// weight and steep make the penalty of corner as steep as that of a constraint learnt to a thirtieth of the range.
const (
	weight = 1000.0
	steep  = 30.0
)

// corner is x0 + 2 x1, less the penalties of two limits: x0^2 + x1^2 <= 0.7 and x1 <= x0 + 0.1.
type corner struct{ looked *int }

func (corner) Dim() int                 { return 2 }
func (c corner) Fork() search.Objective { return c }
func (corner) Limits() int              { return 2 }

func (c corner) Values(dst, x []float64) { c.Gradients(dst, make([]float64, len(x)), x) }

func (c corner) Gradients(dst, grad, x []float64) {
	n := len(dst)
	c.LimitedGradients(dst, grad, search.Limits{Short: make([]float64, 2*n), Weight: make([]float64, 2*n), Slope: make([]float64, 4*n)}, x, false)
}

func (c corner) LimitedGradients(dst, grad []float64, to search.Limits, x []float64, _ bool) {
	*c.looked += len(dst)
	for i := range dst {
		a, b := x[2*i], x[2*i+1]
		dst[i], grad[2*i], grad[2*i+1] = a+2*b, 1, 2
		copy(to.Short[2*i:], []float64{steep * (a*a + b*b - 0.7), steep * (b - a - 0.1)})
		copy(to.Slope[4*i:], []float64{steep * 2 * a, steep * 2 * b, -steep, steep})
		for j := range 2 {
			s := max(to.Short[2*i+j], 0)
			to.Weight[2*i+j] = weight
			dst[i] -= weight * s * s
			for k := range 2 {
				grad[2*i+k] -= 2 * weight * s * to.Slope[4*i+2*j+k]
			}
		}
	}
}

// steepCorner is the same function, which says nothing of its limits.
type steepCorner struct{ of corner }

func (s steepCorner) Dim() int                         { return 2 }
func (s steepCorner) Fork() search.Objective           { return s }
func (s steepCorner) Values(dst, x []float64)          { s.of.Values(dst, x) }
func (s steepCorner) Gradients(dst, grad, x []float64) { s.of.Gradients(dst, grad, x) }

// A search that knows the limits finds where they meet, and looks at fewer points than one that sees nothing but
// the penalty, and misses it.
func TestClimbsFollowLimits(t *testing.T) {
	// Where both limits are just kept, 2 x0^2 + 0.2 x0 = 0.69.
	x0 := (-0.2 + math.Sqrt(0.04+8*0.69)) / 4
	want := x0 + 2*(x0+0.1)
	find := func(o search.Objective) float64 {
		m, err := search.Maximize(context.Background(), search.Problem{Objective: o, Axes: []search.Axis{{Low: 0, High: 1}, {Low: 0, High: 1}}}, search.Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return m.Value
	}
	var limited, steeply int
	// The penalty is worth crossing an edge by (multiplier/(2 weight)), which gains multiplier^2/(4 weight): 1e-6 for
	// multipliers of at most 2/steep.
	if got := find(corner{&limited}); math.Abs(got-want) > 3e-6 {
		t.Errorf("the best value is %.9g, want %.9g", got, want)
	}
	if got := find(steepCorner{corner{&steeply}}); got > want-1e-4 {
		t.Errorf("without the limits it is %.9g as well, want less than %.9g: this tests nothing", got, want)
	}
	if limited >= steeply {
		t.Errorf("%d points were looked at, without the limits %d", limited, steeply)
	}
}

// Multipliers solve (A h A' + diag(1/(2 w))) u = s - A h g with u >= 0: either the equation of a limit holds, or its
// multiplier is zero and the limit is kept.
func TestMultipliers(t *testing.T) {
	const d = 4
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		m := 1 + rng.IntN(4)
		h, own := make([]float64, d*d), make([]float64, d)
		root := make([]float64, d*d)
		for i := range root {
			root[i] = rng.NormFloat64()
		}
		for i := range d {
			own[i] = rng.NormFloat64()
			for j := range d {
				for k := range d {
					h[i*d+j] += root[i*d+k] * root[j*d+k]
				}
			}
		}
		at := search.Limits{}
		for range m {
			at.Short = append(at.Short, rng.NormFloat64())
			at.Weight = append(at.Weight, math.Exp(3*rng.NormFloat64()))
			for range d {
				at.Slope = append(at.Slope, rng.NormFloat64())
			}
		}
		u := search.Multipliers(h, own, at)
		p := make([]float64, d) // the step
		for i := range p {
			for j := range p {
				pull := own[j]
				for k := range u {
					pull -= u[k] * at.Slope[k*d+j]
				}
				p[i] += h[i*d+j] * pull
			}
		}
		for k := range u {
			short := at.Short[k]
			for i := range p {
				short += at.Slope[k*d+i] * p[i]
			}
			// The sweeps end where nothing changes by 1e-9; limits that nearly agree leave more.
			if want := 2 * at.Weight[k] * max(short, 0); u[k] < 0 || math.Abs(u[k]-want) > 1e-4*(1+want)*(1+at.Weight[k]) {
				t.Errorf("seed %d: multiplier %d of %d is %g, want %g", seed, k, m, u[k], want)
			}
		}
	}
}
