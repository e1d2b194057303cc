package fitting

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// How much of the logarithm of the posterior a search may leave, as far as it can tell: one from an earlier fit
// a fifth of a standard deviation of one hyperparameter, since it will be gone on with, another one a two-hundredth.
const (
	leftWarm = 0.02
	leftCold = 1e-5
)

// left is how much a search of this problem may leave.
func (e *evidence) left() float64 {
	if e.p.Earlier != nil {
		return leftWarm
	}
	return leftCold
}

// Limits of a climb, and of the steps by one metric: far from the maximum the average information is another one than
// there, and by one that is much too great a search ends where it begins.
const (
	climbEvaluations = 300
	metricSteps      = 5
	metricGain       = 1 // a gain of less leaves the metric what it was
)

// climb searches for the most probable values from start, by rounds of BFGS. From an earlier fit it takes some two
// evaluations, of data that have grown by an eighth. How it ends is of no interest: the evidence keeps the best point of
// all searches. Where it comes to a point that cannot be evaluated, a search that knows no scales goes on.
func (e *evidence) climb(ctx context.Context, start []float64) {
	last := e.evaluations + climbEvaluations
	for at, on := slices.Clone(start), true; on && e.evaluations < last && ctx.Err() == nil; {
		var err error
		if at, on, err = e.climbRound(ctx, at, last-e.evaluations); err != nil {
			e.climbPlainly(ctx, at, last-e.evaluations)
		}
	}
}

// climbRound climbs by BFGS in coordinates in which the posterior is nearly a standard normal one at the start: the
// first step is Newton's, and half the square of the slope is what is left to gain. It returns where it came to, and
// whether another round is to go on from there: the metric there may be another one. An error says that it
// stopped before its end.
func (e *evidence) climbRound(ctx context.Context, start []float64, evaluations int) (at []float64, on bool, err error) {
	k, left := len(start), e.left()
	slope, z := make([]float64, k), make([]float64, k)
	if e.gradient(slope, start); !e.valid {
		return start, false, nil
	}
	c := coordinates{start: start, root: e.spread(), unit: 1}
	c.slopes(z, slope)
	if c.unit = floats.Norm(z, 2); c.unit*c.unit/2 < left {
		return start, false, nil
	}
	// A search's first step is of unit length, which is Newton's in this unit, and slopes are by it.
	floats.Scale(-c.unit, z)
	value := e.value(start)
	settings := optimize.Settings{
		InitValues:        &optimize.Location{F: -value, Gradient: z},
		GradientThreshold: c.unit * math.Sqrt(2*left/float64(k)),
		MajorIterations:   metricSteps,
		FuncEvaluations:   evaluations,
		Converger:         &optimize.FunctionConverge{Absolute: left / 10, Iterations: 1},
	}
	method := &optimize.BFGS{Linesearcher: &optimize.MoreThuente{}, GradStopThreshold: math.NaN()} // settings say when it ends
	found, err := e.minimise(ctx, &c, &settings, method, true)
	on = err == nil && (found.value-value >= metricGain || found.status == optimize.IterationLimit)
	return found.at, on, err
}

// climbPlainly is climb by L-BFGS in the logarithms themselves.
func (e *evidence) climbPlainly(ctx context.Context, start []float64, evaluations int) {
	unscaled := mat.NewDiagDense(len(start), nil)
	for i := range start {
		unscaled.SetDiag(i, 1)
	}
	settings := optimize.Settings{GradientThreshold: 1e-3, MajorIterations: 100, FuncEvaluations: max(evaluations, 1),
		Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 3}}
	_, _ = e.minimise(ctx, &coordinates{start: start, root: unscaled, unit: 1}, &settings, &optimize.LBFGS{}, false)
}

// errNoValue ends a search whose steps assume that each point has a value.
var errNoValue = errors.New("gpcore: a point cannot be evaluated")

// summit is the best point of a search.
type summit struct {
	at     []float64
	value  float64
	status optimize.Status // why the search ended
}

// minimise searches for the most probable values in coordinates, from their zero. Where all points must have a value,
// the first that has none ends it. An error says that the search stopped where it was.
func (e *evidence) minimise(ctx context.Context, c *coordinates, settings *optimize.Settings, method optimize.Method, all bool) (summit, error) {
	k, lost := len(c.start), false
	v, g := make([]float64, k), make([]float64, k)
	best := summit{at: slices.Clone(c.start), value: math.Inf(-1)}
	if known := settings.InitValues; known != nil {
		best.value = -known.F
	}
	problem := optimize.Problem{
		Func: func(z []float64) float64 {
			if ctx.Err() != nil {
				return math.Inf(1)
			}
			c.values(v, z)
			value := e.value(v)
			lost = lost || all && math.IsInf(value, -1)
			if value > best.value {
				best.value = value
				copy(best.at, v)
			}
			return -value
		},
		Grad: func(slope, z []float64) {
			c.values(v, z)
			e.gradient(g, v)
			c.slopes(slope, g)
			floats.Scale(-1, slope)
		},
		Status: func() (optimize.Status, error) {
			switch {
			case ctx.Err() != nil:
				return optimize.RuntimeLimit, nil
			case lost:
				return optimize.Failure, errNoValue
			}
			return optimize.NotTerminated, nil
		},
	}
	result, err := optimize.Minimize(problem, make([]float64, k), settings, method)
	if result != nil {
		best.status = result.Status
	}
	return best, err
}

// coordinates z are those with the free parameters at start + unit root z, root lower triangular.
type coordinates struct {
	start []float64
	root  mat.Matrix
	unit  float64
}

func (c *coordinates) values(v, z []float64) {
	for i := range v {
		v[i] = c.start[i]
		for j := range i + 1 {
			v[i] += float64(c.unit * c.root.At(i, j) * z[j])
		}
	}
}

// slopes sets the derivatives by the coordinates from those by the parameters.
func (c *coordinates) slopes(slope, g []float64) {
	for j := range slope {
		slope[j] = 0
		for i := j; i < len(g); i++ {
			slope[j] += float64(c.unit * c.root.At(i, j) * g[i])
		}
	}
}

// spread is a lower triangular root of the posterior's covariance where the evidence was last evaluated, as the average
// information has it.
func (e *evidence) spread() mat.Matrix {
	a := e.information()
	var c mat.SymDense
	var root mat.Cholesky
	if root.Factorize(a) && root.InverseTo(&c) == nil && root.Factorize(&c) {
		l := new(mat.TriDense)
		root.LTo(l)
		return l
	}
	// It is positive definite by its priors; where the data say so much more of something that rounding hides them, each
	// logarithm has its own.
	l := mat.NewDiagDense(len(e.priors), nil)
	for i := range e.priors {
		l.SetDiag(i, 1/math.Sqrt(a.At(i, i)))
	}
	return l
}
