package policy

import (
	"cmp"
	"math"
	"slices"
)

// Recommend implements [Policy]: of the settings that were played, the one with the
// greatest posterior lower bound of the mean-variance objective,
//
//	argmax over played (S, x) of E[ mean - beta sd - alpha * upper bound of the noise variance ]
//
// (Makarova et al., NeurIPS 2021, Corollary 1.1; with expectations over the random
// variables for control sets that leave some). Settings where more steps failed than
// succeeded are left out while there are others. Since E[sd] is at least the standard deviation of the expected
// objective, the bound is safe there too. Cost: a few expectations for each played
// setting.
func (e *engine) Recommend() (Recommendation, error) {
	if len(e.model.data.rows) == 0 {
		return Recommendation{}, ErrNoData
	}
	if err := e.model.refresh(); err != nil {
		return Recommendation{}, err
	}
	workers := e.pool()
	found := false
	var best Recommendation
	var value float64
	for _, reliable := range []bool{true, false} {
		for set := range e.domains {
			x := e.playedPoints(set, reliable)
			if len(x) == 0 {
				continue
			}
			c := e.criterion(set, -e.spec.Beta)
			if at, v := safest(c, workers, x); !found || v > value {
				found, value = true, v
				best = Recommendation{ControlSet: set, X: c.dom.proposal(at), Estimate: e.estimate(c, at)}
			}
		}
		if found {
			break
		}
	}
	if !found { // nothing but steps without control
		return Recommendation{}, ErrNoData
	}
	best.Start = e.startEstimate()
	return best, nil
}

// playedPoints lists the settings that valid steps played with a control set, one
// row each, as they may be proposed; reliable leaves out those where steps failed
// more often. Steps without control stand for the full set: they show the objective
// at their values all the same.
func (e *engine) playedPoints(set int, reliable bool) []float64 {
	d := e.domains[set]
	var out []float64
	last := 0
	for i := range e.model.data.rows {
		r := &e.model.data.rows[i]
		if r.set != set && (r.set >= 0 || len(d.random) > 0) || r.set == set && r.step == last {
			continue
		}
		last = r.step
		x := make([]float64, d.size())
		d.project(x, r.x)
		if reliable && e.votes[set].unreliable(x) {
			continue
		}
		d.settle(x)
		out = append(out, x...)
	}
	return out
}

// safest evaluates the criterion with few nodes at all settings and with all nodes at
// the best sixteen, and returns the best.
func safest(c *criterion, p *pool, x []float64) (at []float64, value float64) {
	const exact = 16
	size := c.dom.size()
	values := make([]float64, len(x)/size)
	c.values(p, values, x, c.nodes.coarse)
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	order = order[:min(exact, len(order))]
	var few []float64
	for _, i := range order {
		few = append(few, x[i*size:(i+1)*size]...)
	}
	values = values[:len(order)]
	c.values(p, values, few, c.nodes.count())
	k := argmax(values)
	return few[k*size : (k+1)*size], values[k]
}

// estimate describes the objective at setting x of the criterion's control set.
func (e *engine) estimate(c *criterion, x []float64) Estimate {
	s := c.summarise(e.workers.workers[0], x)
	h := e.model.inForce
	out := Estimate{Mean: h.center + h.scale*s.mean, SD: h.scale * s.sd,
		NoiseSD: h.scale * math.Sqrt(s.shot), LowerBound: h.center + h.scale*s.value}
	_, freedom := pooledVariance(e.model.data.rows)
	if e.model.v == nil && e.model.fitted == nil && !e.model.fixed() && freedom < pooledFreedom {
		out.NoiseSD = math.NaN() // a guess
	}
	return out
}

// startEstimate describes the starting setting: variables whose start is unknown
// are random.
func (e *engine) startEstimate() Estimate {
	known := make([]bool, len(e.axes))
	var x []float64
	for i := range known {
		if start := e.spec.Variables[i].Start; !math.IsNaN(start) {
			known[i] = true
			x = append(x, e.axes[i].unit(start))
		}
	}
	d := &domain{set: -1, axes: e.axes}
	d.split(known)
	c := &criterion{m: e.model, dom: d, nodes: e.around.nodes(d.random), beta: -e.spec.Beta, alpha: e.alpha()}
	return e.estimate(c, x)
}
