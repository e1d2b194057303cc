package policy

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
)

// maximaSamples is the number of sampled maxima behind an information, as in the
// experiments of Takeno et al. (arXiv 2409.00979).
const maximaSamples = 10

// optimum is the maximum of a posterior sample over the settings of all variables.
type optimum struct {
	component component
	x         []float64 // every coordinate of the process
	value     float64   // of the objective: with the component's prior mean
}

// maxima draws samples of a view and maximises each where the goal lies, with
// constraints over what probably keeps them: exactly where
// its settings are listed, else by a search of its own, which is metered with the others
// of the decision. Where that was cut before it came to a sample, the best of the
// observed settings with a great posterior mean stands in.
func (d *decision) maxima(v view, n int, rng *rand.Rand) ([]optimum, error) {
	out, aim := make([]optimum, n), d.goal
	var problems []gpcore.Problem
	var paths []*expectedPath
	var searched []int
	for i := range out {
		s, err := d.sample(v, aim.domain, rng)
		if err != nil {
			return nil, err
		}
		out[i].component = s.component
		if s.table != nil {
			k := argmax(d.keeper.penalise(s.table, aim.domain.list))
			out[i].x, out[i].value = aim.domain.row(k), s.table[k]+s.component.mean
			continue
		}
		o, err := s.through(d, aim)
		if err != nil {
			return nil, err
		}
		problems = append(problems, gpcore.Problem{Objective: d.keeper.keepTarget(o), Axes: aim.domain.problemAxes(), List: aim.domain.list,
			Screen: screenOfMaxima(aim.domain.size()), Climbs: 6})
		paths, searched = append(paths, o.(*expectedPath)), append(searched, i)
	}
	if len(problems) == 0 {
		return out, nil
	}
	s, err := gpcore.NewSearch(problems, gpcore.Options{Seed: d.rng(forScreening).Uint64(), Slack: math.Inf(1)})
	if err != nil {
		return nil, err
	}
	starts := d.startsIn(aim.domain, d.incumbents)
	for i := range problems {
		s.SetStarts(i, starts)
	}
	for k, m := range d.units.run(s) {
		i, o := searched[k], paths[k]
		x, value := m.X, m.Value
		switch {
		case math.IsInf(value, -1):
			x, value = best(o, starts)
		case d.keeper != nil: // without the penalty
			x, value = best(o, x)
		}
		full, _ := o.shape.Rules()
		out[i].x, out[i].value = append([]float64(nil), o.points(&full, x)...), value+out[i].component.mean
	}
	return out, nil
}

// screenOfMaxima is how many points are screened for a sample's maximum: fewer than for
// a decision, since an error of one of ten samples counts little.
func screenOfMaxima(dims int) int { return 120 << min(dims-1, 4) }

// best is the best of the rows of x.
func best(o gpcore.Objective, x []float64) (at []float64, value float64) {
	size := o.Dim()
	values := make([]float64, len(x)/size)
	o.Values(values, x)
	k := argmax(values)
	return x[k*size : (k+1)*size], values[k]
}

// startsIn lists points of all variables as settings of a domain, row after row.
func (d *decision) startsIn(dom *domain, points [][]float64) []float64 {
	out := make([]float64, 0, len(points)*dom.size())
	for _, x := range points {
		at := make([]float64, dom.size())
		dom.project(at, x)
		dom.settle(at)
		out = append(out, at...)
	}
	return out
}

// improvementOverSample is PIMS, the probability of improvement from max sampling
// (Takeno et al., ICML 2024; arXiv 2311.03760, eq. 4): with f* the maximum of one sample,
//
//	a_i(c) = E_R[ Phi((mu - f*)/s) ],   mu, s at (c, R),
//
// over control set i's random variables R. The search works on the logarithm.
type improvementOverSample struct{}

func (improvementOverSample) options(d *decision) ([]option, error) {
	var out []option
	for i, v := range d.views {
		m, err := d.maxima(v, 1, d.substream(forSample, i))
		if err != nil {
			return nil, err
		}
		target := m[0].value
		objectives, err := d.expectations(v.of(func(mu, sigma float64) (value, byMu, bySigma float64) {
			z := (mu - target) / sigma
			p := normalDensity(z) / sigma
			return normalCDF(z), p, -z * p
		}))
		if err != nil {
			return nil, err
		}
		for i, set := range d.sets {
			out = append(out, option{set: set, view: v, objective: objectives[i], unit: pure, floor: leastImprovement})
		}
	}
	return out, nil
}
