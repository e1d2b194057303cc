package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// HealthPart is one check of the run, in words that a person can act on.
type HealthPart struct {
	Name string `json:"name"`
	// Level is "good", "watch", "bad", "unknown", or "told" where there is nothing to judge.
	Level string `json:"level"`
	Text  string `json:"text"`
	// Remedy says what to do, "" where nothing needs to be done.
	Remedy string `json:"remedy"`
}

// The levels of a check.
const (
	good          = "good"
	watch         = "watch"
	bad           = "bad"
	unknown       = "unknown"
	informational = "told"
)

// examine makes all checks.
func examine(d *Document) []HealthPart {
	return []HealthPart{calibration(d), signal(d), progress(d), yield(d), boundaries(d), constraints(d), budget(d)}
}

// calibrationSteps is the least number of predicted steps that a share is shown for.
const calibrationSteps = 10

// calibration compares outcomes with what the model had predicted before it saw them.
func calibration(d *Document) HealthPart {
	h := HealthPart{Name: "Is the model calibrated?"}
	z := surprises(d)
	if len(z) < calibrationSteps {
		h.Level, h.Text = unknown, fmt.Sprintf("Not known yet: predictions for %s so far, %d are needed.", plan.Counted(len(z), "step"), calibrationSteps)
		return h
	}
	inside, square := 0, 0.0
	for _, v := range z {
		square += v * v / float64(len(z))
		if math.Abs(v) <= 2 {
			inside++
		}
	}
	share := float64(inside) / float64(len(z))
	h.Text = fmt.Sprintf("Of %s that were predicted before they were measured, %.0f %% came within two standard deviations (95 %% would, of a perfect model); "+
		"a typical miss is %.2g of the standard deviations that it expects (1 would be perfect).", plan.Counted(len(z), "step"), 100*share, math.Sqrt(square))
	switch {
	case share < 0.75:
		h.Level, h.Remedy = bad, "The model is too sure of itself: look for drift or for a disturbance that is not measured, take more shots per step, or give the model a wider prior."
	case share < 0.88 || math.Sqrt(square) < 0.3:
		h.Level, h.Remedy = watch, "Treat its bounds with some care."
	default:
		h.Level = good
	}
	return h
}

// surprises are the errors of predictions, each in standard deviations of the predicted
// mean of the step's shots; the newest 200.
func surprises(d *Document) []float64 {
	var z []float64
	for i := range d.Steps {
		s := &d.Steps[i]
		variance := square(float64(s.PredictedSD)) + stepVariance(d, s)
		if v := float64(s.Mean-s.Predicted) / math.Sqrt(variance); !s.Initial && !math.IsNaN(v) && !math.IsInf(v, 0) {
			z = append(z, v)
		}
	}
	return z[max(len(z)-200, 0):]
}

// stepVariance is the variance of a step's mean about the truth: as its own shots show,
// else as the model thought.
func stepVariance(d *Document, s *StepPart) float64 {
	if v := square(float64(s.SE)); v > 0 {
		return v
	}
	if v := square(float64(s.NoiseSD)) / float64(max(s.Shots, 1)); v > 0 {
		return v
	}
	if p := d.Picture; p != nil && p.Best != nil {
		return square(float64(p.Best.NoiseSD)) / float64(max(s.Shots, 1))
	}
	return math.NaN()
}

func square(x float64) float64 { return x * x }

// signal compares the noise of a step with what the settings make of the objective.
func signal(d *Document) HealthPart {
	h := HealthPart{Name: "Noise against signal"}
	var means, first []float64
	noise, n := 0.0, 0
	for i := range d.Steps {
		s := &d.Steps[i]
		if math.IsNaN(float64(s.Mean)) {
			continue
		}
		means = append(means, float64(s.Mean))
		if s.Initial {
			first = append(first, float64(s.Mean))
		}
		if v := stepVariance(d, s); !math.IsNaN(v) {
			noise += v
			n++
		}
	}
	if len(means) < 5 || n == 0 {
		h.Level, h.Text = unknown, "Not known yet: too few steps with repeated shots."
		return h
	}
	_, spread := moments(means)
	if len(first) >= 5 { // a long run stays where it is best, which is no lack of a signal
		_, sd := moments(first)
		spread = max(spread, sd)
	}
	noise = math.Sqrt(noise / float64(n))
	between := math.Sqrt(max(spread*spread-noise*noise, 0))
	h.Text = fmt.Sprintf("A step's mean is uncertain by %s, what was tried differs by %s (standard deviations).", d.quantity(noise), d.quantity(between))
	switch {
	case between > 2*noise:
		h.Level = good
	case between > noise/2:
		h.Level, h.Remedy = watch, "More shots per step would tell more."
	default:
		h.Level, h.Remedy = bad, "The settings make no difference that can be seen: take more shots per step, widen the ranges, or measure something that responds."
	}
	return h
}

// progress compares the recommended setting's bound with the start.
func progress(d *Document) HealthPart {
	h := HealthPart{Name: "Better than the start?"}
	p := d.Picture
	if p == nil || p.Best == nil || p.Start == nil {
		h.Level, h.Text = unknown, "Not known: the starting setting was not read, or nothing is recommended yet."
		return h
	}
	gain := d.sign() * (float64(p.Best.Bound) - d.expected(p.Start))
	switch {
	case gain > 0:
		h.Level = good
		h.Text = fmt.Sprintf("By the model, yes: the recommended setting's pessimistic bound is %s better than what is expected of the start. Only the re-measurement proves it.", d.quantity(gain))
	case d.Total < 10:
		h.Level, h.Text = unknown, "Too early to say."
	default:
		h.Level = watch
		h.Text = fmt.Sprintf("Not shown: the recommended setting's pessimistic bound is %s short of what is expected of the start.", d.quantity(-gain))
	}
	return h
}

// expected is the mean-variance objective that the model expects of a setting.
func (d *Document) expected(e *control.PictureEstimate) float64 {
	mean, sd := float64(e.Mean), float64(e.NoiseSD)
	if alpha := float64(d.Run.Risk); alpha > 0 && !math.IsNaN(sd) {
		return mean - d.sign()*alpha*sd*sd
	}
	return mean
}

// yield compares the last steps with those of the initial design, which are as good as
// random.
func yield(d *Document) HealthPart {
	h := HealthPart{Name: "Better than random?"}
	var random, late []float64
	for _, s := range d.Steps {
		if y := float64(s.Mean); !math.IsNaN(y) {
			if s.Initial {
				random = append(random, y)
			} else {
				late = append(late, y)
			}
		}
	}
	late = late[max(len(late)-20, 0):]
	if len(random) < 3 || len(late) < 5 {
		h.Level, h.Text = unknown, "Not known yet: it takes three initial steps and five later ones."
		return h
	}
	m0, s0 := moments(random)
	m1, s1 := moments(late)
	gain := d.sign() * (m1 - m0)
	se := math.Sqrt(s0*s0/float64(len(random)) + s1*s1/float64(len(late)))
	h.Text = fmt.Sprintf("The last %d steps are on average %s better than the %d of the initial design (standard error %s).", len(late), d.quantity(gain), len(random), d.quantity(se))
	h.Level = good
	if gain < 2*se {
		h.Level = watch
	}
	return h
}

// boundaries looks whether the recommended setting leans on a range's end.
func boundaries(d *Document) HealthPart {
	h := HealthPart{Name: "Margin to the ranges", Level: good}
	if d.Picture == nil || d.Picture.Best == nil {
		h.Level, h.Text = unknown, "Nothing is recommended yet."
		return h
	}
	type margin struct {
		name string
		part float64
	}
	var margins []margin
	for i, x := range d.Picture.Best.X {
		v := d.Run.Variables[i]
		if width := float64(v.High - v.Low); width > 0 && !math.IsNaN(float64(x)) {
			margins = append(margins, margin{v.Name, min(float64(x-v.Low), float64(v.High-x)) / width})
		}
	}
	if len(margins) == 0 {
		h.Level, h.Text = unknown, "The recommended control set has no variable."
		return h
	}
	slices.SortStableFunc(margins, func(a, b margin) int { return cmp.Compare(a.part, b.part) })
	words, ends := make([]string, len(margins)), []string{}
	for i, m := range margins {
		words[i] = fmt.Sprintf("%s %.0f %%", m.name, 100*m.part)
		if m.part < atEnd {
			ends = append(ends, m.name)
		}
	}
	h.Text = "How far the recommended setting is from the nearer end of each range, in parts of the range: " + strings.Join(words, ", ") + "."
	if len(ends) > 0 {
		h.Level = watch
		h.Text = "At an end of the range: " + strings.Join(ends, ", ") + ". " + h.Text
		h.Remedy = "If the instrument allows it, widen the range: the best may lie beyond."
	}
	return h
}

// atEnd is the part of a range that counts as its end.
const atEnd = 0.02

// constraints says how probable it is that they hold.
func constraints(d *Document) HealthPart {
	h := HealthPart{Name: "Constraints", Level: good}
	switch p := d.Picture; {
	case len(d.Run.Constraints) == 0:
		h.Level, h.Text = informational, "There are none."
	case p == nil || p.Best == nil || math.IsNaN(float64(p.Best.Feasibility)):
		h.Level, h.Text = unknown, "Not known yet: a sensor gave too few readings."
	case p.Best.Feasible:
		h.Text = fmt.Sprintf("Kept at the recommended setting with a probability of %.3g or more.", math.Min(math.Floor(1000*float64(p.Best.Feasibility))/1000, 0.999))
	default:
		h.Level = bad
		h.Text = fmt.Sprintf("Not known to be kept at the recommended setting (probability %.2g).", float64(p.Best.Feasibility))
		h.Remedy = "No setting that was tried is known to keep them: go on, or widen the bounds if they ask for more than can be had."
	}
	return h
}

// budget says what is left.
func budget(d *Document) HealthPart {
	h := HealthPart{Name: "Budget and time left", Level: informational}
	switch n := len(d.Steps); {
	case d.Run.Finished:
		h.Text = "The run has ended: " + cmp.Or(d.Run.Endings[d.Run.Reason], d.Run.Reason) + "."
	case n == 0:
		h.Level, h.Text = unknown, "No step yet."
	case d.Run.StopSteps != nil && !math.IsNaN(float64(d.Run.StopCost)):
		h.Text = fmt.Sprintf("%d of %d steps, %.4g of %.4g %s.", d.Total, *d.Run.StopSteps, float64(d.Steps[n-1].Spent), float64(d.Run.StopCost), d.Run.CostUnit)
	case d.Run.StopSteps != nil:
		h.Text = fmt.Sprintf("%d of %d steps.", d.Total, *d.Run.StopSteps)
	case !math.IsNaN(float64(d.Run.StopCost)):
		h.Text = fmt.Sprintf("%.4g of %.4g %s.", float64(d.Steps[n-1].Spent), float64(d.Run.StopCost), d.Run.CostUnit)
	case math.IsNaN(float64(d.Run.StopSeconds)):
		h.Text = plan.Counted(d.Total, "step") + "; the run goes on until you end it."
	default:
		h.Text = plan.Counted(d.Total, "step") + "; the run ends by time."
	}
	return h
}

// sign is -1 where less is better.
func (d *Document) sign() float64 {
	if d.Run.Minimize {
		return -1
	}
	return 1
}

// quantity writes a number with the objective's unit.
func (d *Document) quantity(x float64) string {
	if d.Run.Unit == "" || d.Run.Unit == "1" {
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.3g %s", x, d.Run.Unit)
}
