package acquisition

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// MaximaSamples is the number of sampled maxima behind an information, as in the
// experiments of Takeno et al. (arXiv 2409.00979).
const MaximaSamples = 10

// Optimum is the maximum of a posterior sample over the settings of all variables.
type Optimum struct {
	Component model.Component
	X         []float64 // every coordinate of the process
	Value     float64   // of the objective: with the component's prior mean
}

// Maxima draws samples of a view and maximises each where the goal lies, with
// constraints over what probably keeps them: exactly where
// its settings are listed, else by its own search, which is metered with the others
// of the decision. Where that was cut before it came to a sample, the best of the
// observed settings with a great posterior mean stands in; where it was cut before all were drawn,
// there are fewer, one at least. They hold until the policy's next call.
func (d *Decision) Maxima(v model.View, n int, rng *rand.Rand) ([]Optimum, error) {
	s, memory := d.slabs(), d.memory()
	out, aim := s.optima.Take(memory, n), d.Goal
	problems, paths, searched := s.problems.Take(memory, n)[:0], s.pathLists.Take(memory, n)[:0], memory.Ints(n)[:0]
	for i := range out {
		if i > 0 && !d.Units.afford(sampleCost(v)) {
			out = out[:i]
			break
		}
		drawn, err := d.Sample(v, aim.Domain, rng)
		if err != nil {
			return nil, err
		}
		out[i].Component = drawn.component
		if drawn.table != nil {
			k := num.Argmax(d.Limiter.Penalise(drawn.table, aim.Domain.List))
			out[i].X, out[i].Value = aim.Domain.Row(k), drawn.table[k]+drawn.component.Mean
			continue
		}
		o, err := drawn.expectationOver(d, aim)
		if err != nil {
			return nil, err
		}
		problems = append(problems, search.Problem{Objective: d.Limiter.LimitTarget(o), Axes: aim.Domain.ProblemAxes(), List: aim.Domain.List,
			Screen: maximaScreenSize(aim.Domain.Size()), Climbs: 6})
		paths, searched = append(paths, o.(*expectedPath)), append(searched, i)
	}
	if len(problems) == 0 {
		return out, nil
	}
	use := Use{Which: forMaxima, Sets: memory.Ints(len(problems)), Slack: math.Inf(1), Step: d.Step, Seed: d.Seed}
	for i := range use.Sets {
		use.Sets[i] = targetSet
	}
	if len(d.Views) > 1 { // one search for each
		use.Which = maxSearches
	}
	look, err := d.Kept.Search(problems, use)
	if err != nil {
		return nil, err
	}
	starts := d.StartPoints(aim.Domain, d.Incumbents)
	for i := range problems {
		look.SetStarts(i, starts)
	}
	for k, m := range d.Units.Run(look) {
		i, o := searched[k], paths[k]
		x, value := m.X, m.Value
		switch {
		case math.IsInf(value, -1):
			x, value = d.bestRow(o, starts)
		case d.Limiter != nil: // without the penalty
			x, value = d.bestRow(o, x)
		}
		full, _ := o.expectation.Rules()
		points := o.points(&full, x)
		out[i].X, out[i].Value = append(memory.Floats(len(points))[:0], points...), value+out[i].Component.Mean
	}
	return out, nil
}

// maximaScreenSize is how many points are screened for a sample's maximum: fewer than for
// a decision, since an error of one of ten samples counts little.
func maximaScreenSize(dims int) int { return 120 << min(dims-1, 4) }

// bestRow is the best of the rows of x.
func (d *Decision) bestRow(o search.Objective, x []float64) (at []float64, value float64) {
	size := o.Dim()
	values := d.memory().Floats(len(x) / size)
	o.Values(values, x)
	k := num.Argmax(values)
	return x[k*size : (k+1)*size], values[k]
}

// StartPoints lists points of all variables as settings of a domain, row after row.
func (d *Decision) StartPoints(dom *space.Domain, points [][]float64) []float64 {
	size := dom.Size()
	out := d.memory().Floats(len(points) * size)
	for k, x := range points {
		at := out[k*size : (k+1)*size]
		dom.Project(at, x)
		dom.Round(at)
	}
	return out
}

// ImprovementOverSample is PIMS, the probability of improvement from max sampling
// (Takeno et al., ICML 2024; arXiv 2311.03760, eq. 4): with f* the maximum of one sample,
//
//	a_i(c) = E_R[ Phi((mu - f*)/s) ],   mu, s at (c, R),
//
// over control set i's random variables R. The search works on the logarithm.
type ImprovementOverSample struct{}

func (ImprovementOverSample) Options(d *Decision) ([]Option, error) {
	out := d.options()
	for i, v := range d.Views {
		m, err := d.Maxima(v, 1, d.Substream(num.ForSample, i))
		if err != nil {
			return nil, err
		}
		f := d.above(&d.slabs().exceedances, m[0].Value, exceedance, logExceedance)
		if out, err = d.inLogs(out, v, Dimensionless, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}
