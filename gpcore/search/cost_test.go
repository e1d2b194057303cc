package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rated are bumps that say what they cost.
type rated struct {
	bumps
	cost float64
}

func (r rated) Fork() Objective { return r }
func (r rated) Cost() Costs     { return Costs{Value: r.cost, Surrogate: r.cost} }

// bounded is rated with an upper bound that stands in for it.
type bounded struct{ rated }

func (b bounded) Fork() Objective          { return b }
func (b bounded) Surrogate() SurrogateKind { return UpperBound }
func (b bounded) Gradients(dst, grad, x []float64) {
	b.Values(dst, x)
	for j := range dst {
		for i := range b.d {
			grad[j*b.d+i] = 0
			for k, h := range b.height {
				s := 0.0
				for q := range b.d {
					t := (x[j*b.d+q] - b.center[k*b.d+q]) / b.width
					s += t * t
				}
				grad[j*b.d+i] -= h * math.Exp(-s/2) * (x[j*b.d+i] - b.center[k*b.d+i]) / (b.width * b.width)
			}
		}
	}
}

func (b bounded) SurrogateValues(dst, x []float64) {
	b.Values(dst, x)
	for j := range dst {
		dst[j] += 0.1
	}
}

func (b bounded) SurrogateGradients(dst, grad, x []float64) {
	b.Gradients(dst, grad, x)
	for j := range dst {
		dst[j] += 0.1
	}
}

// dividedProblems are problems of every kind whose values cost so much.
func dividedProblems(rng *rand.Rand, cost float64, calls *int) []Problem {
	hills := func() rated {
		r := rated{bumps{d: 3, height: []float64{1, 1.2, 1.4}, width: 2, calls: calls}, cost}
		for range 9 {
			r.center = append(r.center, 10*rng.Float64())
		}
		return r
	}
	continuous, steps := []Axis{{High: 10}, {High: 10}, {High: 10}}, []Axis{{High: 10, Step: 1}, {High: 10}, {Levels: []float64{0, 3, 7, 10}}}
	grid := []Axis{{High: 10, Step: 0.01}, {High: 10, Step: 1}, {High: 10}}
	var list []float64
	for range 900 {
		list = append(list, 10*rng.Float64())
	}
	return []Problem{{Objective: hills(), Axes: continuous}, {Objective: bounded{hills()}, Axes: continuous},
		{Objective: hills(), Axes: steps}, {Objective: bounded{hills()}, Axes: steps},
		{Objective: hills(), Axes: grid}, {Objective: bounded{hills()}, Axes: grid},
		{Objective: hills(), List: list}, {Objective: bounded{hills()}, List: list}}
}

// costly are costs of a value that divide units: somewhat, and as far as it goes.
var costly = []float64{UnitCost / 100, UnitCost}

// Dividing units changes what a search does between two of them, never what it finds.
func TestDividedUnitsFindTheSame(t *testing.T) {
	for seed := range uint64(5) {
		search := func(cost float64) ([]Maximum, int) {
			s, err := New(dividedProblems(rand.New(rand.NewPCG(seed, 7)), cost, nil), Options{Seed: seed, Slack: 0.2})
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.problems {
				s.SetStarts(i, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
			}
			m, units := s.Run(context.Background(), 0)
			return m, units
		}
		want, whole := search(0)
		for _, cost := range costly {
			found, units := search(cost)
			if units <= whole {
				t.Fatalf("seed %d, cost %g: %d units, %d where values cost nothing", seed, cost, units, whole)
			}
			for i, m := range found {
				if !slices.Equal(m.X, want[i].X) || m.Value != want[i].Value || m.Complete != want[i].Complete {
					t.Errorf("seed %d, cost %g, problem %d: %+v, want %+v", seed, cost, i, m, want[i])
				}
			}
		}
	}
}

// What a climber's own step takes counts: of forty coordinates it is more than a cheap gradient.
func TestRoundsCountSteps(t *testing.T) {
	c := Costs{Value: 100}
	if few, many := c.rounds(24, 40, false), c.rounds(24, 3, false); few != UnitCost/(24*(200+metricCost*1600)) || many < 50*few {
		t.Errorf("%d rounds of forty coordinates, %d of three", few, many)
	}
	if c := (Costs{Value: 1 << 16, Surrogate: 1 << 12, Gradient: 1 << 20}); c.rounds(1, 1, false) != 15 || c.rounds(1, 1, true) != 255 {
		t.Errorf("%d rounds of a dear gradient, %d of its surrogate's", c.rounds(1, 1, false), c.rounds(1, 1, true))
	}
}

// between is a context that never ends and counts the values that were taken since it was last looked at.
type between struct {
	context.Context
	calls      *int
	last, most int
}

func (b *between) Err() error {
	b.most, b.last = max(b.most, *b.calls-b.last), *b.calls
	return nil
}

// No unit takes many more values than cost what a unit may.
func TestUnitsAreBounded(t *testing.T) {
	for _, cost := range costly {
		calls := 0
		s, err := New(dividedProblems(rand.New(rand.NewPCG(3, 7)), cost, &calls), Options{Seed: 3, Slack: math.Inf(1), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		ctx := &between{Context: context.Background(), calls: &calls}
		s.Run(ctx, 0)
		// A gradient by differences takes seven values, not the two that are counted; a round of climbs or of
		// moves is one of up to seven climbers, and a best point's move one climb and its neighbours.
		if most := 7 * max(int(UnitCost/cost), 2*refineRounds+6); ctx.most > most {
			t.Errorf("cost %g: a unit took %d values, at most %d are allowed", cost, ctx.most, most)
		}
	}
}

// Whatever the unit after which a search is cut, it returns settings that may be chosen, with their
// values.
func TestCutWithinDividedUnits(t *testing.T) {
	problems := dividedProblems(rand.New(rand.NewPCG(3, 7)), UnitCost/100, nil)
	s, err := New(problems, Options{Seed: 3, Slack: math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	_, whole := s.Run(context.Background(), 0)
	for units := 1; units < whole; units += 1 + whole/150 {
		found, _ := s.Run(context.Background(), units)
		for i, m := range found {
			if math.IsInf(m.Value, -1) {
				continue
			}
			var v [1]float64
			problems[i].Objective.Values(v[:], m.X)
			if v[0] != m.Value {
				t.Fatalf("%d units, problem %d: value %g at %v, want %g", units, i, m.Value, m.X, v[0])
			}
			for k := range problems[i].Axes {
				a := &problems[i].Axes[k]
				if x := m.X[k]; a.count() > 0 && a.at(a.index(x)) != x {
					t.Fatalf("%d units, problem %d: %g may not be chosen", units, i, x)
				}
			}
		}
	}
}
