package space

import (
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
)

// Adjustment changes the values of an objective: a penalty, a risk, a transformation.
type Adjustment interface {
	// Adjust changes the values of an objective and, where grad is not nil, its gradients
	// at the rows of x; surrogate says that they are those of its surrogate.
	Adjust(dst, grad, x []float64, surrogate bool)
	// Fork is the same adjustment for another goroutine.
	Fork() Adjustment
}

// surrogateAdjustment is an [Adjustment] that costs less beside a surrogate, and says
// what becomes of the surrogate's kind.
type surrogateAdjustment interface {
	Surrogate(inner search.SurrogateKind) search.SurrogateKind
}

// scaledAdjustment is an [Adjustment] that varies over distances: it lowers an
// objective's scales to its own.
type scaledAdjustment interface{ LowerScales(dst []float64) }

// limitingAdjustment is an [Adjustment] that is a penalty for missed limits, and says of each how it is missed.
type limitingAdjustment interface {
	// Limits is how many there are, and Weight that of the penalty near the edge of each.
	Limits() int
	Weight() float64
	// AdjustLimited is Adjust with gradients, and sets to as [search.Limited] does.
	AdjustLimited(dst, grad []float64, to search.Limits, x []float64, surrogate bool)
}

// adjusted is an objective with an adjustment.
type adjusted struct {
	search.Objective
	adjustment Adjustment
}

// adjustedGradient is one with gradients.
type adjustedGradient struct {
	adjusted
	d search.Differentiable
}

// adjustedSurrogate is one with a surrogate.
type adjustedSurrogate struct {
	adjustedGradient
	s search.Surrogated // nil: only the adjustment has one
}

// Adjust gives an objective an adjustment. What the objective can, the result can as well.
func Adjust(o search.Objective, a Adjustment) search.Objective { return new(Adjusted).Of(o, a) }

// Adjusted is the memory of an objective with an adjustment.
type Adjusted struct{ all adjustedSurrogate }

// Of is [Adjust] in m, whose objective of before counts no more.
func (m *Adjusted) Of(o search.Objective, a Adjustment) search.Objective {
	m.all = adjustedSurrogate{adjustedGradient: adjustedGradient{adjusted: adjusted{o, a}}}
	d, ok := o.(search.Differentiable)
	if !ok {
		return &m.all.adjusted
	}
	m.all.d = d
	s, ok := o.(search.Surrogated)
	if _, own := a.(surrogateAdjustment); !ok && !own {
		return &m.all.adjustedGradient
	}
	m.all.s = s
	return &m.all
}

// followingAdjustment is an [Adjustment] that can become a fork of another one, with the scratch that it has:
// ok is false where it cannot.
type followingAdjustment interface {
	Follow(a Adjustment) (followed Adjustment, ok bool)
}

// follow makes a fork one of another adjusted objective.
func (p *adjusted) follow(o *adjusted) bool {
	f, ok := p.Objective.(search.Follower)
	a, can := p.adjustment.(followingAdjustment)
	if !ok || !can || !f.Follow(o.Objective) {
		return false
	}
	p.adjustment, ok = a.Follow(o.adjustment)
	return ok
}

// Follow implements [search.Follower].
func (p *adjusted) Follow(o search.Objective) bool {
	q, ok := o.(*adjusted)
	return ok && p.follow(q)
}

// Follow implements [search.Follower].
func (p *adjustedGradient) Follow(o search.Objective) bool {
	q, ok := o.(*adjustedGradient)
	return ok && p.follow(&q.adjusted)
}

// Follow implements [search.Follower].
func (p *adjustedSurrogate) Follow(o search.Objective) bool {
	q, ok := o.(*adjustedSurrogate)
	return ok && p.follow(&q.adjusted)
}

// watchableAdjustment is an [Adjustment] that can keep what it knows of fixed points from search to search.
type watchableAdjustment interface {
	// Watch begins to watch points, as [search.Watchable] does, after what before knows; nil where it cannot.
	Watch(w search.Watching, before WatchedAdjustment) WatchedAdjustment
}

// WatchedAdjustment is an adjustment at fixed points, as [search.Watched] is an objective.
type WatchedAdjustment interface {
	Processes() int
	Sync()
	// Adjust changes values of the points from..to-1, with the scratch of a fork.
	Adjust(dst []float64, fork Adjustment, from, to int)
}

// watchedAdjusted is a watched objective with a watched adjustment.
type watchedAdjusted struct {
	objective  search.Watched
	adjustment WatchedAdjustment
}

// Watch implements [search.Watchable], where objective and adjustment can be watched; the adjustment with less memory.
func (p *adjusted) Watch(w search.Watching) search.Watched {
	o, ok := p.Objective.(search.Watchable)
	a, can := p.adjustment.(watchableAdjustment)
	if !ok || !can {
		return nil
	}
	out, ok := w.Before.(*watchedAdjusted)
	if !ok {
		out = &watchedAdjusted{}
	}
	of := w
	of.Before = out.objective
	objective := o.Watch(of)
	if objective == nil {
		return nil
	}
	of.Before, of.Lean, of.Processes = nil, true, w.Processes-objective.Processes()
	adjustment := a.Watch(of, out.adjustment)
	if adjustment == nil {
		return nil
	}
	out.objective, out.adjustment = objective, adjustment
	return out
}

// Processes implements [search.Watched].
func (w *watchedAdjusted) Processes() int { return w.objective.Processes() + w.adjustment.Processes() }

// Sync implements [search.Watched].
func (w *watchedAdjusted) Sync() {
	w.objective.Sync()
	w.adjustment.Sync()
}

// Values implements [search.Watched].
func (w *watchedAdjusted) Values(dst []float64, fork search.Objective, from, to int) {
	f := fork.(interface{ parts() *adjusted }).parts()
	w.objective.Values(dst, f.Objective, from, to)
	w.adjustment.Adjust(dst, f.adjustment, from, to)
}

// parts are those of any adjusted objective.
func (p *adjusted) parts() *adjusted { return p }

// Core is an objective without its adjustments.
func Core(o search.Objective) search.Objective {
	for {
		p, ok := o.(interface{ parts() *adjusted })
		if !ok {
			return o
		}
		o = p.parts().Objective
	}
}

// Values implements [search.Objective].
func (p *adjusted) Values(dst, x []float64) {
	p.Objective.Values(dst, x)
	p.adjustment.Adjust(dst, nil, x, false)
}

// Fork implements [search.Objective].
func (p *adjusted) Fork() search.Objective { return Adjust(p.Objective.Fork(), p.adjustment.Fork()) }

// Prepare implements [search.Preparer].
func (p *adjusted) Prepare() {
	if q, ok := p.Objective.(search.Preparer); ok {
		q.Prepare()
	}
}

// Scales implements [search.Scaled].
func (p *adjusted) Scales(dst []float64) bool {
	s, ok := p.Objective.(search.Scaled)
	if !ok || !s.Scales(dst) {
		return false
	}
	if a, ok := p.adjustment.(scaledAdjustment); ok {
		a.LowerScales(dst)
	}
	return true
}

// Cost implements [search.Costed].
func (p *adjusted) Cost() (sum search.Costs) {
	for _, part := range []any{p.Objective, p.adjustment} {
		if c, ok := part.(search.Costed); ok {
			sum = sum.Plus(c.Cost())
		}
	}
	return sum
}

// Gradients implements [search.Differentiable].
func (p *adjustedGradient) Gradients(dst, grad, x []float64) {
	p.d.Gradients(dst, grad, x)
	p.adjustment.Adjust(dst, grad, x, false)
}

// Limits implements [search.Limited]: those of the adjustment, else those of the objective.
func (p *adjustedGradient) Limits() int {
	if a, ok := p.adjustment.(limitingAdjustment); ok {
		return a.Limits()
	}
	if l, ok := p.Objective.(search.Limited); ok {
		return l.Limits()
	}
	return 0
}

// Weight implements [search.Limited].
func (p *adjustedGradient) Weight() float64 {
	if a, ok := p.adjustment.(limitingAdjustment); ok {
		return a.Weight()
	}
	if l, ok := p.Objective.(search.Limited); ok {
		return l.Weight()
	}
	return 0
}

// LimitedGradients implements [search.Limited].
func (p *adjustedGradient) LimitedGradients(dst, grad []float64, to search.Limits, x []float64, _ bool) {
	if a, ok := p.adjustment.(limitingAdjustment); ok {
		p.d.Gradients(dst, grad, x)
		a.AdjustLimited(dst, grad, to, x, false)
		return
	}
	p.Objective.(search.Limited).LimitedGradients(dst, grad, to, x, false)
	p.adjustment.Adjust(dst, grad, x, false)
}

// Surrogate implements [search.Surrogated].
func (p *adjustedSurrogate) Surrogate() search.SurrogateKind {
	kind := search.NoSurrogate
	if p.s != nil {
		kind = p.s.Surrogate()
	}
	if a, ok := p.adjustment.(surrogateAdjustment); ok {
		return a.Surrogate(kind)
	}
	return kind
}

// inner reports whether the objective's own surrogate is evaluated.
func (p *adjustedSurrogate) inner() bool {
	_, own := p.adjustment.(surrogateAdjustment)
	return p.s != nil && !(own && p.s.Surrogate() == search.NoSurrogate)
}

// SurrogateValues implements [search.Surrogated].
func (p *adjustedSurrogate) SurrogateValues(dst, x []float64) {
	if p.inner() {
		p.s.SurrogateValues(dst, x)
	} else {
		p.Objective.Values(dst, x)
	}
	p.adjustment.Adjust(dst, nil, x, true)
}

// SurrogateGradients implements [search.Surrogated].
func (p *adjustedSurrogate) SurrogateGradients(dst, grad, x []float64) {
	p.innerGradients(dst, grad, x, true)
	p.adjustment.Adjust(dst, grad, x, true)
}

// innerGradients are those of the objective, or of its surrogate where it is evaluated.
func (p *adjustedSurrogate) innerGradients(dst, grad, x []float64, surrogate bool) {
	if surrogate && p.inner() {
		p.s.SurrogateGradients(dst, grad, x)
	} else {
		p.d.Gradients(dst, grad, x)
	}
}

// LimitedGradients implements [search.Limited].
func (p *adjustedSurrogate) LimitedGradients(dst, grad []float64, to search.Limits, x []float64, surrogate bool) {
	if a, ok := p.adjustment.(limitingAdjustment); ok {
		p.innerGradients(dst, grad, x, surrogate)
		a.AdjustLimited(dst, grad, to, x, surrogate)
		return
	}
	p.Objective.(search.Limited).LimitedGradients(dst, grad, to, x, surrogate && p.inner())
	p.adjustment.Adjust(dst, grad, x, surrogate)
}

// Subtrahend is a function that is taken off an objective and its surrogate alike, so
// that an upper bound stays one. Both functions must be safe for concurrent use.
type Subtrahend struct {
	Value func(x []float64) float64
	// Slope adds factor times the gradient to grad; nil for a penalty, which is no part of
	// the gradients.
	Slope func(grad, x []float64, factor float64)
}

// Adjust implements [Adjustment].
func (f Subtrahend) Adjust(dst, grad, x []float64, _ bool) {
	if len(dst) == 0 {
		return
	}
	size := len(x) / len(dst)
	for j := range dst {
		at := x[j*size : (j+1)*size]
		dst[j] -= f.Value(at)
		if grad != nil && f.Slope != nil {
			f.Slope(grad[j*size:(j+1)*size], at, -1)
		}
	}
}

// watchedSubtrahend are the points of a function that costs too little to be kept.
type watchedSubtrahend struct {
	x    []float64
	size int
}

// Watch keeps the points alone.
func (f Subtrahend) Watch(w search.Watching, before WatchedAdjustment) WatchedAdjustment {
	out, ok := before.(*watchedSubtrahend)
	if !ok {
		out = &watchedSubtrahend{}
	}
	out.x, out.size = w.X, w.Dim
	return out
}

// Processes implements [WatchedAdjustment].
func (*watchedSubtrahend) Processes() int { return 0 }

// Sync implements [WatchedAdjustment].
func (*watchedSubtrahend) Sync() {}

// Adjust implements [WatchedAdjustment].
func (w *watchedSubtrahend) Adjust(dst []float64, fork Adjustment, from, to int) {
	fork.Adjust(dst, nil, w.x[from*w.size:to*w.size], false)
}

// Fork implements [Adjustment].
func (f Subtrahend) Fork() Adjustment { return f }

// Follow makes a fork one of another function.
func (f Subtrahend) Follow(a Adjustment) (Adjustment, bool) {
	_, ok := a.(Subtrahend)
	return a, ok
}

// WithPenalty subtracts a penalty, which must be safe for concurrent use.
func WithPenalty(o search.Objective, penalty func(x []float64) float64) search.Objective {
	return Adjust(o, Subtrahend{Value: penalty})
}

// Expectation sets dst to E[terms] at settings x, by what is in the cache where it may; nil: none.
func Expectation(c *expectations.Cache, dst []float64, terms []expectations.Term, in expectations.Inputs, x []float64) error {
	if in.Random == nil && in.Nodes == nil { // nothing is random: points, and no memory for nodes
		c.At(dst, terms, x)
		return nil
	}
	return c.Values(dst, terms, in, x)
}
