package fitting

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// How much of the logarithm of the posterior a search may leave, as far as it can tell: one from an earlier fit
// a fifth of a standard deviation of one hyperparameter, since it will be gone on with, another one a hundredth.
const (
	leftWarm = 0.02
	leftCold = 1e-4
)

// left is how much a search of this problem may leave.
func (e *evidence) left() float64 {
	if e.p.Earlier != nil {
		return leftWarm
	}
	return leftCold
}

// climb searches for the most probable values from start, by BFGS in coordinates in which the posterior is nearly
// a standard normal one there: the first step is Newton's, and half the square of the slope is what is left to gain. From
// an earlier fit it takes about three evaluations, of data that have grown by an eighth, from the prior's medians five to
// ten. How it ends is of no interest: the evidence keeps the best point of all searches. Where it comes to a point that
// cannot be evaluated, a search that knows no scales goes on from the start.
func (e *evidence) climb(ctx context.Context, start []float64) {
	slope, z := make([]float64, len(start)), make([]float64, len(start))
	if e.gradient(slope, start); !e.valid {
		return
	}
	c := coordinates{start: start, root: e.spread(), unit: 1}
	c.slopes(z, slope)
	left := e.left()
	if c.unit = floats.Norm(z, 2); c.unit*c.unit/2 < left {
		return
	}
	// A search's first step is of unit length, which is Newton's in this unit, and slopes are by it.
	floats.Scale(-c.unit, z)
	settings := optimize.Settings{
		InitValues:        &optimize.Location{F: -e.value(start), Gradient: z},
		GradientThreshold: c.unit * math.Sqrt(2*left/float64(len(start))),
		MajorIterations:   100,
		FuncEvaluations:   300,
		Converger:         &optimize.FunctionConverge{Absolute: left / 10, Iterations: 1},
	}
	method := &optimize.BFGS{Linesearcher: &optimize.MoreThuente{}, GradStopThreshold: math.NaN()} // settings say when it ends
	if e.minimise(ctx, &c, &settings, method, true) != nil {
		c.root, c.unit = identity(len(start)), 1
		settings = optimize.Settings{GradientThreshold: 1e-3, MajorIterations: 100, FuncEvaluations: 300,
			Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 3}}
		_ = e.minimise(ctx, &c, &settings, &optimize.LBFGS{}, false)
	}
}

// errNoValue ends a search whose steps assume that each point has a value.
var errNoValue = errors.New("gpcore: a point cannot be evaluated")

// minimise searches for the most probable values in coordinates, from their zero. Where all points must have a value,
// the first that has none ends it. An error says that the search stopped where it was.
func (e *evidence) minimise(ctx context.Context, c *coordinates, settings *optimize.Settings, method optimize.Method, all bool) error {
	k, lost := len(c.start), false
	v, g := make([]float64, k), make([]float64, k)
	problem := optimize.Problem{
		Func: func(z []float64) float64 {
			if ctx.Err() != nil {
				return math.Inf(1)
			}
			c.values(v, z)
			f := -e.value(v)
			lost = lost || all && math.IsInf(f, 1)
			return f
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
	_, err := optimize.Minimize(problem, make([]float64, k), settings, method)
	return err
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

func identity(k int) mat.Matrix {
	l := mat.NewDiagDense(k, nil)
	for i := range k {
		l.SetDiag(i, 1)
	}
	return l
}
