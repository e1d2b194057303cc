package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/web/figure"
)

// contourCells is how many values stand along each side of a map: finer than an eye tells apart
// on a slide, coarse enough to be predicted at once.
const contourCells = 49

// aspects are what a map may show, with its words.
var aspects = []struct {
	name, label string
	of          func(control.PictureEstimate) float64
}{
	{"mean", "mean", func(e control.PictureEstimate) float64 { return float64(e.Mean) }},
	{"sd", "uncertainty of the mean, SD", func(e control.PictureEstimate) float64 { return float64(e.SD) }},
	{"noise", "noise of a shot, SD", func(e control.PictureEstimate) float64 { return float64(e.NoiseSD) }},
	{"feasible", "probability that the constraints hold", func(e control.PictureEstimate) float64 { return float64(e.Feasibility) }},
}

// contour draws the model over two variables, all others at the recommended setting.
func (s *Source) contour(o Options) (*figure.Figure, error) {
	var names []string
	for _, a := range aspects {
		names = append(names, a.name)
	}
	of, err := chosen("of", o.Of, names...)
	if err != nil {
		return nil, err
	}
	a, b, err := s.pair(o)
	if err != nil {
		return nil, err
	}
	aspect := aspects[slices.Index(names, of)]
	set, ok := s.setWith(a, b)
	if !ok || s.Model == nil {
		return nil, nothing("no control set holds both %s and %s, so the model cannot be looked at over them", s.Document.Run.Variables[a].Name, s.Document.Run.Variables[b].Name)
	}
	xs, ys := s.spread(a, contourCells), s.spread(b, contourCells)
	z, all, err := s.field(set, [2]int{a, b}, xs, ys, aspect.of)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(v float64) bool { return !math.IsNaN(v) }) {
		return nil, nothing("the model of this run has no %s", aspect.label)
	}
	unit := s.Document.Run.Unit
	if of == "feasible" {
		unit = ""
	}
	scale := figure.ScaleOf(label(aspect.label, unit), all...)
	panel := figure.Panel{X: s.axisOf(a), Y: s.axisOf(b), Scale: scale, Layers: []figure.Layer{figure.Map{X: xs, Y: ys, Z: z, Scale: scale, Levels: scale.Levels(8)}}}
	s.marks(&panel, a, b)
	return &figure.Figure{Title: fmt.Sprintf("%s: %s of %s", s.Document.Run.Name, aspect.label, brief(s.Document.Run.Objective)), Note: s.others(set, a, b), Panels: []figure.Panel{panel}}, nil
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
		return 0, 0, fmt.Errorf("a map needs two variables, and both are %s", s.Document.Run.Variables[at[0]].Name)
	}
	return at[0], at[1], nil
}

// field asks the model at every cell.
func (s *Source) field(set int, of [2]int, xs, ys []float64, value func(control.PictureEstimate) float64) (z [][]float64, all []float64, err error) {
	var rows [][]float64
	through := s.anchor()
	for _, y := range ys {
		for _, x := range xs {
			row := slices.Clone(through)
			row[of[0]], row[of[1]] = x, y
			rows = append(rows, row)
		}
	}
	seen, err := s.Model.Predict(set, rows)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range seen {
		all = append(all, value(e))
	}
	for j := range ys {
		z = append(z, all[j*len(xs):(j+1)*len(xs)])
	}
	return z, all, nil
}

// marks adds what was tried, the start and the recommended setting.
func (s *Source) marks(p *figure.Panel, a, b int) {
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
		Note: "Line and band: the model's mean ± 2 SD with all other variables at the recommended setting. Dots: the steps' means, wherever the other variables were."}
	for i := range s.Document.Run.Variables {
		panel := figure.Panel{X: s.axisOf(i), Y: figure.Axis{Label: s.objective("")}}
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
			panel.Layers = append(panel.Layers, figure.Band{X: xs, Low: low, High: high, Colour: figure.First}, figure.Line{X: xs, Y: m, Colour: figure.First})
		}
		var x, y []float64
		for _, p := range steps {
			x, y = append(x, at(p, i)), append(y, mean(p))
		}
		panel.Layers = append(panel.Layers, figure.Points{X: x, Y: y, Colour: figure.Soft})
		if b := s.best(); b != nil && !math.IsNaN(float64(b.X[i])) {
			mark := recommended([]float64{float64(b.X[i])}, []float64{float64(b.Mean)})
			mark.Name = ""
			panel.Layers = append(panel.Layers, mark)
		}
		out.Panels = append(out.Panels, panel)
	}
	return out, nil
}
