package constraint

import (
	"math"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// penalty is what an objective loses where constraints are not kept, for the shortfall
//
//	s(x) = Phi^-1(Probability) - Phi^-1(P(x)),
//
// the standard deviations that a setting is short of the probability asked for, for each
// constraint. The penalty is 1000 s^2 up to a quarter and rises by 10^6 s from there.
// The first part is smooth: an optimum on the edge misses it by |slope of the objective|/2000 in s. A climb
// knows the shortfalls by themselves, and so follows the edge ([search.Limited]). The second
// outweighs any difference of acquisition values (which are of order 1, logarithms of
// order 100), so that where nothing is feasible the setting nearest to it wins.
type penalty struct {
	each      []*expectations.Expected // P of each constraint that has data
	threshold []float64                // Phi^-1(Probability) of each

	p, slope, scales []float64 // scratch
}

// Form of the penalty.
const (
	QuadraticWeight = 1e3
	QuadraticWidth  = 0.25
	linearSlope     = 1e6
)

// ShortfallPenalty is the penalty of a shortfall and its derivative.
func ShortfallPenalty(s float64) (value, slope float64) {
	switch {
	case !(s > 0):
		return 0, 0
	case s <= QuadraticWidth:
		return QuadraticWeight * s * s, 2 * QuadraticWeight * s
	}
	return QuadraticWeight*QuadraticWidth*QuadraticWidth + linearSlope*(s-QuadraticWidth), linearSlope
}

// Limiter makes the objectives of a decision keep its constraints.
type Limiter struct {
	Each      [][]*expectations.Expected // by control set, and of the target behind them
	threshold []float64
	set       *Set
}

// NewLimiter prepares the constraints for all control sets' domains and for the goal; nil
// where none counts yet. It holds until the policy's next call.
func (s *Set) NewLimiter(domains []*space.Domain, goal expectations.Inputs, step int) (*Limiter, error) {
	binding := s.withData()
	if len(binding) == 0 {
		return nil, nil
	}
	memory, n := s.random.Memory, len(domains)+1
	inputs := s.inputs.Take(memory, n)[:0]
	for _, d := range domains {
		inputs = append(inputs, s.random.Inputs(d, step))
	}
	inputs = append(inputs, goal)
	k := s.limiters.Take(memory)
	*k = Limiter{Each: s.bySet.Take(memory, n), threshold: memory.Floats(len(binding))[:0], set: s}
	for set := range k.Each {
		k.Each[set] = s.expected.Take(memory, len(binding))[:0]
	}
	for _, c := range binding {
		p, err := s.cache.Sets(s.expected.Take(memory, n), c.terms(), inputs)
		if err != nil {
			return nil, err
		}
		for set := range p {
			p[set].Prepare()
			k.Each[set] = append(k.Each[set], p[set])
		}
		edge, _ := deviations(c.Probability)
		k.threshold = append(k.threshold, edge)
	}
	return k, nil
}

// Limit limits an objective of a control set.
func (k *Limiter) Limit(o search.Objective, set int) search.Objective {
	if k == nil {
		return o
	}
	memory := k.set.random.Memory
	p := k.set.penalties.Take(memory)
	p.each, p.threshold = k.Each[set], k.threshold
	return k.set.adjusted.Take(memory).Of(o, p)
}

// LimitTarget limits one of the target.
func (k *Limiter) LimitTarget(o search.Objective) search.Objective {
	if k == nil {
		return o
	}
	return k.Limit(o, len(k.Each)-1)
}

// Penalise takes the penalties at listed settings of the target off values.
func (k *Limiter) Penalise(values, list []float64) []float64 {
	if k == nil {
		return values
	}
	memory := k.set.random.Memory
	out, p := memory.Floats(len(values)), memory.Floats(len(values))
	copy(out, values)
	for j, e := range k.Each[len(k.Each)-1] {
		e.Values(p, list)
		for i := range out {
			z, _ := deviations(p[i])
			cost, _ := ShortfallPenalty(k.threshold[j] - z)
			out[i] -= cost
		}
	}
	return out
}

// Shortfall is the greatest shortfall at one setting of a control set, at least 0.
func (k *Limiter) Shortfall(set int, x []float64) float64 {
	s := 0.0
	for j, e := range k.Each[set] {
		var p [1]float64
		e.Values(p[:], x)
		z, _ := deviations(p[0])
		s = max(s, k.threshold[j]-z)
	}
	return s
}

// Restrict leaves of settings, which are listed for each control set, those that keep the
// constraints up to the width of the edge; all of them where none does.
func (k *Limiter) Restrict(settings [][]float64) {
	if k == nil {
		return
	}
	memory := k.set.random.Memory
	kept, some := k.set.settings.Take(memory, len(settings)), false
	for set, x := range settings {
		kept[set] = memory.Floats(len(x))[:0]
		size := k.Each[set][0].Dim()
		for i := 0; i < len(x); i += size {
			if row := x[i : i+size]; k.Shortfall(set, row) <= QuadraticWidth {
				kept[set], some = append(kept[set], row...), true
			}
		}
	}
	if some {
		copy(settings, kept)
	}
}

// ProbablyFeasible says which of points of all coordinates probably keep the constraints, up to
// the width of the edge.
func (s *Set) ProbablyFeasible(x []float64, points int) []bool {
	keeps := s.flags.Take(s.random.Memory, points)
	for k := range keeps {
		keeps[k] = true
	}
	for _, c := range s.withData() {
		edge, _ := deviations(c.Probability)
		for k, p := range c.probabilities(x, points) {
			z, _ := deviations(p)
			keeps[k] = keeps[k] && edge-z <= QuadraticWidth
		}
	}
	return keeps
}

// Candidate is a setting that a search found for a control set; a nil one was not come to.
type Candidate struct {
	Set int
	X   []float64
}

// Choosable says which of settings may be chosen: those that keep the constraints up to the width
// of the edge, and the one nearest to it, which counts where none does.
func (k *Limiter) Choosable(all []Candidate) []bool {
	out := k.set.flags.Take(k.set.random.Memory, len(all))
	short, best, nearest := 0.0, math.Inf(1), -1
	for i, f := range all {
		if f.X == nil {
			continue
		}
		if short = k.Shortfall(f.Set, f.X); short < best {
			nearest, best = i, short
		}
		out[i] = short <= QuadraticWidth
	}
	if nearest >= 0 {
		out[nearest] = true
	}
	return out
}

// LowerScales lowers an objective's scales to those of the constraints.
func (k *penalty) LowerScales(dst []float64) {
	k.scales = num.Resized(k.scales, len(dst))
	for _, e := range k.each {
		if e.Scales(k.scales) {
			for i, v := range k.scales {
				dst[i] = min(dst[i], v)
			}
		}
	}
}

// Cost is that of the constraints' probabilities.
func (k *penalty) Cost() (sum search.Costs) {
	for _, e := range k.each {
		sum = sum.Plus(e.Cost())
	}
	return sum
}

// Surrogate is the kind of a limited objective's surrogate: an upper bound of the
// objective is none of the limited one where the constraints are taken at fewer nodes.
func (k *penalty) Surrogate(inner search.SurrogateKind) search.SurrogateKind {
	if k.each[0].Surrogate() != search.NoSurrogate {
		return search.Approximation
	}
	return inner
}

// Fork implements [space.Adjustment].
func (k *penalty) Fork() space.Adjustment {
	f := &penalty{threshold: k.threshold}
	for _, e := range k.each {
		f.each = append(f.each, e.Fork().(*expectations.Expected))
	}
	return f
}

// Follow makes a fork one of another penalty.
func (k *penalty) Follow(a space.Adjustment) (space.Adjustment, bool) {
	o, ok := a.(*penalty)
	if !ok || len(o.each) != len(k.each) {
		return k, false
	}
	for j, e := range k.each {
		if !e.Follow(o.each[j]) {
			return k, false
		}
	}
	k.threshold = o.threshold
	return k, true
}

// Adjust implements [space.Adjustment].
func (k *penalty) Adjust(dst, grad, x []float64, surrogate bool) {
	k.p = num.Resized(k.p, len(dst))
	for j, e := range k.each {
		k.probability(e, grad != nil, x, surrogate)
		for i, p := range k.p {
			short, byP := k.shortfall(j, p)
			cost, byShort := ShortfallPenalty(short)
			dst[i] -= cost
			if grad != nil {
				k.addSlope(grad, i, e.Dim(), byShort*byP)
			}
		}
	}
}

// shortfall is what a probability of a constraint misses, and how fast it falls with it: with z = Phi^-1(P) the slope of
// the shortfall is -(slope of P)/phi(z).
func (k *penalty) shortfall(constraint int, p float64) (short, byP float64) {
	z, slope := deviations(p)
	return k.threshold[constraint] - z, slope
}

// addSlope adds the slope of a probability at point i to a gradient there.
func (k *penalty) addSlope(grad []float64, i, d int, factor float64) {
	if factor == 0 {
		return
	}
	for q := i * d; q < (i+1)*d; q++ {
		grad[q] += factor * k.slope[q]
	}
}

// Limits is how many constraints there are: a climb follows the edge where they are just kept.
func (k *penalty) Limits() int { return len(k.each) }

// Weight implements [search.Limited].
func (k *penalty) Weight() float64 { return QuadraticWeight }

// AdjustLimited is Adjust, and says of each constraint by how much it is missed.
func (k *penalty) AdjustLimited(dst, grad []float64, to search.Limits, x []float64, surrogate bool) {
	k.p = num.Resized(k.p, len(dst))
	clear(to.Slope)
	for j, e := range k.each {
		k.probability(e, true, x, surrogate)
		for i, p := range k.p {
			short, byP := k.shortfall(j, p)
			cost, byShort := ShortfallPenalty(short)
			dst[i] -= cost
			k.addSlope(grad, i, e.Dim(), byShort*byP)
			at := i*len(k.each) + j
			to.Short[at], to.Rate[at] = short, byShort
			d := e.Dim()
			for q := range d {
				to.Slope[at*d+q] = -byP * k.slope[i*d+q]
			}
		}
	}
}

// watchedPenalty is a penalty at fixed points.
type watchedPenalty struct{ each []search.Watched }

// Watch begins to watch the probabilities at points; nil where one cannot be.
func (k *penalty) Watch(w search.Watching, before space.WatchedAdjustment) space.WatchedAdjustment {
	out, ok := before.(*watchedPenalty)
	if !ok {
		out = &watchedPenalty{}
	}
	for j, e := range k.each {
		if j == len(out.each) { // one that counts for the first time
			out.each = append(out.each, nil)
		}
		w.Before = out.each[j]
		of := e.Watch(w)
		if of == nil {
			return nil
		}
		w.Processes -= of.Processes()
		out.each[j] = of
	}
	out.each = out.each[:len(k.each)] // readings may be struck, and a constraint counts no more
	return out
}

// Processes implements [space.WatchedAdjustment].
func (w *watchedPenalty) Processes() int {
	n := 0
	for _, of := range w.each {
		n += of.Processes()
	}
	return n
}

// Sync implements [space.WatchedAdjustment].
func (w *watchedPenalty) Sync() {
	for _, of := range w.each {
		of.Sync()
	}
}

// Adjust implements [space.WatchedAdjustment].
func (w *watchedPenalty) Adjust(dst []float64, fork space.Adjustment, from, to int) {
	k := fork.(*penalty)
	k.p = num.Resized(k.p, len(dst))
	for j, of := range w.each {
		of.Values(k.p, k.each[j], from, to)
		for i, p := range k.p {
			z, _ := deviations(p)
			cost, _ := ShortfallPenalty(k.threshold[j] - z)
			dst[i] -= cost
		}
	}
}

// probability sets p and, where asked for, slope to P and its gradients at the rows of x.
func (k *penalty) probability(e *expectations.Expected, slopes bool, x []float64, surrogate bool) {
	if slopes {
		k.slope = num.Resized(k.slope, len(x))
	}
	switch {
	case slopes && surrogate:
		e.SurrogateGradients(k.p, k.slope, x)
	case slopes:
		e.Gradients(k.p, k.slope, x)
	case surrogate:
		e.SurrogateValues(k.p, x)
	default:
		e.Values(k.p, x)
	}
}
