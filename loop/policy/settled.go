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
	if d.Untried = !e.measured.Has(other.x); !d.Untried { // all are measured
		return 0, nil
	}
	*c = other
	return readings, nil
}

// settled is how many readings n the setting has that a decision wants, where these are enough, else 0: with the variance v of
// their noise
//
//	v/n <= settledSD^2
//
// and two at least, for one may be an outlier.
func settled(e *engine, d *decision, c *choice) int {
	if e.measured == nil || d.Unseen || len(d.regions) > 0 || e.spec.Once || !leavesSettled(e, d.Step) {
		return 0
	}
	if n := e.measured.Readings(c.x); n >= 2 && noiseNear(e, c.x) <= float64(n)*settledSD*settledSD {
		return n
	}
	return 0
}

// newMeasured counts the readings of settings for [settled]; nil where that does not apply.
func newMeasured(s *Spec, domains []*space.Domain) *space.Settings {
	if s.leavesUntil() == 0 || !domains[0].Stepwise() {
		return nil
	}
	return space.NewSettings(domains[0])
}

// leavesSettled reports whether a step of the search may leave the setting that the acquisition wants for a new one.
func leavesSettled(e *engine, step int) bool {
	return step-e.compared <= e.spec.leavesUntil() && !e.model.Deciding()
}

// noiseNear is the variance of a reading's noise by the most probable process, of the standardised objective: the mean of those
// of the rows at x, of all rows where the model has none there any more.
func noiseNear(e *engine, x []float64) float64 {
	const same = 1e-4 // squared, of a range
	process, dom, at := e.model.Posterior().MostProbable(), e.domains[0], e.memory.Floats(len(x))
	here, all, n := 0.0, 0.0, 0
	rows := min(process.GP.Len(), len(e.model.Data.Rows))
	for i := range rows {
		v := process.GP.NoiseVariance(i)
		all += v / float64(rows)
		if dom.Project(at, e.model.Data.Rows[i].X); num.SquaredDistance(at, x) <= same {
			here, n = here+v, n+1
		}
	}
	if n == 0 {
		return all
	}
	return here / float64(n)
}

// tried is the penalty of settings that were measured or failed: far more than values of a standardised objective
// differ by, so that one is left for when all were.
func tried(e *engine, set int) func(x []float64) float64 {
	const far = 1e9
	used := e.measured
	if used == nil || e.spec.Once {
		used = space.NewSettings(e.domains[set])
		for _, x := range e.excluded[set].Settings() {
			used.Add(x, false)
		}
	}
	return func(x []float64) float64 {
		if used.Has(x) {
			return far
		}
		return 0
	}
}
