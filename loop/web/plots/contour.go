package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/web/figure"
)

// contourCells is how many values stand along each side of a map where Source.Cells does not say it: finer than an
// eye tells apart on a slide, coarse enough to be predicted at once.
const contourCells = 49

// aspect is what a map may show.
type aspect struct {
	name, label string
	of          func(control.PictureEstimate) float64
}

// allAspects asks for every one that the run has.
const allAspects = "all"

// aspects are those that the model says, in the order in which they are of use.
var aspects = []aspect{
	{"mean", "mean", func(e control.PictureEstimate) float64 { return float64(e.Mean) }},
	{"sd", "uncertainty of the mean, SD", func(e control.PictureEstimate) float64 { return float64(e.SD) }},
	{"noise", "noise of a shot, SD", func(e control.PictureEstimate) float64 { return float64(e.NoiseSD) }},
	{feasible, feasibleWords, func(e control.PictureEstimate) float64 { return float64(e.Feasibility) }},
}

const feasibleWords = "probability that the constraints hold"

// Two aspects that do not have the objective's unit; the second is the policy's, not the model's.
const feasible, acquisition = "feasible", "acquisition"

// Aspects are the words of Options.Of.
func Aspects() []string {
	var names []string
	for _, a := range aspects {
		names = append(names, a.name)
	}
	return append(names, acquisition, allAspects)
}

// contour draws the model over two variables, all others at the recommended setting.
func (s *Source) contour(o Options) (*figure.Figure, error) {
	of, err := chosen("of", o.Of, Aspects()...)
	if err != nil {
		return nil, err
	}
	a, b, err := s.pair(o)
	if err != nil {
		return nil, err
	}
	set, ok := s.setWith(a, b)
	if !ok || s.Model == nil {
		return nil, nothing("no control set holds both %s and %s, so the model cannot be looked at over them", s.Document.Run.Variables[a].Name, s.Document.Run.Variables[b].Name)
	}
	charts, words, err := s.maps(s.grid(a, b), set, of)
	if err != nil {
		return nil, err
	}
	if len(charts) == 0 {
		return nil, nothing("the model of this run has no %s", words)
	}
	title := fmt.Sprintf("%s: %s of %s", s.Document.Run.Name, words, brief(s.Document.Run.Objective))
	if of == allAspects {
		title = fmt.Sprintf("%s: the model over %s and %s", s.Document.Run.Name, s.Document.Run.Variables[a].Name, s.Document.Run.Variables[b].Name)
	}
	return &figure.Figure{Title: title, Note: s.others(set, a, b), Charts: charts, OneKey: true}, nil
}

// maps are the charts of an aspect, or of all that the run has, and the words of the last.
func (s *Source) maps(g cells, set int, of string) (charts []figure.Chart, words string, err error) {
	seen, err := s.Model.Predict(set, g.rows)
	if err != nil {
		return nil, "", err
	}
	for _, aspect := range aspects {
		if of != allAspects && of != aspect.name {
			continue
		}
		values := make([]float64, len(seen))
		for i := range seen {
			values[i] = aspect.of(seen[i])
		}
		unit := s.Document.Run.Unit
		if aspect.name == feasible {
			unit = ""
		}
		if words = aspect.label; slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) }) {
			charts = append(charts, s.chartOf(g, words, unit, of == allAspects, values))
		}
	}
	if of != allAspects && of != acquisition {
		return charts, words, nil
	}
	p, err := s.acquisitionChart(g, set, of == allAspects)
	switch {
	case err == nil:
		return append(charts, p), acquisitionWords, nil
	case of == allAspects && errors.Is(err, ErrNothing):
		return charts, words, nil
	}
	return nil, "", err
}

const acquisitionWords = "acquisition of the next step"

// acquisitionChart is the map of what the next step maximises.
func (s *Source) acquisitionChart(g cells, set int, titled bool) (p figure.Chart, err error) {
	if s.Acquisition == nil {
		return p, nothing("the run is over: no next setting is chosen by an acquisition")
	}
	values, err := s.Acquisition(set, g.rows)
	if errors.Is(err, policy.ErrDesign) || errors.Is(err, policy.ErrNotEligible) {
		return p, nothing("%w", err)
	}
	if err != nil {
		return p, err
	}
	return s.chartOf(g, acquisitionWords, "", titled, values), nil
}

// cells is a rectangle of settings over two variables.
type cells struct {
	a, b   int
	xs, ys []float64
	// rows are the whole settings, those of the first y first.
	rows [][]float64
}

// grid are the cells of a map, all other variables at the anchor.
func (s *Source) grid(a, b int) cells {
	n := contourCells
	if s.Cells > 0 {
		n = s.Cells
	}
	g := cells{a: a, b: b, xs: s.spread(a, n), ys: s.spread(b, n)}
	through := s.anchor()
	for _, y := range g.ys {
		for _, x := range g.xs {
			row := slices.Clone(through)
			row[a], row[b] = x, y
			g.rows = append(g.rows, row)
		}
	}
	return g
}

// chartOf is the map of values at the cells, with the marks; titled has the words above it and
// not beside its scale.
func (s *Source) chartOf(g cells, words, unit string, titled bool, values []float64) figure.Chart {
	var z [][]float64
	for j := range g.ys {
		z = append(z, values[j*len(g.xs):(j+1)*len(g.xs)])
	}
	title, beside := "", label(words, unit)
	if titled {
		title, beside = label(words, unit), ""
	}
	scale := figure.ScaleOf(beside, values...)
	if words == feasibleWords {
		scale.Low, scale.High = 0, 1 // a probability
	}
	chart := figure.Chart{Title: title, X: s.axisOf(g.a), Y: s.axisOf(g.b), Scale: scale, Layers: []figure.Layer{figure.Map{X: g.xs, Y: g.ys, Z: z, Scale: scale, Levels: scale.Levels(8)}}}
	s.marks(&chart, g.a, g.b)
	return chart
}

// pair are the variables of a map: those that are named, else those that matter most.
func (s *Source) pair(o Options) (a, b int, err error) {
	var by []int
	if o.X == "" || o.Y == "" {
		if by, err = s.byImportance(); err != nil {
			return 0, 0, err
		}
	}
	at := [2]int{-1, -1}
	for k, name := range []string{o.X, o.Y} {
		if name == "" {
			continue
		}
		if at[k], err = s.variable(name); err != nil {
			return 0, 0, err
		}
		if !s.ranged(at[k]) {
			return 0, 0, nothing("%s has no range to look along", name)
		}
	}
	for _, i := range by {
		for k := range at {
			if at[k] < 0 && at[1-k] != i {
				at[k] = i
				break
			}
		}
	}
	if at[0] < 0 || at[1] < 0 {
		return 0, 0, nothing("a map needs two variables with a range")
	}
	if at[0] == at[1] {
		return 0, 0, wrong("a map needs two variables, and both are %s", s.Document.Run.Variables[at[0]].Name)
	}
	return at[0], at[1], nil
}

// Pairs are pairs of variables that a control set holds both of, at most so many: of variables that
// matter most first. None where there is no model.
func (s *Source) Pairs(most int) (out [][2]string, err error) {
	order, err := s.byImportance()
	if errors.Is(err, ErrNothing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for j := 1; j < len(order); j++ {
		for i := range j {
			if _, ok := s.setWith(order[i], order[j]); ok && len(out) < most {
				out = append(out, [2]string{s.Document.Run.Variables[order[i]].Name, s.Document.Run.Variables[order[j]].Name})
			}
		}
	}
	return out, nil
}

// marks adds what was tried, the start and the recommended setting.
func (s *Source) marks(p *figure.Chart, a, b int) {
	steps := s.valid()
	var x, y []float64
	for _, q := range steps {
		x, y = append(x, at(q, a)), append(y, at(q, b))
	}
	p.Layers = append(p.Layers, figure.Points{Name: "tried", X: x, Y: y, Colour: figure.Ink, Shape: figure.Circle})
	v := s.Document.Run.Variables
	if from, to := float64(v[a].Start), float64(v[b].Start); !math.IsNaN(from + to) {
		p.Layers = append(p.Layers, start([]float64{from}, []float64{to}))
	}
	if q := s.best(); q != nil {
		p.Layers = append(p.Layers, recommended([]float64{float64(q.X[a])}, []float64{float64(q.X[b])}))
	}
}

// others says what the variables are at that a figure does not show.
func (s *Source) others(set int, shown ...int) string {
	through, words, alone := s.anchor(), "", ""
	for i, v := range s.Document.Run.Variables {
		switch {
		case slices.Contains(shown, i):
		case !s.holds(set, i):
			alone += ", " + v.Name
		default:
			words += fmt.Sprintf(", %s %.4g", v.Name, through[i])
			if v.Unit != "" && v.Unit != "1" {
				words += " " + v.Unit
			}
		}
	}
	out := ""
	if words != "" {
		out = "At " + words[2:] + ". "
	}
	if alone != "" {
		out += "Averaged over " + alone[2:] + ", which are left alone."
	}
	return out
}

// slices draws the model along every variable, with what was measured anywhere.
func (s *Source) slices(Options) (*figure.Figure, error) {
	const points = 81
	steps := s.valid()
	out := &figure.Figure{Title: s.Document.Run.Name + ": the model along each variable",
		Note: "Line and band: the mean ± 2 SD, the other variables at the recommended setting. Dots: each step's mean, wherever its other variables were. Diamond: the recommended setting."}
	for i := range s.Document.Run.Variables {
		chart := figure.Chart{X: s.axisOf(i), Y: figure.Axis{Label: s.objective("")}}
		if set, ok := s.setWith(i); ok && s.Model != nil && s.ranged(i) {
			xs := s.spread(i, points)
			rows := make([][]float64, points)
			for k := range rows {
				rows[k] = s.anchor()
				rows[k][i] = xs[k]
			}
			seen, err := s.Model.Predict(set, rows)
			if err != nil {
				return nil, err
			}
			var m, low, high []float64
			for _, e := range seen {
				m, low, high = append(m, float64(e.Mean)), append(low, float64(e.Mean-2*e.SD)), append(high, float64(e.Mean+2*e.SD))
			}
			chart.Layers = append(chart.Layers, figure.Band{X: xs, Low: low, High: high, Colour: figure.First}, figure.Line{X: xs, Y: m, Colour: figure.First})
		}
		var x, y []float64
		for _, p := range steps {
			x, y = append(x, at(p, i)), append(y, mean(p))
		}
		chart.Layers = append(chart.Layers, figure.Points{X: x, Y: y, Colour: figure.Soft})
		if b := s.best(); b != nil && !math.IsNaN(float64(b.X[i])) {
			mark := recommended([]float64{float64(b.X[i])}, []float64{float64(b.Mean)})
			mark.Name = ""
			chart.Layers = append(chart.Layers, mark)
		}
		out.Charts = append(out.Charts, chart)
	}
	return out, nil
}
