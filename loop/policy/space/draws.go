package space

import "math"

// Words of what random variables do within a step.
const (
	DrawnPerShot = "shot" // a new value for each shot
	DrawnPerStep = "step" // one value for all shots of a step
)

// draws watches what random variables do within steps and from step to step. With s_w^2 the
// variance within a step and s_b^2 that of what steps have in common (one-way analysis of
// variance), a variable keeps its value for a step where s_b^2 > s_w^2.
type draws struct {
	word  string // DrawnPerShot, DrawnPerStep; empty: as measured
	step  int
	now   []moments // in the present step, by variable
	past  []moments // of the means of the steps before it
	inner []moments // squares and freedom (n) within them
	shots moments   // in a step that leaves variables random, without the present one
}

// moments are a weight, a mean and a sum of squared deviations.
type moments struct{ n, mean, squares float64 }

func (m *moments) add(v, weight float64) {
	m.n += weight
	d := v - m.mean
	m.mean += d * weight / m.n
	m.squares += weight * d * (v - m.mean)
}

func newDraws(variables int, word string) draws {
	return draws{word: word, now: make([]moments, variables), past: make([]moments, variables), inner: make([]moments, variables)}
}

// observe learns what a variable, which was random, was in so many shots of a step. Steps come in
// order.
func (d *draws) observe(variable int, at float64, step, shots int) {
	if step != d.step {
		d.conclude()
		d.step = step
	}
	d.now[variable].add(at, float64(shots))
}

// conclude ends the present step.
func (d *draws) conclude() {
	shots := 0.0
	for i := range d.now {
		if m := &d.now[i]; m.n > 0 {
			d.past[i].add(m.mean, 1)
			d.inner[i].n += m.n - 1
			d.inner[i].squares += m.squares
			shots = max(shots, m.n)
			*m = moments{}
		}
	}
	if shots > 0 {
		d.shots.add(shots, 1)
	}
}

// fewSteps say nothing of how steps differ.
const fewSteps = 5

// perStep reports whether draws hold for a step: as told, else as the greater part of the
// variables did in the steps before the present one.
func (d *draws) perStep() bool {
	if d.word != "" {
		return d.word == DrawnPerStep
	}
	holding, varying := 0, 0
	for i := range d.past {
		past, inner := &d.past[i], &d.inner[i]
		if past.n < fewSteps || inner.n < fewSteps {
			continue
		}
		within := inner.squares / inner.n
		// The mean of a step varies by its shots as well.
		if between := past.squares/(past.n-1) - within*past.n/(past.n+inner.n); between > within {
			holding++
		} else {
			varying++
		}
	}
	return holding > varying
}

// inflation is how much more than by one shot's spread a step's mean varies with the random
// variables, times its shots: 1 where each shot has a draw of its own, else the shots of a step.
func (d *draws) inflation() float64 {
	if d.shots.n == 0 || !d.perStep() {
		return 1
	}
	return math.Max(d.shots.mean, 1)
}
