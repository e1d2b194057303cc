package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/sobol"
)

// design chooses settings without a model: the initial steps, and all steps of the
// kinds "random" and "sobol". Its choice is a function of the step's number, the
// control sets that fit, and, in a finite domain, what was played.
type design struct {
	random   bool // independent uniform points instead of a scrambled Sobol sequence
	seed     uint64
	sequence *sobol.Sequence
	dims     int
}

func newDesign(random bool, seed uint64, dims int) *design {
	return &design{random: random, seed: seed, dims: dims, sequence: sobol.NewScrambled(dims, stream(seed, forDesign, 0))}
}

// point is the step's design point for all variables, in unit coordinates.
func (g *design) point(step int) []float64 {
	x := make([]float64, g.dims)
	if !g.random {
		g.sequence.Point(x, step-1)
		return x
	}
	rng := stream(g.seed, forDesign, step)
	for i := range x {
		x[i] = rng.Float64()
	}
	return x
}

// setting is the step's setting in domain d. In a finite domain it is the one
// nearest to the design point among those not in played, while there are any.
func (g *design) setting(d *domain, step int, played [][]float64) []float64 {
	x := make([]float64, d.size())
	d.project(x, g.point(step))
	n := d.listed()
	if n == 0 {
		d.settle(x)
		return x
	}
	used := make([]bool, n)
	for _, p := range played {
		used[d.nearestListed(p)] = true
	}
	if !slices.Contains(used, false) {
		clear(used)
	}
	best, distance := 0, math.Inf(1)
	rng := stream(g.seed, forSets, step)
	for k, u := range used {
		q := rng.Float64() // the nearest to a uniform point is not a uniform choice in a list
		if !g.random {
			q = squaredDistance(d.row(k), x)
		}
		if !u && q < distance {
			best, distance = k, q
		}
	}
	return slices.Clone(d.row(best))
}

// cheapest lists the sets of least cost, in their order.
func cheapest(sets []ControlSet, fits []int) []int {
	least := math.Inf(1)
	for _, i := range fits {
		least = min(least, sets[i].Cost)
	}
	var out []int
	for _, i := range fits {
		if sameCost(sets[i].Cost, least) {
			out = append(out, i)
		}
	}
	return out
}
