package policy

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/sobol"
)

// Sizes of the rules for expectations. Sobol: 128 nodes are about as accurate as
// 1024 independent draws in two to four dimensions at lengthscales near 0.1 of the
// range; the first 16 screen. Gauss: 24 nodes resolve a lengthscale of 0.1 in one
// dimension to well below one part in 1000.
const (
	sobolNodes  = 128
	coarseNodes = 16
	gaussNodes  = 24
)

// nodes is a rule for expectations over the random variables of a control set:
// E[g] = sum over j of weight_j g(x_j).
type nodes struct {
	x      []float64 // n x (number of random variables), unit coordinates
	weight []float64
	// coarse is how many of the first nodes make a cheaper rule with equal weights;
	// it equals the number of nodes where there is no cheaper one.
	coarse int
}

func (n *nodes) count() int { return len(n.weight) }

// at is node j.
func (n *nodes) at(j int) []float64 {
	r := len(n.x) / len(n.weight)
	return n.x[j*r : (j+1)*r]
}

// surroundings says what the random variables do when they are left alone.
type surroundings struct {
	marginals []marginal
	// last has every variable's last measured value in unit coordinates.
	last []float64
	read readings
	// base holds the run's common random numbers: sobolNodes points with one
	// coordinate per variable, and one more that chooses among readings. All steps
	// and all control sets share them, so that differences between two control sets
	// are not differences between two samples.
	base [][]float64
	// seed scrambles the points of the expectations that gpcore takes.
	seed uint64
	// timed says that time is one more coordinate of the model, the last.
	timed bool
}

// newSurroundings draws the common random numbers of a run. A held variable that
// was never measured is where it starts, in the middle where that is unknown.
// capacity bounds the readings of learnt distributions; timed as in the fields.
func newSurroundings(variables []Variable, axes []axis, capacity int, timed bool, seed uint64) *surroundings {
	d := len(variables)
	e := &surroundings{marginals: make([]marginal, d), last: make([]float64, d), read: readings{limit: capacity},
		seed: stream(seed, forNodes, 1).Uint64(), timed: timed}
	for i := range variables {
		v := &variables[i]
		e.marginals[i] = newMarginal(v)
		e.last[i] = 0.5
		if !math.IsNaN(v.Start) {
			e.last[i] = axes[i].unit(v.Start)
		}
	}
	sequence := sobol.NewScrambled(d+1, stream(seed, forNodes, 0))
	for j := range sobolNodes {
		p := make([]float64, d+1)
		sequence.Point(p, j)
		e.base = append(e.base, p)
	}
	return e
}

// nodes makes the rule for the variables that are left alone. Held variables are
// point masses. One variable with a known density gets Gauss-Legendre nodes times
// that density; else scrambled Sobol points are mapped by the quantiles, and
// learnt variables take their values together: from the uniform distribution with
// probability 10/(10+N), else from one of their N joint readings.
func (e *surroundings) nodes(random []int) nodes {
	var learnt, known []int
	for _, i := range random {
		switch e.marginals[i].kind {
		case Learnt:
			learnt = append(learnt, i)
		case Uniform, TruncatedNormal:
			known = append(known, i)
		}
	}
	switch {
	case len(learnt)+len(known) == 0:
		n := nodes{weight: []float64{1}, coarse: 1}
		for _, i := range random {
			n.x = append(n.x, e.last[i])
		}
		return n
	case len(learnt) == 0 && len(known) == 1:
		return e.gauss(random, known[0])
	}
	return e.sampled(random, learnt)
}

// inputs splits the coordinates of a point into the domain's and those left to chance,
// for a decision before a step: under drift the time is held at that step.
func (e *surroundings) inputs(d *domain, step int) gpcore.Inputs {
	in := gpcore.Inputs{Controlled: d.coords, Seed: e.seed}
	var learnt []int
	for _, i := range d.random {
		if e.marginals[i].kind == Learnt {
			learnt = append(learnt, i)
		}
	}
	if len(learnt) > 0 {
		n := e.sampled(d.random, learnt)
		if e.timed {
			n.x = appendTime(n.x, len(d.random), step)
		}
		in.Nodes = &gpcore.Nodes{X: n.x, Weight: n.weight}
		return in
	}
	for _, i := range d.random {
		in.Random = append(in.Random, e.marginals[i].of(e.last[i]))
	}
	if e.timed {
		in.Random = append(in.Random, gpcore.Held(float64(step)))
	}
	return in
}

// gauss is the rule for one variable with a density.
func (e *surroundings) gauss(random []int, variable int) nodes {
	m := e.marginals[variable]
	n := nodes{weight: make([]float64, gaussNodes), coarse: gaussNodes}
	at := make([]float64, gaussNodes)
	low, high := m.support()
	quad.Legendre{}.FixedLocations(at, n.weight, low, high)
	sum := 0.0
	for j, x := range at {
		n.weight[j] *= m.density(x)
		sum += n.weight[j]
	}
	for j := range at {
		n.weight[j] /= sum
		for _, i := range random {
			v := e.last[i]
			if i == variable {
				v = at[j]
			}
			n.x = append(n.x, v)
		}
	}
	return n
}

// sampled is the rule by common random numbers.
func (e *surroundings) sampled(random, learnt []int) nodes {
	n := nodes{weight: slices.Repeat([]float64{1 / float64(sobolNodes)}, sobolNodes), coarse: coarseNodes}
	rows := e.read.joint(learnt)
	uniform := learntWeight / (learntWeight + float64(len(rows)))
	for _, p := range e.base {
		var reading []float64 // nil: learnt variables are drawn from the uniform part
		if choice := p[len(p)-1]; len(learnt) > 0 && choice >= uniform {
			k := int((choice - uniform) / (1 - uniform) * float64(len(rows)))
			reading = rows[min(k, len(rows)-1)]
		}
		for _, i := range random {
			switch {
			case e.marginals[i].kind == Held:
				n.x = append(n.x, e.last[i])
			case reading != nil && e.marginals[i].kind == Learnt:
				n.x = append(n.x, reading[i])
			default:
				n.x = append(n.x, e.marginals[i].quantile(p[i]))
			}
		}
	}
	return n
}

// appendTime appends a step to each row of size values.
func appendTime(x []float64, size, step int) []float64 {
	var out []float64
	for i := 0; i+size <= len(x); i += size {
		out = append(append(out, x[i:i+size]...), float64(step))
	}
	return out
}

// place says where a held variable is before it was ever measured, in unit coordinates.
func (e *surroundings) place(variable int, at float64) { e.last[variable] = at }

// observe learns what the variables were at a step, in unit coordinates: those that
// controlled does not hold did it by themselves; nil: all of them.
func (e *surroundings) observe(x []float64, controlled []bool) {
	copy(e.last, x)
	reading, any := NaNs(len(x)), false
	for i := range x {
		if (controlled == nil || !controlled[i]) && e.marginals[i].kind == Learnt {
			reading[i], any = x[i], true
		}
	}
	if any {
		e.read.add(reading)
	}
}
