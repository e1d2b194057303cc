package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// subset is a kernel of some of the coordinates.
type subset struct {
	part   Kernel
	d      int
	coords []int
	run    bool // coords are consecutive
}

// On is the kernel k of the coordinates coords of points with d coordinates; the
// others do not matter to it. It panics unless k has len(coords) coordinates and
// all of them are distinct and in 0..d-1.
func On(k Kernel, d int, coords ...int) Kernel {
	if k.Dim() != len(coords) {
		panic("gpcore: On needs one coordinate for each that the kernel has")
	}
	seen := make([]bool, max(d, 0))
	for _, c := range coords {
		if c < 0 || c >= d || seen[c] {
			panic("gpcore: the coordinates of On must be distinct and within the point")
		}
		seen[c] = true
	}
	s := &subset{k, d, append([]int(nil), coords...), true}
	for i, c := range coords {
		s.run = s.run && c == coords[0]+i
	}
	return s
}

// Drift is the kernel exp(-|t-t'|/timescale) of time alone (one coordinate, in the
// unit of timescale): the function is forgotten exponentially, as an
// Ornstein-Uhlenbeck process. It has no variance of its own.
func Drift(timescale float64) Kernel {
	mustBePositive(timescale)
	return &drift{newStationary(exponential, 1, []float64{timescale}, 0)}
}

// Drifting is k on the first coordinates times [Drift] on the last, which is time:
// points have k.Dim()+1 coordinates.
func Drifting(k Kernel, timescale float64) Kernel {
	d := k.Dim()
	space := make([]int, d)
	for i := range space {
		space[i] = i
	}
	return Product(On(k, d+1, space...), On(Drift(timescale), d+1, d))
}

func (k *drift) Compile(b *panels.Builder) panels.Evaluator {
	return &driftEvaluator{k.stationary.Compile(b)}
}

// driftEvaluator evaluates a drift: an exponential without the variance among its
// hyperparameters.
type driftEvaluator struct{ panels.Evaluator }

func (e *driftEvaluator) HyperGradient(p *panels.Panel, w, g []float64) {
	var both [2]float64
	e.Evaluator.HyperGradient(p, w, both[:])
	g[0] += both[1]
}

func (e *driftEvaluator) SampleFeature(w *panels.Feature, rng *rand.Rand, stratum int) int {
	return panels.SampleFeature(e.Evaluator, w, rng, stratum)
}

// drift is a one-dimensional exponential whose only hyperparameter is its
// timescale.
type drift struct{ *stationary }

func (k *drift) NumParams() int { return 1 }

func (k *drift) Params(dst []float64) []float64 { return append(dst, math.Log(k.lengthscale[0])) }

func (k *drift) Kinds(dst []ParamKind) []ParamKind { return append(dst, Timescale) }

func (k *drift) WithParams(logs []float64) Kernel {
	mustCount(logs, 1)
	return Drift(vec.Exp(logs[0]))
}

func (k *drift) ParamGradient(dst, x, y []float64) {
	var both [2]float64
	k.stationary.ParamGradient(both[:], x, y)
	dst[0] = both[1]
}

func (k *subset) Dim() int                          { return k.d }
func (k *subset) NumParams() int                    { return k.part.NumParams() }
func (k *subset) Params(dst []float64) []float64    { return k.part.Params(dst) }
func (k *subset) Kinds(dst []ParamKind) []ParamKind { return k.part.Kinds(dst) }

func (k *subset) WithParams(logs []float64) Kernel {
	return &subset{k.part.WithParams(logs), k.d, k.coords, k.run}
}

// pick returns the coordinates of x: a part of x where they are consecutive, else
// gathered into dst, or into new memory where dst is nil.
func (k *subset) pick(dst, x []float64) []float64 {
	if k.run {
		return x[k.coords[0] : k.coords[0]+len(k.coords)]
	}
	for _, c := range k.coords {
		dst = append(dst, x[c])
	}
	return dst
}

func (k *subset) Cov(x, y []float64) float64   { return k.part.Cov(k.pick(nil, x), k.pick(nil, y)) }
func (k *subset) Variance(x []float64) float64 { return k.part.Variance(k.pick(nil, x)) }

func (k *subset) Gradient(dst, x, y []float64) {
	g := make([]float64, len(k.coords))
	k.part.Gradient(g, k.pick(nil, x), k.pick(nil, y))
	clear(dst[:k.d])
	for i, c := range k.coords {
		dst[c] = g[i]
	}
}

func (k *subset) ParamGradient(dst, x, y []float64) {
	k.part.ParamGradient(dst, k.pick(nil, x), k.pick(nil, y))
}

// subsetEvaluator evaluates a subset.
type subsetEvaluator struct {
	panels.Evaluator
	k    *subset
	x    []float64
	part []float64 // derivatives by the subset's coordinates, d x 24
}

func (k *subset) Compile(b *panels.Builder) panels.Evaluator {
	return &subsetEvaluator{b.Child(k.part), k, make([]float64, 0, len(k.coords)), make([]float64, len(k.coords)*vec.Lanes)}
}

func (e *subsetEvaluator) Embed(dst, x []float64) {
	e.Evaluator.Embed(dst, e.k.pick(e.x[:0], x))
}

func (e *subsetEvaluator) Pullback(dst, g, lane []float64) {
	clear(e.part)
	e.Evaluator.Pullback(e.part, g, lane)
	for i, c := range e.k.coords {
		for j, v := range e.part[i*vec.Lanes : (i+1)*vec.Lanes] {
			dst[c*vec.Lanes+j] += v
		}
	}
}
