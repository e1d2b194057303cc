package plots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/loop/web/figure"
)

// samples is how many pairs of settings the indices are estimated from, resamples how often they are
// drawn again for their standard error.
const (
	samples   = 1000
	resamples = 60
)

// indices are the variance-based indices of the posterior mean over the ranges, uniform: First is the share of
// the variance that a variable explains alone, Total that with all its interactions (Jansen's estimators, as in
// Saltelli et al., Computer Physics Communications 181, 2010, table 2), with their standard errors.
type indices struct {
	variables           []int
	first, total        []float64
	firstError, totalSE []float64
	// unsure is the model's own variance, as a share of the mean's variance over the ranges.
	unsure float64
}

// sensitivity estimates the indices by the model of the control set with the most variables.
func (s *Source) sensitivity() (indices, error) {
	var out indices
	set := -1
	for i := range s.Document.Sets {
		if set < 0 || len(s.Document.Sets[i].Variables) > len(s.Document.Sets[set].Variables) {
			set = i
		}
	}
	if s.Model == nil || set < 0 {
		return out, nothing("the run has no model yet")
	}
	for i := range s.Document.Run.Variables {
		if s.holds(set, i) && s.ranged(i) {
			out.variables = append(out.variables, i)
		}
	}
	if len(out.variables) == 0 {
		return out, nothing("no variable that a control set holds has a range")
	}
	rows := s.design(out.variables)
	seen, err := s.Model.Predict(set, rows)
	if err != nil {
		return out, err
	}
	y, variance := make([]float64, len(seen)), 0.0
	for i, e := range seen {
		y[i] = float64(e.Mean)
		variance += float64(e.SD*e.SD) / float64(len(seen))
	}
	var spread float64
	out.first, out.total, spread = jansen(y, len(out.variables), nil)
	out.unsure = variance / spread
	out.firstError, out.totalSE = bootstrap(y, len(out.variables))
	return out, nil
}

// design are settings A, then B, then for each variable A with that variable's values of B.
func (s *Source) design(variables []int) [][]float64 {
	draw := rand.New(rand.NewPCG(1, 2)) // the same figure each time
	through := s.anchor()
	block := func() [][]float64 {
		out := make([][]float64, samples)
		for k := range out {
			out[k] = slices.Clone(through)
			for _, i := range variables {
				u := draw.Float64()
				ends := s.spread(i, 2)
				if i < len(s.Log) && s.Log[i] {
					out[k][i] = ends[0] * math.Pow(ends[1]/ends[0], u)
				} else {
					out[k][i] = ends[0] + u*(ends[1]-ends[0])
				}
			}
		}
		return out
	}
	a, b := block(), block()
	rows := append(slices.Clone(a), b...)
	for _, i := range variables {
		for k := range a {
			row := slices.Clone(a[k])
			row[i] = b[k][i]
			rows = append(rows, row)
		}
	}
	return rows
}

// jansen estimates first-order and total indices of d variables from the values at a design, and the variance over
// it; pick chooses rows of the design, nil: each once.
func jansen(y []float64, d int, pick []int) (first, total []float64, variance float64) {
	n := len(y) / (d + 2)
	row := func(block, k int) float64 {
		if pick != nil {
			k = pick[k]
		}
		return y[block*n+k]
	}
	m := 0.0
	for k := range n {
		m += (row(0, k) + row(1, k)) / float64(2*n)
	}
	for k := range n {
		variance += ((row(0, k)-m)*(row(0, k)-m) + (row(1, k)-m)*(row(1, k)-m)) / float64(2*n)
	}
	for i := range d {
		apart, near := 0.0, 0.0
		for k := range n {
			apart += square(row(1, k)-row(2+i, k)) / float64(2*n)
			near += square(row(0, k)-row(2+i, k)) / float64(2*n)
		}
		first, total = append(first, 1-apart/variance), append(total, near/variance)
	}
	return first, total, variance
}

func square(v float64) float64 { return v * v }

// bootstrap gives the standard errors of the indices.
func bootstrap(y []float64, d int) (first, total []float64) {
	n := len(y) / (d + 2)
	draw := rand.New(rand.NewPCG(3, 4))
	sums := make([][4]float64, d)
	for range resamples {
		pick := make([]int, n)
		for k := range pick {
			pick[k] = draw.IntN(n)
		}
		f, t, _ := jansen(y, d, pick)
		for i := range d {
			sums[i][0], sums[i][1] = sums[i][0]+f[i], sums[i][1]+f[i]*f[i]
			sums[i][2], sums[i][3] = sums[i][2]+t[i], sums[i][3]+t[i]*t[i]
		}
	}
	sd := func(sum, squares float64) float64 {
		return math.Sqrt(max(0, squares/resamples-square(sum/resamples)))
	}
	for i := range d {
		first, total = append(first, sd(sums[i][0], sums[i][1])), append(total, sd(sums[i][2], sums[i][3]))
	}
	return first, total
}

// byImportance orders the variables by their total index, greatest first.
func (s *Source) byImportance() ([]int, error) {
	v, err := s.sensitivity()
	if err != nil {
		return nil, err
	}
	order := make([]int, len(v.variables))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if v.total[a] == v.total[b] {
			return 0
		}
		return sign(v.total[b] - v.total[a])
	})
	for i, k := range order {
		order[i] = v.variables[k]
	}
	return order, nil
}

// importance draws the indices.
func (s *Source) importance(Options) (*figure.Figure, error) {
	v, err := s.sensitivity()
	if err != nil {
		return nil, err
	}
	var names []string
	double := func(se []float64) []float64 {
		out := make([]float64, len(se))
		for i := range se {
			out[i] = 2 * se[i]
		}
		return out
	}
	clean := func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i := range values {
			out[i] = max(0, values[i]) // an estimate of a share may fall below 0, a share cannot
		}
		return out
	}
	for _, i := range v.variables {
		names = append(names, s.Document.Run.Variables[i].Name)
	}
	note := fmt.Sprintf("Shares of the variance of the model's mean over the ranges ± 2 SE of the estimate. The model's own variance is %.0f %% of it.", 100*v.unsure)
	if v.unsure > 1 {
		note += " The ranges are little explored: what is not known outweighs what is."
	}
	out := &figure.Figure{Title: s.Document.Run.Name + ": importance of each variable", Note: note,
		Charts: []figure.Chart{{X: figure.Axis{Label: "share of the variance"}, Y: figure.Axis{Names: names}, Layers: []figure.Layer{
			figure.Bars{Name: "with interactions (total index)", Value: clean(v.total), Error: double(v.totalSE), Colour: figure.First, Row: 0, Rows: 2},
			figure.Bars{Name: "alone (first-order index)", Value: clean(v.first), Error: double(v.firstError), Colour: figure.Sixth, Row: 1, Rows: 2},
		}}}}
	p, note, err := s.lengths()
	if err != nil {
		return nil, err
	}
	if p != nil {
		out.Charts = append(out.Charts, *p)
	}
	out.Note += note
	return out, nil
}

// lengths draws how fast the objective changes along each variable: the range over the lengthscale, with
// two standard deviations of its logarithm; nil, and why, where that tells nothing.
func (s *Source) lengths() (p *figure.Chart, note string, err error) {
	if s.Lengthscales == nil {
		return nil, "", nil
	}
	log, sd, err := s.Lengthscales()
	if err != nil || len(log) != len(s.Document.Run.Variables) {
		return nil, "", err
	}
	if slices.Min(log) == slices.Max(log) {
		return nil, " The model has one lengthscale for all variables, which tells none from another.", nil
	}
	p = &figure.Chart{X: figure.Axis{Label: "range over lengthscale", Log: true}}
	unsure := false
	for i, v := range s.Document.Run.Variables {
		p.Y.Names = append(p.Y.Names, v.Name)
		row := []float64{float64(i), float64(i)}
		if sd[i] > 0 {
			unsure = true
			p.Layers = append(p.Layers, figure.Line{X: []float64{math.Exp(-log[i] - 2*sd[i]), math.Exp(-log[i] + 2*sd[i])}, Y: row, Colour: figure.First})
		}
		p.Layers = append(p.Layers, figure.Points{X: []float64{math.Exp(-log[i])}, Y: row[:1], Colour: figure.First, Large: true})
	}
	note = " Right: each range over its lengthscale, larger where the objective changes over a shorter distance"
	if unsure {
		note += " (± 2 SD of the logarithm)"
	}
	note += "."
	return p, note, nil
}
