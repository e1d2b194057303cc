package policy

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/constraint"
)

// A kept objective's gradients, its surrogate's too, are those of finite differences,
// and it is lower than the inner one by the penalty of what is short.
func TestKeptGradients(t *testing.T) {
	s := pressed(subsetsSpec("ucb-psq", 43), 299, 302)
	p := fresh(t, s)
	press(t, p, s, 14)
	propose(t, p)
	e := p.(*engine)
	keeper, err := keeperAt(e, 16)
	if err != nil {
		t.Fatal(err)
	}
	_, options := allOptions(t, subsetsSpec("ucb-psq", 43), 14)
	rng := rand.New(rand.NewPCG(4, 4))
	short, partly := 0, 0
	for _, o := range options {
		kept := keeper.Limit(o.Objective, o.Set).(limited)
		kept.Prepare()
		for range 40 {
			x := make([]float64, kept.Dim())
			for j := range x {
				x[j] = 0.02 + 0.96*rng.Float64()
			}
			var inner, p [1]float64
			o.Objective.Values(inner[:], x)
			keeper.Each[o.Set][0].Values(p[:], x)
			cost, _ := constraint.ShortfallPenalty(1.6448536269514722 + math.Sqrt2*math.Erfinv(1-2*p[0])) // Phi^-1(0.95) - Phi^-1(P)
			if short++; cost == 0 {
				short--
			} else if cost < constraint.QuadraticWeight*constraint.QuadraticWidth*constraint.QuadraticWidth {
				partly++
			}
			compareSlopes(t, kept, kept.Values, kept.Gradients, x)
			compareSlopes(t, kept, kept.SurrogateValues, kept.SurrogateGradients, x)
			compareLimits(t, kept, x)
			var got [1]float64
			kept.Values(got[:], x)
			// 1-2P keeps 16-k digits of a P of 10^-k.
			if tolerance := 1e-6 * (1 + cost); p[0] > 1e-8 && math.Abs(inner[0]-cost-got[0]) > tolerance {
				t.Errorf("control set %d at %v, probability %g: %g, want %g - %g", o.Set, x, p[0], got[0], inner[0], cost)
			}
		}
	}
	if short < 20 || partly == 0 {
		t.Errorf("%d of 120 settings were short, %d of them on the edge: the test does not test what it says", short, partly)
	}
	// Far from the bounds, where every probability is zero, what is nearer to them costs
	// less: 270 K are 30 K below the quantity's average.
	e.constraints.Each[0].Low, e.constraints.Each[0].High = 260, 270
	if keeper, err = keeperAt(e, 16); err != nil {
		t.Fatal(err)
	}
	last := len(e.domains) - 1 // controls all
	kept := keeper.Limit(options[last].Objective, last).(limited)
	kept.Prepare()
	low, high := []float64{0.2, 0.8, 0.5}, []float64{0.8, 0.2, 0.5}
	compareSlopes(t, kept, kept.Values, kept.Gradients, low)
	if a, b := keeper.Shortfall(last, low), keeper.Shortfall(last, high); !(a < b) || a < 10 {
		t.Errorf("short by %g at the lower temperature, by %g at the higher", a, b)
	}
}

// limited is what a limited objective can.
type limited interface {
	search.Objective
	search.Preparer
	search.Surrogated
	search.Limited
}

// compareLimits compares what a limited objective of one constraint says of it with its gradients, and the slope
// of the shortfall with central differences.
func compareLimits(t *testing.T, o limited, x []float64) {
	t.Helper()
	d := o.Dim()
	var v, same [1]float64
	grad, sameGrad := make([]float64, d), make([]float64, d)
	look := func(x []float64, surrogate bool) search.Limits {
		to := search.Limits{Short: make([]float64, 1), Rate: make([]float64, 1), Slope: make([]float64, d)}
		o.LimitedGradients(same[:], sameGrad, to, x, surrogate)
		return to
	}
	o.SurrogateGradients(v[:], grad, x)
	if look(x, true); v != same || !slices.Equal(grad, sameGrad) {
		t.Errorf("at %v, surrogate: %g and %v with limits, %g and %v without", x, same, sameGrad, v, grad)
	}
	o.Gradients(v[:], grad, x)
	at := look(x, false)
	if v != same || !slices.Equal(grad, sameGrad) {
		t.Errorf("at %v: %g and %v with limits, %g and %v without", x, same, sameGrad, v, grad)
	}
	if _, rate := constraint.ShortfallPenalty(at.Short[0]); at.Rate[0] != rate {
		t.Errorf("at %v, short by %g: the penalty's slope is %g, want %g", x, at.Short[0], at.Rate[0], rate)
	}
	compareSlopes(t, o, func(dst, x []float64) { dst[0] = look(x, false).Short[0] }, func(dst, grad, x []float64) {
		l := look(x, false)
		dst[0] = l.Short[0]
		copy(grad, l.Slope)
	}, x)
}

// A constrained decision is a maximum: no small move from it is better. A search that is not told of the
// limits, but sees their penalty alone, stops before.
func TestConstrainedDecisionsAreMaxima(t *testing.T) {
	b := corner()
	s := b.spec("gp-ucb", 5)
	p := fresh(t, s)
	for range 20 {
		q := propose(t, p)
		if err := p.Observe(b.measure(q, s.Seed)); err != nil {
			t.Fatal(err)
		}
	}
	e := p.(*engine)
	if err := errors.Join(e.model.Refresh(), e.constraints.Refresh()); err != nil {
		t.Fatal(err)
	}
	d := prepared(t, e, 21, []int{0})
	d.Beta = s.Beta
	options, err := e.acquisition.Options(d.Decision)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := keeperAt(e, 21)
	if err != nil {
		t.Fatal(err)
	}
	o := keeper.Limit(options[0].Objective, 0)
	// A climb leaves 1e-8, relative to one and the value, to be gained.
	if gain := gained(t, o); gain > 1e-6 {
		t.Errorf("%g is gained from the decision on", gain)
	}
	if gain := gained(t, unlimited{o.(search.Differentiable), o}); gain < 1e-4 {
		t.Errorf("without the limits %g is gained: this tests nothing", gain)
	}
}

// unlimited hides the limits of an objective.
type unlimited struct {
	search.Differentiable
	o search.Objective
}

func (u unlimited) Dim() int                { return u.o.Dim() }
func (u unlimited) Values(dst, x []float64) { u.o.Values(dst, x) }
func (u unlimited) Fork() search.Objective {
	f := u.o.Fork()
	return unlimited{f.(search.Differentiable), f}
}

// gained is what random moves, shorter where they are no better, gain from where a search of the unit square ends.
func gained(t *testing.T, o search.Objective) float64 {
	t.Helper()
	m, err := search.Maximize(context.Background(), search.Problem{Objective: o, Axes: []search.Axis{{Low: 0, High: 1}, {Low: 0, High: 1}}}, search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng, x, best, far := rand.New(rand.NewPCG(2, 2)), slices.Clone(m.X), m.Value, 0.01
	for range 4000 {
		var v [1]float64
		y := slices.Clone(x)
		for i := range y {
			y[i] = min(max(y[i]+far*rng.NormFloat64(), 0), 1)
		}
		if o.Values(v[:], y); v[0] > best {
			x, best, far = y, v[0], 1.5*far
		} else {
			far *= 0.95
		}
		far = max(far, 1e-8)
	}
	return best - m.Value
}

// compareSlopes compares gradients with central differences.
func compareSlopes(t *testing.T, o interface{ Dim() int }, values func(dst, x []float64), gradients func(dst, grad, x []float64), x []float64) {
	t.Helper()
	var v, up, down [1]float64
	grad := make([]float64, o.Dim())
	gradients(v[:], grad, x)
	for i := range x {
		const h = 1e-6
		moved := slices.Clone(x)
		moved[i] = x[i] + h
		values(up[:], moved)
		moved[i] = x[i] - h
		values(down[:], moved)
		// Values reach 10^7 in the wall, of which differences keep 16 digits over 2h; the
		// seam of the penalty has two slopes.
		want := (up[0] - down[0]) / (2 * h)
		if math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want))+1e-9*math.Abs(v[0])/h {
			t.Errorf("at %v: slope %d is %g, of differences %g", x, i, grad[i], want)
		}
	}
}

func keeperAt(e *engine, step int) (*constraint.Limiter, error) {
	return e.constraints.NewLimiter(e.domains, acquisition.NewGoal(e.target, e.criterion.Random, e.model.Rules, fidelityOf(e), step).Inputs, step)
}
