package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/front"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
)

// Model says what is expected at settings, in the user's units and sense.
type Model interface {
	// Predict takes one value per variable in each setting; those that the control set does not hold are not read.
	Predict(set int, x [][]float64) ([]control.PictureEstimate, error)
}

// Source is what the figures of a run are made from.
type Source struct {
	Document *web.Document
	// Model is asked for what no step has shown; nil: there is none, such as before the first step.
	Model Model
	// Acquisition is what the next step maximises, as policy.Predictor says it; nil: there is no next step.
	Acquisition func(set int, x [][]float64) ([]float64, error)
	// Lengthscales are the model's, as policy.Predictor says them.
	Lengthscales func() (log, sd []float64, err error)
	// Prices lists what would be recommended at other risks; nil: there is no model.
	Prices func() ([]front.Price, error)
	// Log has the variables on a logarithmic axis.
	Log []bool
	// Cells is how many values stand along each side of a map, 0: as many as a slide shows.
	Cells int
	// Sensors gives each sensor's mean over the shots of a step, NaN where it gave no data.
	Sensors func(step int) ([]float64, error)
}

// Options choose what a figure shows.
type Options struct {
	// X and Y name variables, "" for those that matter most.
	X, Y string
	// Over is "steps" or "cost".
	Over string
	// Of is "mean", "sd", "noise", "feasible", "acquisition", or "all" of those that the run has.
	Of string
}

// ErrNothing: the run has nothing that such a figure could show.
var ErrNothing = errors.New("there is nothing to draw")

// ErrChoice: an option is none of those that may be chosen.
var ErrChoice = errors.New("there is no such figure")

func wrong(format string, args ...any) error { return choice(fmt.Sprintf(format, args...)) }

// choice is such an error, in its own words.
type choice string

func (c choice) Error() string { return string(c) }

func (choice) Is(target error) bool { return target == ErrChoice }

func nothing(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNothing}, args...)...)
}

// worse says that a is worse than b, in the run's sense.
func (s *Source) worse(a, b float64) bool { return s.Document.Run.Minimize == (a > b) && a != b }

// variable is the position of a variable by its name.
func (s *Source) variable(name string) (int, error) {
	var names []string
	for i, v := range s.Document.Run.Variables {
		if v.Name == name {
			return i, nil
		}
		names = append(names, v.Name)
	}
	return 0, wrong("there is no variable %q; there are %s", name, strings.Join(names, ", "))
}

// label names a quantity with its unit.
func label(name, unit string) string {
	if unit == "" || unit == "1" {
		return name
	}
	return name + " (" + unit + ")"
}

func (s *Source) objective(what string) string {
	return label(strings.TrimSpace(brief(s.Document.Run.Objective)+" "+what), s.Document.Run.Unit)
}

// brief shortens a formula to what an axis has room for.
func brief(name string) string {
	if letters := []rune(name); len(letters) > 32 {
		return string(letters[:31]) + "…"
	}
	return name
}

// axisOf is the axis of a variable over its range.
func (s *Source) axisOf(i int) figure.Axis {
	v := s.Document.Run.Variables[i]
	a := figure.Axis{Label: label(v.Name, v.Unit), Log: i < len(s.Log) && s.Log[i], Tight: true}
	if low, high := float64(v.Low), float64(v.High); !math.IsNaN(low) && !math.IsNaN(high) {
		a.Low, a.High = low, high
	}
	return a
}

// spread are n values over a variable's range, evenly by its axis.
func (s *Source) spread(i, n int) []float64 {
	v := s.Document.Run.Variables[i]
	low, high := float64(v.Low), float64(v.High)
	out := make([]float64, n)
	for k := range out {
		t := float64(k) / float64(n-1)
		if i < len(s.Log) && s.Log[i] {
			out[k] = low * math.Pow(high/low, t)
		} else {
			out[k] = low + t*(high-low)
		}
	}
	return out
}

// ranged says that a variable has a range to look along.
func (s *Source) ranged(i int) bool {
	v := s.Document.Run.Variables[i]
	return float64(v.High) > float64(v.Low)
}

// valid are the steps that have data.
func (s *Source) valid() []web.StepPart {
	return slices.DeleteFunc(slices.Clone(s.Document.Steps), func(p web.StepPart) bool { return !p.Valid || math.IsNaN(float64(p.Mean)) })
}

// column takes one number of each step.
func column(steps []web.StepPart, of func(web.StepPart) float64) []float64 {
	out := make([]float64, len(steps))
	for i := range steps {
		out[i] = of(steps[i])
	}
	return out
}

func mean(p web.StepPart) float64    { return float64(p.Mean) }
func stepOf(p web.StepPart) float64  { return float64(p.N) }
func spentOf(p web.StepPart) float64 { return float64(p.Spent) }
func errorOf(p web.StepPart) float64 { return 2 * float64(p.SE) }

// at is the value of a variable in a step.
func at(p web.StepPart, i int) float64 {
	if i < len(p.X) {
		return float64(p.X[i])
	}
	return math.NaN()
}

func numbers(x []journal.Number) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = float64(x[i])
	}
	return out
}

// setName is a control set as people call it.
func (s *Source) setName(i int) string {
	if i < 0 || i >= len(s.Document.Sets) || len(s.Document.Sets[i].Variables) == 0 {
		return "none"
	}
	return strings.Join(s.Document.Sets[i].Variables, ", ")
}

// holds says that a control set has a variable.
func (s *Source) holds(set, i int) bool {
	return slices.Contains(s.Document.Sets[set].Variables, s.Document.Run.Variables[i].Name)
}

// setWith is the control set to look at variables through: the recommended one where it holds
// them all, else the largest that does.
func (s *Source) setWith(variables ...int) (int, bool) {
	has := func(set int) bool {
		return !slices.ContainsFunc(variables, func(i int) bool { return !s.holds(set, i) })
	}
	best := -1
	if b := s.best(); b != nil && has(b.ControlSet) {
		return b.ControlSet, true
	}
	for set := range s.Document.Sets {
		if has(set) && (best < 0 || len(s.Document.Sets[set].Variables) > len(s.Document.Sets[best].Variables)) {
			best = set
		}
	}
	return best, best >= 0
}

// best is the recommended setting, nil before there is one.
func (s *Source) best() *control.PicturePoint {
	if s.Document.Picture == nil {
		return nil
	}
	return s.Document.Picture.Best
}

// anchor is a whole setting through which the model is looked at: the recommended one, and where
// that leaves a variable alone what was measured of it on average.
func (s *Source) anchor() []float64 {
	x := make([]float64, len(s.Document.Run.Variables))
	steps := s.valid()
	for i := range x {
		x[i] = math.NaN()
		if b := s.best(); b != nil && i < len(b.X) {
			x[i] = float64(b.X[i])
		}
		if !math.IsNaN(x[i]) {
			continue
		}
		sum, n := 0.0, 0.0
		for _, p := range steps {
			if v := at(p, i); !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		x[i] = sum / n
	}
	return x
}

// predictions are what the model says of the settings that the steps reached.
func (s *Source) predictions(steps []web.StepPart) ([]control.PictureEstimate, error) {
	out := make([]control.PictureEstimate, len(steps))
	if s.Model == nil {
		return nil, nothing("the run has no model yet")
	}
	for set := range s.Document.Sets {
		var rows [][]float64
		var of []int
		for k, p := range steps {
			if p.Set == set {
				rows, of = append(rows, numbers(p.X)), append(of, k)
			}
		}
		if len(rows) == 0 {
			continue
		}
		seen, err := s.Model.Predict(set, rows)
		if err != nil {
			return nil, err
		}
		for k := range seen {
			out[of[k]] = seen[k]
		}
	}
	return out, nil
}

// recommended and start are the marks of two settings that every figure shows alike.
func recommended(x, y []float64) figure.Points {
	return figure.Points{Name: "recommended", X: x, Y: y, Colour: figure.Second, Shape: figure.Diamond, Large: true}
}

func start(x, y []float64) figure.Points {
	return figure.Points{Name: "start", X: x, Y: y, Colour: figure.Ink, Shape: figure.Cross, Large: true}
}
