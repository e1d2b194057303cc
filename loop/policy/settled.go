package policy

import (
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// settledSD is the standard error, in standard deviations of the objective, from which on a setting's own readings are
// enough. Of 0.05, 0.07, 0.1, 0.15 and 0.2 it lost least on grids of 25 to 1000 settings, at little noise and at much: TestGrids.
const settledSD = 0.1

// leaveSettled has a decision that wants a setting whose readings are enough take the best one of those that were not measured, and
// returns how many readings those are; 0: the decision stands. It is for settings in steps, of a search that is known to end:
// there one that is new tells more than the same once more, and the model may be wrong about it.
func leaveSettled(e *engine, d *decision, c *choice) (readings int, err error) {
	if readings = settled(e, d, c); readings == 0 {
		return 0, nil
	}
	d.Untried = true
	other, err := wanted(e, d)
	if err != nil {
		return 0, err
	}
	if n, _ := readingsAt(e, e.domains[other.options[other.k].Set], other.x); n > 0 { // all are measured
		d.Untried = false
		return 0, nil
	}
	*c = other
	return readings, nil
}

// settled is how many readings the setting has that a decision wants, where these are enough, else 0: by the
// variances v of their noise
//
//	1 / sum of 1/v <= settledSD^2
//
// and two at least, for one may be an outlier.
func settled(e *engine, d *decision, c *choice) int {
	dom := e.domains[c.options[c.k].Set]
	if d.Unseen || len(d.regions) > 0 || e.spec.Once || !leavesSettled(e, d.Step) || !dom.Stepwise() {
		return 0
	}
	if n, precision := readingsAt(e, dom, c.x); n >= 2 && precision*settledSD*settledSD >= 1 {
		return n
	}
	return 0
}

// leavesSettled reports whether a step of the search may leave the setting that the acquisition wants for a new one.
func leavesSettled(e *engine, step int) bool {
	return step-e.compared <= e.spec.leavesUntil() && !e.model.Deciding()
}

// readingsAt is how many readings of a setting of a domain the model has, and the sum of 1 over their noise's variance by the most
// probable process, of the standardised objective.
func readingsAt(e *engine, dom *space.Domain, x []float64) (n int, precision float64) {
	const same = 1e-18 // squared, of a range: what a setting in users' units loses
	process, at := e.model.Posterior().MostProbable(), e.memory.Floats(dom.Size())
	for i := range min(process.GP.Len(), len(e.model.Data.Rows)) {
		if dom.Project(at, e.model.Data.Rows[i].X); num.SquaredDistance(at, x) <= same {
			n, precision = n+1, precision+1/process.GP.NoiseVariance(i)
		}
	}
	return n, precision
}

// tried is the penalty of settings that were measured or failed: far more than values of a standardised objective
// differ by, so that one is left for when all were.
func tried(e *engine, set int) func(x []float64) float64 {
	const far = 1e9
	used := space.NewSettings(e.domains[set])
	for _, x := range e.excluded[set].Settings() {
		used.Add(x)
	}
	return func(x []float64) float64 {
		if used.Has(x) {
			return far
		}
		return 0
	}
}
