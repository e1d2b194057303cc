package acquisition

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Improvement is expected improvement. With b the best value so far,
//
//	a_i(c) = E_R[ (mu - b) Phi((mu - b)/s) + s phi((mu - b)/s) ],   mu, s at (c, R),
//
// the expected gain over b of the objective at (c, R), averaged over control set i's
// random variables R; without R it is the textbook's (Jones, Schonlau and Welch, J.
// Global Optim. 13 (1998), eq. 15). Data are noisy, so b is no reading: it is the
// greatest posterior mean of the settings played, for control sets that leave variables
// random the greatest expectation E_R[mu], for one that leaves none of all points observed, whatever
// control set came there. The search works on the logarithm, also where the value is
// too small for a number (tail).
//
// EI-PSQ takes the full control set alone, its form per unit cost the greatest a_i/cost_i: Tay et al.
// (NeurIPS 2023) have the improvement of the expectation there, see ImprovementOfExpectation. EI per cost (Paria et al.) divides by the cost of
// the setting.
type Improvement struct{}

func (Improvement) Options(d *Decision) ([]Option, error) {
	out := d.options()
	for _, v := range d.Views {
		best, err := d.bestMean(v)
		if err != nil {
			return nil, err
		}
		f := d.above(&d.slabs().improvements, best, expectedImprovement, logImprovement)
		if out, err = d.inLogs(out, v, ObjectiveDifference, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reached lists the observed points as settings of a domain that holds everything.
func (d *Decision) reached(dom *space.Domain) []float64 {
	rows, size := d.Criterion.Model.Data.Rows, dom.Size()
	out := d.memory().Floats(len(rows) * size)
	for i := range rows {
		dom.Project(out[i*size:(i+1)*size], rows[i].X)
	}
	return out
}

// minImprovement is where the logarithm of a value ends and a tail begins: numbers end.
const minImprovement = 1e-300

// expectedImprovement is E[max(X, 0)] for a normal X, and its derivatives by mean and
// standard deviation.
func expectedImprovement(mean, sd float64) (value, byMean, bySD float64) {
	z := mean / sd
	below, density := num.NormalCDF(z), num.NormalDensity(z)
	return max(mean*below+sd*density, 0), below, density
}

// bestMean is the greatest posterior mean of the settings that valid steps played, by
// expectation where their control set left variables random; with constraints of those
// settings that are probably feasible, where there are some. Where only steps without
// control were seen it is that at their values.
func (d *Decision) bestMean(v model.View) (float64, error) {
	played := d.slabs().lists.Take(d.memory(), len(d.Domains))
	for set := range played {
		if played[set] = d.Played(set); len(d.Domains[set].Random) == 0 && d.Domains[set].Listed() == 0 {
			played[set] = d.reached(d.Domains[set])
		}
	}
	d.Limiter.Restrict(played)
	best := math.Inf(-1)
	for set, dom := range d.Domains {
		x := played[set]
		if len(x) == 0 {
			continue
		}
		means := d.memory().Floats(len(x) / dom.Size())
		if err := space.Expectation(d.Criterion.Cache, means, d.linear(v, 1, 0), d.inputs(set), x); err != nil {
			return 0, err
		}
		best = max(best, means[num.Argmax(means)]+v.Offset())
	}
	if !math.IsInf(best, -1) {
		return best, nil
	}
	var x []float64
	for i := range d.Criterion.Model.Data.Rows {
		x = append(x, d.Criterion.Model.Data.Rows[i].X...)
	}
	mean, sd := make([]float64, len(d.Criterion.Model.Data.Rows)), make([]float64, len(d.Criterion.Model.Data.Rows))
	v.Moments(d.memory(), mean, sd, x)
	return mean[num.Argmax(mean)], nil
}
