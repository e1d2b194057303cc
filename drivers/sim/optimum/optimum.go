package optimum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Query asks what the best setting of a plant really is.
type Query struct {
	// Alpha weighs the variance of a shot in the user's objective, in 1/(its unit).
	Alpha float64
	// SpreadCounts is how often what random variables add to that variance counts: the
	// shots of a step where one draw of them holds for a step; 0: once.
	SpreadCounts int
	// Minimize says that a small value is wanted.
	Minimize bool
	// ControlSets has, for every control set, one entry per variable: whether it is
	// controlled. Without any, all variables are.
	ControlSets [][]bool
	// Formula gives the objective's value of one shot from the sensors' values, by
	// sensor name; nil: the objective is the plant's own sensor. An error, NaN or
	// an infinity makes the setting one without a value.
	Formula func(values map[string]float64) (float64, error)
	// Candidates, if any, are the only settings, in the variables' units.
	Candidates [][]float64
	// Bounds of what sensors show: settings that do not keep them have no value.
	Bounds []Bound
}

// Setting is a point of the domain of a control set.
type Setting struct {
	// ControlSet indexes Query.ControlSets.
	ControlSet int
	// X has one value per variable, in its unit; NaN where it is left random, and where it is idle.
	X []float64
}

// Truth is what a simulated plant knows of itself at one moment: its drift stands
// still.
type Truth struct {
	// Optimum is the best setting over all control sets, and Value the user's
	// objective there; see ValueOf.
	Optimum Setting
	Value   float64
	// Range is the greatest minus the least value of the user's objective over the
	// whole domain, every variable controlled.
	Range float64

	judge *judge
}

// ValueOf returns the user's objective at x under a control set, in the
// objective's unit (that of its square times Alpha, where there is risk):
//
//	E f - Alpha (E v + h Var f)   (E f + Alpha (...) where small is better)
//
// with f and v mean and variance of one shot, E and Var over the distributions of the
// variables that the control set leaves random, and h Query.SpreadCounts. x has one value per variable,
// in its unit; values of random variables are not looked at. NaN for a control
// set or an x that do not exist, where the formula has no value, and where a bound is
// not kept. It may be
// called from any goroutine if the formula may.
func (t Truth) ValueOf(controlSet int, x []float64) float64 {
	j := t.judge
	if j == nil || controlSet < 0 || controlSet >= len(j.sets) || len(x) != j.dim() {
		return math.NaN()
	}
	return j.user(j.fine[controlSet]()(j.cube(x)))
}

// Keeps reports whether a setting keeps the query's bounds, as in [Truth.ValueOf].
func (t Truth) Keeps(controlSet int, x []float64) bool {
	j := *t.judge
	j.query.Formula, j.query.Alpha = nil, 0
	return !math.IsNaN(j.expectation(controlSet, fineNodes)(j.cube(x)))
}

// Find searches a plant's optimum. It is deterministic.
//
// The search is dense sampling and local polish of the best starts; with random
// variables every value is an average over fineNodes points, or exact where the
// plant has a closed form. A formula is called some hundred thousand times; some
// ten million times if variables are random and no control set holds them all,
// which takes seconds.
//
// Errors: ctx is done, or no setting has a value.
func Find(ctx context.Context, p Plant, q Query) (Truth, error) {
	j, err := newJudge(p, q)
	if err != nil {
		return Truth{}, err
	}
	j.ctx = ctx
	t := Truth{judge: j}
	best, found := math.Inf(-1), false
	for _, set := range j.contenders() {
		u, value := j.best(set)
		if u == nil || value <= best {
			continue
		}
		best, found = value, true
		t.Optimum = Setting{ControlSet: set, X: j.values(u)}
		for i, controlled := range j.sets[set] {
			if !controlled || p.Axes[i].Idle {
				t.Optimum.X[i] = math.NaN()
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return Truth{}, fmt.Errorf("the search for the best setting did not end: %w", err)
	}
	if !found {
		switch {
		case len(q.Bounds) > 0 && q.Formula != nil:
			return Truth{}, errors.New("at no setting that keeps the bounds of the sensors does every shot have a value")
		case len(q.Bounds) > 0:
			return Truth{}, errors.New("no setting keeps the bounds of the sensors; widen them")
		}
		return Truth{}, errors.New("the objective has no value anywhere in the domain; see whether its formula holds for the sensors' ranges")
	}
	t.Value = j.user(best)
	t.Range = j.span()
	if err := context.Cause(ctx); err != nil {
		return Truth{}, fmt.Errorf("the search for the worst setting did not end: %w", err)
	}
	return t, nil
}

// contenders returns the control sets that can hold the optimum. No average over
// a variable is better than its best value, so one that controls every variable
// beats all that do not, unless candidates confine it.
func (j *judge) contenders() []int {
	var all, full []int
	for i, set := range j.sets {
		all = append(all, i)
		if !slices.Contains(set, false) {
			full = append(full, i)
		}
	}
	if len(full) > 0 && len(j.candidates) == 0 {
		return full[:1]
	}
	return all
}

// judge evaluates the user's objective at points of the unit cube, so that large
// is good.
type judge struct {
	ctx   context.Context // of the search
	plant Plant
	query Query
	sets  [][]bool
	// candidates on the unit cube.
	candidates [][]float64
	// fine holds, for every control set, its expectation with all nodes, made when
	// it is first asked for.
	fine []func() func(u []float64) float64
}

func newJudge(p Plant, q Query) (*judge, error) {
	dim := len(p.Axes)
	j := &judge{plant: p, query: q, sets: q.ControlSets}
	if math.IsNaN(q.Alpha) || math.IsInf(q.Alpha, 0) {
		return nil, fmt.Errorf("alpha is %v; give a number", q.Alpha)
	}
	if len(j.sets) == 0 {
		j.sets = [][]bool{slices.Repeat([]bool{true}, dim)}
	}
	for i, set := range j.sets {
		if len(set) != dim {
			return nil, fmt.Errorf("control set %d has %d entries for %d variables", i, len(set), dim)
		}
	}
	for i, x := range q.Candidates {
		if len(x) != dim {
			return nil, fmt.Errorf("candidate %d has %d values for %d variables", i, len(x), dim)
		}
		j.candidates = append(j.candidates, j.cube(x))
	}
	for set := range j.sets {
		j.fine = append(j.fine, sync.OnceValue(func() func(u []float64) float64 { return j.expectation(set, fineNodes) }))
	}
	return j, nil
}

func (j *judge) dim() int { return len(j.plant.Axes) }

// cube returns the coordinates of x on the unit cube.
func (j *judge) cube(x []float64) []float64 {
	u := make([]float64, len(x))
	for i, a := range j.plant.Axes {
		u[i] = (x[i] - a.Low) / (a.High - a.Low)
	}
	return u
}

// values returns u in the variables' units, as the devices would have it.
func (j *judge) values(u []float64) []float64 {
	x := make([]float64, len(u))
	for i, a := range j.plant.Axes {
		x[i] = a.Low + u[i]*(a.High-a.Low)
		if a.Nearest != nil {
			x[i] = a.Nearest(x[i])
		}
	}
	if p := j.plant; p.Snap != nil && len(j.candidates) == 0 {
		copy(x, p.Snap(slices.Clone(u)))
	}
	return x
}

// user turns a value that is good when large into the user's objective.
func (j *judge) user(value float64) float64 {
	if j.query.Minimize {
		return -value
	}
	return value
}

// roundToDevice moves u to what the devices can achieve: levels and whole numbers.
func (j *judge) roundToDevice(u []float64) {
	for i := range u {
		if a := &j.plant.Axes[i]; a.Nearest != nil {
			u[i] = (a.Nearest(a.Low+u[i]*(a.High-a.Low)) - a.Low) / (a.High - a.Low)
		}
	}
}

// counts is how often the spread counts.
func (q *Query) counts() float64 { return float64(max(q.SpreadCounts, 1)) }

// point returns the value at a setting where nothing is random; NaN if it has
// none. It does not change u.
func (j *judge) point(u []float64) float64 { return j.score(j.moments(u)) }

// moments returns mean and variance of a shot there. It does not change u.
func (j *judge) moments(u []float64) (mean, variance float64) {
	if j.query.Formula == nil {
		return j.plant.Moments(j.plant.Goal, u)
	}
	return j.formula(u)
}

// score makes one number of mean and variance, good when large.
func (j *judge) score(mean, variance float64) float64 {
	if j.query.Minimize {
		mean = -mean
	}
	value := mean - j.query.Alpha*variance
	if math.IsInf(value, 0) {
		return math.NaN()
	}
	return value
}

// formula returns mean and variance of the formula over the shots at u, by the
// model's quadrature.
func (j *judge) formula(u []float64) (mean, variance float64) {
	p := j.plant
	values := make(map[string]float64, len(p.Sensors))
	for _, s := range p.Sensors {
		switch s.From {
		case Variable:
			values[s.Name] = p.Axes[s.Index].at(u[s.Index])
		case Constant:
			values[s.Name] = s.Value
		}
	}
	seen := 0.0 // sum of the weights so far
	p.Outcomes(u, func(signals []float64, weight float64) {
		for _, s := range p.Sensors {
			if s.From == Signal {
				values[s.Name] = signals[s.Index]
			}
		}
		y, err := j.query.Formula(values)
		if err != nil {
			y = math.NaN()
		}
		// West's update: no cancellation when the mean is large.
		seen += weight
		delta := y - mean
		mean += delta * weight / seen
		variance += weight * delta * (y - mean)
	})
	return mean, variance
}
