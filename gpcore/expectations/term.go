package expectations

import (
	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// Inputs splits the coordinates of a point into those that a step sets and those that
// are left to chance.
type Inputs struct {
	// Controlled are the coordinates that are set, ascending.
	Controlled []int
	// Random are the distributions of the other coordinates, in ascending order of
	// coordinate, independent of each other. Nil where Nodes is set, or where every
	// coordinate is controlled.
	Random []quadrature.Marginal
	// Nodes is the joint distribution of the other coordinates where they are not
	// independent: readings, say. Nil where Random is set.
	Nodes *quadrature.Nodes
	// Seed scrambles the Sobol points that stand for four or more random
	// coordinates. Control sets with the same seed share them.
	Seed uint64
}

// Term is one summand of a criterion: a function of the posterior mean and standard
// deviation of one process at a point. It is Mean*mu + SD*sigma, or, where Of is not
// nil, what Of returns beside its derivatives by mu and sigma; Of must be safe for
// concurrent use.
type Term struct {
	Process  *gpcore.GP
	Mean, SD float64
	Of       func(mu, sigma float64) (value, byMu, bySigma float64)
	// Offset, where not nil, is added to mu: the process's prior mean, as a function of all
	// coordinates of a point. Where grad is not nil it also sets that to its derivatives.
	// It must be safe for concurrent use.
	Offset func(grad, x []float64) float64
}
