package space

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Sizes of the rules for expectations. Sobol: 128 nodes are about as accurate as
// 1024 independent draws in two to four dimensions at lengthscales near 0.1 of the
// range. Gauss: 24 nodes resolve a lengthscale of 0.1 in one dimension to well
// below one part in 1000.
const (
	sobolNodes = 128
	gaussNodes = 24
)

// Nodes is a rule for expectations over the random variables of a control set:
// E[g] = sum over j of weight_j g(x_j).
type Nodes struct {
	X      []float64 // n x (number of random variables), unit coordinates
	Weight []float64
}

func (n *Nodes) Count() int { return len(n.Weight) }

// At is node j.
func (n *Nodes) At(j int) []float64 {
	r := len(n.X) / len(n.Weight)
	return n.X[j*r : (j+1)*r]
}

// Moments are the mean and the standard deviation of one random variable, by its position among
// them, of what scale makes of its unit coordinate.
func (n *Nodes) Moments(variable int, scale func(u float64) float64) (mean, sd float64) {
	for j, w := range n.Weight {
		mean += w * scale(n.At(j)[variable])
	}
	square := 0.0
	for j, w := range n.Weight {
		d := scale(n.At(j)[variable]) - mean
		square += w * d * d
	}
	return mean, math.Sqrt(square)
}

// RandomVariables says what the random variables do when they are left alone.
type RandomVariables struct {
	Marginals []Marginal
	// Last has every variable's last measured value in unit coordinates.
	Last     []float64
	Readings readings
	// base holds the run's common random numbers: sobolNodes points with one
	// coordinate per variable, and one more that chooses among readings. All steps
	// and all control sets share them, so that differences between two control sets
	// are not differences between two samples.
	base [][]float64
	// seed scrambles the points of the expectations that gpcore takes.
	seed  uint64
	draws draws
	// timed says that time is one more coordinate of the model, the last.
	timed bool

	// Memory is that of the calls of the policy which asks; nil: the heap.
	Memory    *num.Memory
	marginals num.Slab[quadrature.Marginal]
}

// NewRandomVariables draws the common random numbers of a run. A held variable that
// was never measured is where it starts, in the middle where that is unknown.
// capacity bounds the readings of learnt distributions; timed as in the fields.
func NewRandomVariables(variables []Variable, axes []Axis, capacity int, timed bool, seed uint64) *RandomVariables {
	d := len(variables)
	e := &RandomVariables{Marginals: make([]Marginal, d), Last: make([]float64, d), Readings: readings{limit: capacity},
		seed: num.Stream(seed, num.ForNodes, 1).Uint64(), timed: timed, draws: newDraws(d, "")}
	for i := range variables {
		v := &variables[i]
		e.Marginals[i] = NewMarginal(v)
		e.Last[i] = 0.5
		if !math.IsNaN(v.Start) {
			e.Last[i] = axes[i].Unit(v.Start)
		}
	}
	sequence := sobol.NewScrambled(d+1, num.Stream(seed, num.ForNodes, 0))
	for j := range sobolNodes {
		p := make([]float64, d+1)
		sequence.Point(p, j)
		e.base = append(e.base, p)
	}
	return e
}

// Nodes makes the rule for the variables that are left alone. Held variables are
// point masses. One variable with a known density gets Gauss-Legendre nodes times
// that density; else scrambled Sobol points are mapped by the quantiles, and
// learnt variables take their values together: from the uniform distribution with
// probability 10/(10+N), else from one of their N joint readings. The rule holds until the
// policy's next call.
func (e *RandomVariables) Nodes(random []int) Nodes {
	learnt, known := e.Memory.Ints(len(random))[:0], e.Memory.Ints(len(random))[:0]
	for _, i := range random {
		switch e.Marginals[i].kind {
		case Learnt:
			learnt = append(learnt, i)
		case Uniform, TruncatedNormal:
			known = append(known, i)
		}
	}
	switch {
	case len(learnt)+len(known) == 0:
		n := Nodes{X: e.Memory.Floats(len(random))[:0], Weight: e.Memory.Floats(1)}
		n.Weight[0] = 1
		for _, i := range random {
			n.X = append(n.X, e.Last[i])
		}
		return n
	case len(learnt) == 0 && len(known) == 1:
		return e.gauss(random, known[0])
	}
	return e.sampled(random, learnt)
}

// Inputs splits the coordinates of a point into the domain's and those left to chance,
// for a decision before a step: under drift the time is held at that step. They hold until the
// policy's next call.
func (e *RandomVariables) Inputs(d *Domain, step int) expectations.Inputs {
	in := expectations.Inputs{Controlled: d.Coords, Seed: e.seed}
	learnt := e.Memory.Ints(len(d.Random))[:0]
	for _, i := range d.Random {
		if e.Marginals[i].kind == Learnt {
			learnt = append(learnt, i)
		}
	}
	if len(learnt) > 0 {
		n := e.sampled(d.Random, learnt)
		if e.timed {
			n.X = WithTime(n.X, len(d.Random), []float64{float64(step)})
		}
		in.Nodes = &quadrature.Nodes{X: n.X, Weight: n.Weight}
		return in
	}
	if more := len(d.Random) + 1; len(d.Random) > 0 || e.timed {
		in.Random = e.marginals.Take(e.Memory, more)[:0]
	}
	for _, i := range d.Random {
		in.Random = append(in.Random, e.Marginals[i].of(e.Last[i]))
	}
	if e.timed {
		in.Random = append(in.Random, quadrature.PointMass(float64(step)))
	}
	return in
}

// gauss is the rule for one variable with a density.
func (e *RandomVariables) gauss(random []int, variable int) Nodes {
	m := e.Marginals[variable]
	n := Nodes{X: e.Memory.Floats(gaussNodes * len(random))[:0], Weight: e.Memory.Floats(gaussNodes)}
	at := e.Memory.Floats(gaussNodes)
	low, high := m.support()
	quad.Legendre{}.FixedLocations(at, n.Weight, low, high)
	sum := 0.0
	for j, x := range at {
		n.Weight[j] *= m.density(x)
		sum += n.Weight[j]
	}
	for j := range at {
		n.Weight[j] /= sum
		for _, i := range random {
			v := e.Last[i]
			if i == variable {
				v = at[j]
			}
			n.X = append(n.X, v)
		}
	}
	return n
}

// sampled is the rule by common random numbers.
func (e *RandomVariables) sampled(random, learnt []int) Nodes {
	n := Nodes{X: e.Memory.Floats(sobolNodes * len(random))[:0], Weight: e.Memory.Floats(sobolNodes)}
	for j := range n.Weight {
		n.Weight[j] = 1 / float64(sobolNodes)
	}
	rows := e.Readings.joint(learnt)
	uniform := learntWeight / (learntWeight + float64(len(rows)))
	for _, p := range e.base {
		var reading []float64 // nil: learnt variables are drawn from the uniform part
		if choice := p[len(p)-1]; len(learnt) > 0 && choice >= uniform {
			k := int((choice - uniform) / (1 - uniform) * float64(len(rows)))
			reading = rows[min(k, len(rows)-1)]
		}
		for _, i := range random {
			switch {
			case e.Marginals[i].kind == Held:
				n.X = append(n.X, e.Last[i])
			case reading != nil && e.Marginals[i].kind == Learnt:
				n.X = append(n.X, reading[i])
			default:
				n.X = append(n.X, e.Marginals[i].Quantile(p[i]))
			}
		}
	}
	return n
}

// WithTime appends the coordinate of time, where there is one, to each row of size values.
func WithTime(x []float64, size int, time []float64) []float64 {
	var out []float64
	for i := 0; i+size <= len(x); i += size {
		out = append(append(out, x[i:i+size]...), time...)
	}
	return out
}

// SetLast says where a held variable is before it was ever measured, in unit coordinates.
func (e *RandomVariables) SetLast(variable int, at float64) { e.Last[variable] = at }

// SetDraws says whether a draw is for a shot (DrawnPerShot) or for a step (DrawnPerStep); empty: as
// measured.
func (e *RandomVariables) SetDraws(word string) { e.draws.word = word }

// Inflation is what the spread over random variables counts in the mean of a step, times the
// step's shots: 1 where each shot has a draw of its own; where one draw holds for a step, which
// averaging over shots does not reduce, the mean number of shots of steps that leave variables random.
func (e *RandomVariables) Inflation() float64 { return e.draws.inflation() }

// Observe learns what the variables were in so many shots of a step, in unit coordinates: those
// that controlled does not hold did it by themselves; nil: all of them.
func (e *RandomVariables) Observe(x []float64, controlled []bool, step, shots int) {
	copy(e.Last, x)
	reading, any := []float64(nil), false
	for i := range x {
		if controlled != nil && controlled[i] || e.Marginals[i].kind == Held {
			continue
		}
		if shots > 0 {
			e.draws.observe(i, x[i], step, shots)
		}
		if e.Marginals[i].kind == Learnt {
			if !any {
				reading = num.NaNs(len(x))
			}
			reading[i], any = x[i], true
		}
	}
	if any {
		e.Readings.add(reading)
	}
}
