package policy

import "math"

// improvement is expected improvement. With b the best value so far,
//
//	a_i(c) = E_R[ (mu - b) Phi((mu - b)/s) + s phi((mu - b)/s) ],   mu, s at (c, R),
//
// the expected gain over b of the objective at (c, R), averaged over control set i's
// random variables R; without R it is the textbook's (Jones, Schonlau and Welch, J.
// Global Optim. 13 (1998), eq. 15). Data are noisy, so b is no reading: it is the
// greatest posterior mean of the settings played, for control sets that leave variables
// random the greatest expectation E_R[mu]. The search works on the logarithm.
//
// EI-PSQ of Tay et al. (NeurIPS 2023) takes the full control set alone, its form per
// unit cost the greatest a_i/cost_i; EI per cost (Paria et al.) divides by the cost of
// the setting.
type improvement struct{}

func (improvement) options(d *decision) ([]option, error) {
	var out []option
	for _, v := range d.views {
		best, err := d.bestMean(v)
		if err != nil {
			return nil, err
		}
		objectives, err := d.expectations(v.of(func(mu, sigma float64) (value, byMu, bySigma float64) {
			return expectedImprovement(mu-best, sigma)
		}))
		if err != nil {
			return nil, err
		}
		for i, set := range d.sets {
			out = append(out, option{set: set, view: v, objective: objectives[i], unit: gain, floor: leastImprovement})
		}
	}
	return out, nil
}

// leastImprovement ends the logarithm where numbers end.
const leastImprovement = 1e-300

// expectedImprovement is E[max(X, 0)] for a normal X, and its derivatives by mean and
// standard deviation.
func expectedImprovement(mean, sd float64) (value, byMean, bySD float64) {
	z := mean / sd
	below, density := normalCDF(z), normalDensity(z)
	return max(mean*below+sd*density, 0), below, density
}

// bestMean is the greatest posterior mean of the settings that valid steps played, by
// expectation where their control set left variables random; with constraints of those
// settings that are probably feasible, where there are some. Where only steps without
// control were seen it is that at their values.
func (d *decision) bestMean(v view) (float64, error) {
	played := make([][]float64, len(d.domains))
	for set := range played {
		played[set] = d.played(set)
	}
	d.keeper.among(played)
	best := math.Inf(-1)
	for set, dom := range d.domains {
		x := played[set]
		if len(x) == 0 {
			continue
		}
		means, err := expectation(v.linear(1, 0), d.criterion.around.inputs(dom, d.step), x)
		if err != nil {
			return 0, err
		}
		best = max(best, means[argmax(means)]+v.offset())
	}
	if !math.IsInf(best, -1) {
		return best, nil
	}
	var x []float64
	for i := range d.criterion.model.data.rows {
		x = append(x, d.criterion.model.data.rows[i].x...)
	}
	mean, sd := make([]float64, len(d.criterion.model.data.rows)), make([]float64, len(d.criterion.model.data.rows))
	v.moments(mean, sd, x)
	return mean[argmax(mean)], nil
}
