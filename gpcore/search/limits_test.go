package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
)

// Constants of a penalty as steep as that of a constraint learnt to a thirtieth of the range: weight times the square of
// what is missed, and a line beyond a quarter.
const (
	weight = 1000.0
	width  = 0.25
	line   = 1e6
	steep  = 30.0
)

func penalty(short float64) (value, rate float64) {
	switch {
	case short <= 0:
		return 0, 0
	case short <= width:
		return weight * short * short, 2 * weight * short
	}
	return weight*width*width + line*(short-width), line
}

// corner is x0 + 2 x1, less the penalties of two limits: x0^2 + x1^2 <= room and x1 <= x0 + 0.1.
type corner struct {
	room   float64
	looked *int
}

func (corner) Dim() int                 { return 2 }
func (c corner) Fork() search.Objective { return c }
func (corner) Limits() int              { return 2 }
func (corner) Weight() float64          { return weight }

func (c corner) Values(dst, x []float64) { c.Gradients(dst, make([]float64, len(x)), x) }

func (c corner) Gradients(dst, grad, x []float64) {
	n := len(dst)
	c.LimitedGradients(dst, grad, search.Limits{Short: make([]float64, 2*n), Rate: make([]float64, 2*n), Slope: make([]float64, 4*n)}, x, false)
}

func (c corner) LimitedGradients(dst, grad []float64, to search.Limits, x []float64, _ bool) {
	*c.looked += len(dst)
	for i := range dst {
		a, b := x[2*i], x[2*i+1]
		dst[i], grad[2*i], grad[2*i+1] = a+2*b, 1, 2
		copy(to.Short[2*i:], []float64{steep * (a*a + b*b - c.room), steep * (b - a - 0.1)})
		copy(to.Slope[4*i:], []float64{steep * 2 * a, steep * 2 * b, -steep, steep})
		for j := range 2 {
			cost, rate := penalty(to.Short[2*i+j])
			dst[i] -= cost
			to.Rate[2*i+j] = rate
			for k := range 2 {
				grad[2*i+k] -= rate * to.Slope[4*i+2*j+k]
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

// find searches the box from -1 to 1, with one worker: a corner counts its points without a lock.
func find(t *testing.T, o search.Objective) float64 {
	t.Helper()
	axis := search.Axis{Low: -1, High: 1}
	m, err := search.Maximize(context.Background(), search.Problem{Objective: o, Axes: []search.Axis{axis, axis}}, search.Options{Seed: 3, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.Value
}

// A search that knows the limits finds where they meet, and looks at three quarters of the points at most that one
// looks at which sees nothing but the penalty, and misses it.
func TestClimbsFollowLimits(t *testing.T) {
	// Where both limits are just kept, 2 x0^2 + 0.2 x0 = 0.69.
	x0 := (-0.2 + math.Sqrt(0.04+8*0.69)) / 4
	want := x0 + 2*(x0+0.1)
	var limited, steeply int
	// The penalty is worth crossing an edge by multiplier/(2 weight), which gains multiplier^2/(4 weight): 1e-6 for
	// multipliers of at most 2/steep.
	if got := find(t, corner{0.7, &limited}); math.Abs(got-want) > 3e-6 {
		t.Errorf("the best value is %.9g, want %.9g", got, want)
	}
	if got := find(t, steepCorner{corner{0.7, &steeply}}); got > want-1e-4 {
		t.Errorf("without the limits it is %.9g as well, want less than %.9g: this tests nothing", got, want)
	}
	if 4*limited > 3*steeply {
		t.Errorf("%d points were looked at, without the limits %d", limited, steeply)
	}
}

// Where limits cannot be kept, a climb goes down the penalty as one that knows nothing else.
func TestClimbsDownAPenalty(t *testing.T) {
	var limited, steeply int
	got, want := find(t, corner{-1, &limited}), find(t, steepCorner{corner{-1, &steeply}})
	if math.Abs(got-want) > 1e-6*math.Abs(want) {
		t.Errorf("the best value is %.9g, without the limits %.9g", got, want)
	}
	if 10*limited > 11*steeply {
		t.Errorf("%d points were looked at, without the limits %d", limited, steeply)
	}
}

// missing are two limits at a point, many of whose coordinates are at a bound of the box from -1 to 1, and the gradient
// there: of own, less the penalties'.
func missing(rng *rand.Rand, d int) (x, grad []float64, at search.Limits) {
	at = search.Limits{Short: make([]float64, 2), Rate: make([]float64, 2), Slope: make([]float64, 2*d)}
	for i := range at.Slope {
		at.Slope[i] = steep * rng.NormFloat64()
	}
	for j := range at.Short {
		at.Short[j] = 0.2 * rng.NormFloat64()
		_, at.Rate[j] = penalty(at.Short[j])
	}
	for i := range d {
		x = append(x, min(max(2*rng.NormFloat64(), -1), 1))
		grad = append(grad, rng.NormFloat64()-at.Rate[0]*at.Slope[i]-at.Rate[1]*at.Slope[d+i])
	}
	return x, grad, at
}

// A direction depends on what is known at the point alone, not on which coordinates moved when the climber was used
// before.
func TestDirectionForgets(t *testing.T) {
	for seed := range uint64(300) {
		x, grad, at := missing(rand.New(rand.NewPCG(seed, 8)), 3)
		want := search.Direction(x, grad, weight, at, make([]bool, 3))
		for k := range 1 << 3 {
			moved := []bool{k&1 > 0, k&2 > 0, k&4 > 0}
			if got := search.Direction(x, grad, weight, at, moved); !slices.Equal(got, want) {
				t.Errorf("seed %d, after %v: %v, want %v", seed, moved, got, want)
			}
		}
	}
}

// A climb does not end where the gradient promises something within the box.
func TestClimbsWhileItRises(t *testing.T) {
	for seed := range uint64(1000) {
		x, grad, at := missing(rand.New(rand.NewPCG(seed, 9)), 3)
		rises := false
		for i, v := range x {
			rises = rises || grad[i] > 0 && v < 1 || grad[i] < 0 && v > -1
		}
		if got := search.Proposes(x, grad, weight, at); got != rises {
			t.Errorf("seed %d: at %v with gradient %v it goes on: %v, want %v", seed, x, grad, got, rises)
		}
	}
}

// Multipliers solve (A h A' + 1/(2 w)) u = s - A h g with u >= 0: either the equation of a limit holds, or its
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
		at, w := search.Limits{}, math.Exp(3*rng.NormFloat64())
		for k := range m {
			at.Short = append(at.Short, rng.NormFloat64())
			at.Rate = append(at.Rate, 2*w*max(at.Short[k], 0))
			for i := range d {
				slope := rng.NormFloat64()
				switch {
				case k > 0 && seed%3 == 1: // one limit again and again
					slope = at.Slope[i]
				case k%2 == 1 && seed%3 == 2: // against each other
					slope = -at.Slope[(k-1)*d+i]
				}
				at.Slope = append(at.Slope, slope)
			}
		}
		u := search.Multipliers(h, own, w, at)
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
			// The matrix has a condition of up to 1e7, and short is a difference of numbers of order 10.
			if want := 2 * w * max(short, 0); u[k] < 0 || math.Abs(u[k]-want) > 1e-9*(1+want)*(1+w) {
				t.Errorf("seed %d: multiplier %d of %d is %g, want %g", seed, k, m, u[k], want)
			}
		}
	}
}
