package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
)

// bumps is a sum of normal bumps in two coordinates, and a surrogate that is above it by gap, or off by it on either side. Below
// the jump's edge values are less by its height. It counts what is looked at.
type bumps struct {
	height []float64
	centre [][2]float64
	kind   search.SurrogateKind
	gap    float64
	jump   search.Jump
	looks  *counts
}

type counts struct{ values, slopes, surrogate, surrogateSlopes int }

func (b *bumps) Dim() int                        { return 2 }
func (b *bumps) Fork() search.Objective          { return b }
func (b *bumps) Surrogate() search.SurrogateKind { return b.kind }

func (b *bumps) Values(dst, x []float64) {
	b.looks.values += len(dst)
	b.evaluate(dst, nil, x, 0)
}

func (b *bumps) Gradients(dst, grad, x []float64) {
	b.looks.slopes += len(dst)
	b.evaluate(dst, grad, x, 0)
}

func (b *bumps) SurrogateValues(dst, x []float64) {
	b.looks.surrogate += len(dst)
	b.evaluate(dst, nil, x, b.gap)
}

func (b *bumps) SurrogateGradients(dst, grad, x []float64) {
	b.looks.surrogateSlopes += len(dst)
	b.evaluate(dst, grad, x, b.gap)
}

func (b *bumps) evaluate(dst, grad, x []float64, above float64) {
	const width = 0.2
	clear(grad)
	for j := range dst {
		dst[j] = above
		for i, h := range b.height {
			u, v := (x[2*j]-b.centre[i][0])/width, (x[2*j+1]-b.centre[i][1])/width
			f := h * math.Exp(-(u*u+v*v)/2)
			if dst[j] += f; grad != nil {
				grad[2*j] -= f * u / width
				grad[2*j+1] -= f * v / width
			}
		}
		if b.jump.Height > 0 && dst[j] < b.jump.Edge+b.jump.Height {
			dst[j] -= b.jump.Height
		}
	}
}

// randomBumps are some of at most that height.
func randomBumps(rng *rand.Rand, height float64) *bumps {
	b := &bumps{kind: search.UpperBound, gap: 0.05, looks: &counts{}}
	for range 3 {
		b.height = append(b.height, height*rng.Float64())
		b.centre = append(b.centre, [2]float64{rng.Float64(), rng.Float64()})
	}
	return b
}

// searched is the result of a search of problems from these starts, which all of them have.
func searched(t *testing.T, all []*bumps, slack float64, starts ...float64) []search.Maximum {
	t.Helper()
	var problems []search.Problem
	for _, b := range all {
		problems = append(problems, search.Problem{Objective: b, Axes: []search.Axis{{High: 1}, {High: 1}}})
	}
	s, err := search.New(problems, search.Options{Seed: 7, Workers: 1, Slack: slack})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range all {
		*b.looks = counts{}
		s.SetStarts(i, starts)
		s.SetJump(i, b.jump)
	}
	found, _ := s.Run(context.Background(), 0)
	return found
}

// TestSlackFindsTheBestOfAll: with slack the best of several problems is found as without, by upper bounds and
// by approximations, in random sets of them.
func TestSlackFindsTheBestOfAll(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 1))
	looks := map[float64]int{}
	for run := range 200 {
		var all []*bumps
		for range 4 {
			b := randomBumps(rng, 0.2+rng.Float64())
			if run%2 == 1 {
				b.kind, b.gap = search.Approximation, 0.4*(2*rng.Float64()-1)
			}
			all = append(all, b)
		}
		starts := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
		var best [2]float64
		for k, slack := range []float64{0, math.Inf(1)} {
			best[k] = math.Inf(-1)
			for _, m := range searched(t, all, slack, starts...) {
				best[k] = max(best[k], m.Value)
			}
			for _, b := range all {
				looks[slack] += b.looks.slopes + b.looks.surrogateSlopes
			}
		}
		if math.Abs(best[0]-best[1]) > 1e-5 { // climbs end with some 2e-7 of 1 + their value to be gained, by a parabola
			t.Errorf("seed %d, run %d: %v with slack 0, %v without", seed, run, best[0], best[1])
		}
	}
	if 10*looks[0] > 9*looks[math.Inf(1)] { // most of these problems count, so little can be left
		t.Errorf("%d slopes with slack 0, %d without", looks[0], looks[math.Inf(1)])
	}
}

// TestWhatCannotCountIsNotClimbed: a problem whose screened points lie far below another's best has two of them climbed, for at most
// 16 rounds each, on the surrogate alone, and no start of it but the first is looked at.
func TestWhatCannotCountIsNotClimbed(t *testing.T) {
	for _, kind := range []search.SurrogateKind{search.UpperBound, search.Approximation} {
		rng := rand.New(rand.NewPCG(3, 1))
		high, low := randomBumps(rng, 1), randomBumps(rng, 1)
		high.height, low.kind = []float64{5, 1, 1}, kind
		peak := high.centre[0]
		found := searched(t, []*bumps{high, low}, 0, peak[0], peak[1], 0.1, 0.2, 0.7, 0.3, 0.5, 0.9)
		if l := low.looks; l.values != 1 || l.slopes != 0 || l.surrogateSlopes > 2*16 || found[1].Complete {
			t.Errorf("surrogate %v: looked at %+v, complete %v", kind, *l, found[1].Complete)
		}
		if found[0].Value < 5 {
			t.Errorf("found %v", found[0].Value)
		}
	}
}

// TestJumpIsReached: a problem of which all screened points are forbidden, and whose top is beyond the edge, though not by the
// approximation, is climbed over it; one whose top is below the edge is given up.
func TestJumpIsReached(t *testing.T) {
	for _, c := range []struct {
		edge  float64 // of the values as they would be
		above bool
	}{{0.999, true}, {1.5, false}} {
		other := &bumps{height: []float64{0.9}, centre: [][2]float64{{0.5, 0.5}}, kind: search.UpperBound, gap: 0.01, looks: &counts{}}
		b := &bumps{height: []float64{1}, centre: [][2]float64{{0.3456, 0.6543}}, kind: search.Approximation, gap: -0.02, looks: &counts{},
			jump: search.Jump{Edge: c.edge - 100, Height: 100}}
		found := searched(t, []*bumps{other, b}, 0, 0.5, 0.5)
		if above := found[1].Value > 0; above != c.above || c.above && found[1].Value < 0.9999 {
			t.Errorf("edge %v: found %v at %v", c.edge, found[1].Value, found[1].X)
		}
		if !c.above && b.looks.slopes > 0 {
			t.Errorf("edge %v: %+v", c.edge, *b.looks)
		}
	}
}

// TestDoubtWithoutStarts: without starting points nothing says how far an approximation is off, so nothing is given up by it.
func TestDoubtWithoutStarts(t *testing.T) {
	other := &bumps{height: []float64{1}, centre: [][2]float64{{0.5, 0.5}}, kind: search.UpperBound, gap: 0.01, looks: &counts{}}
	b := &bumps{height: []float64{1.2}, centre: [][2]float64{{0.3, 0.7}}, kind: search.Approximation, gap: -0.5, looks: &counts{}}
	if found := searched(t, []*bumps{other, b}, 0); found[1].Value < 1.1999 {
		t.Errorf("found %v, there is 1.2", found[1].Value)
	}
}
