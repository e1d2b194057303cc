package drift

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/loop/policy/model"
)

// Detection of a jump. A model that knows the readings before the last window steps
// predicts those of the window as if nothing had changed since; y_i are n readings,
// mu_i and s_i^2 that posterior's mean and variance and r_i the noise variance:
//
//	T = mean of (y_i - mu_i) / sqrt( (mean of s_i)^2 + mean of r_i / n )
//
// The readings of a window lie close together, so their s_i^2 is taken as common to all.
// A jump is noticed where T < -jumpDeviations and the readings of the last step alone
// lie more than stillDeviations below: several readings have to agree, so that a single
// outlier is none, and what has recovered is none either. What improves is followed
// without being forgotten.
const (
	jumpWindow      = 5
	jumpDeviations  = 4
	stillDeviations = 2
	// jumpMemory bounds the readings behind the prediction, and so its cost: it takes the
	// latest.
	jumpMemory = 128
	// minReadings is how many readings a prediction needs.
	minReadings = 10
)

// DetectsAfter reports whether the readings are to be looked at for a jump, which is done once
// after each step of a hold, or of what follows a search; last is their latest step.
func (t *Tracker) DetectsAfter(last int) bool {
	if t == nil || !t.detect || last <= t.checked || t.holdStart == 0 || last < t.holdStart+jumpWindow-1 {
		return false
	}
	t.checked = last
	return true
}

// DetectJump looks at the readings up to a step; where the objective has jumped, the search of
// the whole domain begins anew, and everything but the last step's readings is to be
// forgotten. c is the posterior that has learnt them.
func (t *Tracker) DetectJump(c model.Component, rows []model.Row, last int) (forget bool, err error) {
	all, latest, err := t.residuals(c, last)
	if err != nil {
		return false, err
	}
	if t.doubts++; !latest.low() {
		t.doubts = 0
	}
	if !jumped(&all, &latest) {
		return false, nil
	}
	t.heldLevel = math.NaN()
	if held := t.heldReadings(rows, last-jumpWindow+1); held.n > 0 {
		t.heldLevel = held.mean
	}
	t.begin(last)
	t.jumped = last
	return true, nil
}

// JumpedAfter reports whether a jump was noticed after a step.
func (t *Tracker) JumpedAfter(step int) bool { return t != nil && step > 0 && t.jumped == step }

// residual is how readings differ from a prediction.
type residual struct {
	n               int
	mean, sd, noise float64 // means of y-mu, of s and of r
}

func (r *residual) add(d, sd, noise float64) {
	r.n++
	r.mean += (d - r.mean) / float64(r.n)
	r.sd += (sd - r.sd) / float64(r.n)
	r.noise += (noise - r.noise) / float64(r.n)
}

// deviations is T.
func (r *residual) deviations() float64 {
	return r.mean / math.Sqrt(r.sd*r.sd+r.noise/float64(r.n))
}

// low reports whether the readings are too low for chance, if not beyond doubt.
func (r *residual) low() bool { return r.n > 0 && r.deviations() < -stillDeviations }

// jumped reports whether the residuals of a window and of its last step show a jump.
func jumped(all, latest *residual) bool {
	return latest.low() && all.deviations() < -jumpDeviations
}

// residuals compares the readings of the last steps, all and the latest, with what those
// before predict. They are empty where there is no information yet.
func (t *Tracker) residuals(c model.Component, last int) (all, latest residual, err error) {
	g := c.GP
	d := g.Dim()
	var x, y, noise, after []float64
	var window []int
	for i := g.Len() - 1; i >= 0; i-- {
		if at := g.X(i); at[d-1] > float64(last-jumpWindow) {
			window = append(window, i)
			after = append(after, at...)
			after[len(after)-1] = float64(last - jumpWindow + 1)
		} else if len(y) < jumpMemory {
			x, y, noise = append(x, at...), append(y, g.Target(i)), append(noise, g.NoiseVariance(i))
		}
	}
	if len(y) < minReadings || len(window) < jumpWindow {
		return all, latest, nil
	}
	if t.probe == nil {
		t.probe = gpcore.New(g.Kernel(), jumpMemory)
	} else if err := model.Reset(t.probe, g.Kernel()); err != nil {
		return all, latest, err
	}
	if err := model.LoadWithJitter(t.probe, x, y, noise); err != nil {
		return all, latest, fmt.Errorf("prediction of the last %d steps: %w", jumpWindow, err)
	}
	mean, variance := make([]float64, len(window)), make([]float64, len(window))
	t.probe.Predict(mean, variance, after)
	for k, i := range window {
		r, s := g.Target(i)-mean[k], math.Sqrt(variance[k])
		all.add(r, s, g.NoiseVariance(i))
		if g.X(i)[d-1] == float64(last) {
			latest.add(r, s, g.NoiseVariance(i))
		}
	}
	return all, latest, nil
}
