package policy

import "math"

// climber is a local search from one start: projected gradient ascent in the box
// [0, 1]^c with Barzilai and Borwein's step (IMA J. Numer. Anal. 8 (1988) 141-148)
// and backtracking, so that its value never falls. Coordinates are measured in
// lengthscales. Discrete coordinates stand still for the gradient and are moved
// from value to value.
type climber struct {
	x     []float64
	value float64

	grad     []float64
	previous []float64 // x and gradient of the step before, for the step length
	before   []float64
	step     float64 // in units of metric; 0: not known yet
	still    bool    // no progress is left for the gradient
}

func newClimber(x []float64, value float64) *climber {
	c := len(x)
	return &climber{x: append([]float64(nil), x...), value: value,
		grad: make([]float64, c), previous: make([]float64, c), before: make([]float64, c)}
}

// ascent is what a round of climbing needs to know.
type ascent struct {
	crit   *criterion
	count  int       // nodes
	metric []float64 // squared lengthscale of each coordinate
	coarse []int     // discrete coordinates
	round  int
}

// Limits of a round.
const (
	backtracks    = 4
	firstStride   = 0.1  // of a lengthscale
	longestStride = 1.0  // of a lengthscale
	sufficient    = 1e-4 // Armijo's constant
)

// advance does one round: one gradient with at most backtracks trial points, and one
// move of one discrete coordinate.
func (k *climber) advance(w *worker, a *ascent) {
	if len(a.coarse) < len(k.x) && !k.still {
		k.ascend(w, a)
	}
	if len(a.coarse) > 0 {
		k.stepOver(w, a)
	}
}

// restart forgets the step length: the criterion has changed.
func (k *climber) restart(value float64) { k.value, k.step, k.still = value, 0, false }

func (k *climber) ascend(w *worker, a *ascent) {
	a.crit.slope(w, k.grad, k.x, a.count)
	for _, j := range a.coarse {
		k.grad[j] = 0
	}
	norm := 0.0 // squared, of the projected gradient, in lengthscales
	for j, g := range k.grad {
		if k.x[j] <= 0 && g < 0 || k.x[j] >= 1 && g > 0 {
			continue
		}
		norm += g * g * a.metric[j]
	}
	if !(norm > 1e-18) { // NaN ends here as well
		k.still = true
		return
	}
	k.stride(a, norm)
	trial := make([]float64, len(k.x))
	for range backtracks {
		gain := 0.0
		for j, g := range k.grad {
			trial[j] = min(max(k.x[j]+k.step*a.metric[j]*g, 0), 1)
			gain += g * (trial[j] - k.x[j])
		}
		var value [1]float64
		a.crit.values(w, value[:], trial, a.count)
		if value[0] >= k.value+sufficient*gain && value[0] > k.value {
			copy(k.previous, k.x)
			copy(k.before, k.grad)
			copy(k.x, trial)
			k.value = value[0]
			return
		}
		k.step /= 4
	}
	k.still = true
}

// stride sets the step length from the last two points, s's/|s'y| with s the step
// and y the change of the gradient, within the longest stride.
func (k *climber) stride(a *ascent, norm float64) {
	length := math.Sqrt(norm)
	if k.step == 0 {
		k.step = firstStride / length
		return
	}
	ss, sy := 0.0, 0.0
	for j := range k.x {
		s, y := k.x[j]-k.previous[j], k.grad[j]-k.before[j]
		ss += s * s / a.metric[j]
		sy += s * y
	}
	if sy < 0 { // curved downwards, as at a maximum
		k.step = ss / -sy
	} else {
		k.step *= 4
	}
	k.step = min(k.step, longestStride/length)
}

// stepOver moves one discrete coordinate to the better of its neighbouring values.
func (k *climber) stepOver(w *worker, a *ascent) {
	j := a.coarse[a.round%len(a.coarse)]
	axis := &a.crit.dom.axes[a.crit.dom.coords[j]]
	at := axis.index(axis.user(k.x[j]))
	trial := append([]float64(nil), k.x...)
	for _, i := range []int{at - 1, at + 1} {
		if i < 0 || i >= axis.count() {
			continue
		}
		trial[j] = axis.unit(axis.at(i))
		var value [1]float64
		a.crit.values(w, value[:], trial, a.count)
		if value[0] > k.value {
			k.x[j] = trial[j]
			k.restart(value[0])
		}
	}
}
