package policy

import "math"

// climber is a local search from one start: projected gradient ascent in the box
// [0, 1]^c with Barzilai and Borwein's step length (IMA J. Numer. Anal. 8 (1988)
// 141-148) and backtracking, so that its value never falls. Coordinates are
// measured in lengthscales. Discrete coordinates stand still for the gradient and
// are moved from value to value.
type climber struct {
	x     []float64
	value float64

	grad     []float64
	previous []float64 // x and gradient of the step before, for the step length
	before   []float64
	step     float64 // 0: not known yet
	still    bool    // no progress is left for the gradient
	trial    []float64
	promise  float64 // what the gradient promises to gain at the trial point
}

func newClimber(x []float64, value float64) *climber {
	c := len(x)
	return &climber{x: append([]float64(nil), x...), value: value, trial: make([]float64, c),
		grad: make([]float64, c), previous: make([]float64, c), before: make([]float64, c)}
}

// restart takes a value of another criterion or place and forgets the step length.
func (k *climber) restart(value float64) { k.value, k.step, k.still = value, 0, false }

// Limits of a round.
const (
	backtracks    = 4
	firstStride   = 0.1  // of a lengthscale
	longestStride = 1.0  // of a lengthscale
	sufficient    = 1e-4 // Armijo's constant
)

// ascent moves climbers together, so that the model is asked for many points at once.
type ascent struct {
	crit    *criterion
	workers *pool
	count   int       // nodes
	metric  []float64 // squared lengthscale of each coordinate
	coarse  []int     // discrete coordinates
}

// round gives each climber one gradient with at most backtracks trial points, and
// one move of one discrete coordinate.
func (a *ascent) round(climbers []*climber, number int) {
	if len(a.coarse) < a.crit.dom.size() {
		a.ascend(climbers)
	}
	if len(a.coarse) > 0 {
		j := a.coarse[number%len(a.coarse)]
		a.stepOver(climbers, j, -1)
		a.stepOver(climbers, j, +1)
	}
}

// ascend moves the climbers along their gradients.
func (a *ascent) ascend(climbers []*climber) {
	var moving []*climber
	for _, k := range climbers {
		if !k.still {
			moving = append(moving, k)
		}
	}
	a.slopes(moving)
	for range backtracks {
		var trying []*climber
		for _, k := range moving {
			if !k.still && k.reach(a.metric) {
				trying = append(trying, k)
			}
		}
		if len(trying) == 0 {
			return
		}
		values := a.values(trying)
		moving = moving[:0]
		for i, k := range trying {
			if values[i] >= k.value+sufficient*k.promise && values[i] > k.value {
				copy(k.previous, k.x)
				copy(k.before, k.grad)
				copy(k.x, k.trial)
				k.value = values[i]
				continue
			}
			k.step /= 4
			moving = append(moving, k)
		}
	}
	for _, k := range moving {
		k.still = true
	}
}

// values evaluates the criterion at the climbers' trial points.
func (a *ascent) values(climbers []*climber) []float64 {
	var x []float64
	for _, k := range climbers {
		x = append(x, k.trial...)
	}
	values := make([]float64, len(climbers))
	a.crit.values(a.workers, values, x, a.count)
	return values
}

// slopes sets the climbers' gradients and step lengths.
func (a *ascent) slopes(climbers []*climber) {
	var x []float64
	for _, k := range climbers {
		x = append(x, k.x...)
	}
	grad := make([]float64, len(x))
	a.crit.slopes(a.workers, grad, x, a.count)
	for i, k := range climbers {
		copy(k.grad, grad[i*len(k.x):])
		for _, j := range a.coarse {
			k.grad[j] = 0
		}
		k.stride(a.metric)
	}
}

// stride sets the step length from the last two points, s's/|s'y| with s the step
// and y the change of the gradient, within the longest stride; the climber is still
// where the projected gradient vanishes.
func (k *climber) stride(metric []float64) {
	length, ss, sy := 0.0, 0.0, 0.0
	for j, g := range k.grad {
		if !(k.x[j] <= 0 && g < 0 || k.x[j] >= 1 && g > 0) {
			length += g * g * metric[j]
		}
		s, y := k.x[j]-k.previous[j], g-k.before[j]
		ss += s * s / metric[j]
		sy += s * y
	}
	length = math.Sqrt(length)
	switch {
	case !(length > 1e-9): // NaN ends here as well
		k.still = true
		return
	case k.step == 0:
		k.step = firstStride / length
	case sy < 0: // curved downwards, as around a maximum
		k.step = ss / -sy
	default:
		k.step *= 4
	}
	k.step = min(k.step, longestStride/length)
}

// reach sets the trial point one step along the gradient, cut to the box, and says
// whether it differs from where the climber is.
func (k *climber) reach(metric []float64) bool {
	k.promise = 0
	moved := false
	for j, g := range k.grad {
		k.trial[j] = min(max(k.x[j]+k.step*metric[j]*g, 0), 1)
		k.promise += g * (k.trial[j] - k.x[j])
		moved = moved || k.trial[j] != k.x[j]
	}
	k.still = !moved
	return moved
}

// stepOver moves discrete coordinate j of each climber by one value where that is
// better.
func (a *ascent) stepOver(climbers []*climber, j, by int) {
	axis := &a.crit.dom.axes[a.crit.dom.coords[j]]
	var trying []*climber
	for _, k := range climbers {
		at := axis.index(axis.user(k.x[j])) + by
		if at < 0 || at >= axis.count() {
			continue
		}
		copy(k.trial, k.x)
		k.trial[j] = axis.unit(axis.at(at))
		trying = append(trying, k)
	}
	for i, v := range a.values(trying) {
		if k := trying[i]; v > k.value {
			k.x[j] = k.trial[j]
			k.restart(v)
		}
	}
}
