package expectations

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// Expected is the expectation of a sum of terms over the random coordinates R, as a
// function of the controlled ones c:
//
//	a(c) = E_R[ sum over terms of t(mu(c, R), sigma(c, R)) ].
//
// With one term {g, 1, beta} it is the acquisition of UCB-CVS (Tay et al., NeurIPS
// 2023, Algorithm 1), without random coordinates that of GP-UCB; with a second process
// for the noise that of RAHBO (Makarova et al., NeurIPS 2021, eq. 8).
//
// E[mu] has a closed form where the kernel is a [kernels.SquaredExponential] and Inputs.Random
// is given; everything else is a sum over nodes. Then E[mu] costs O(n) and the rest
// O(n^2) a node, 24 nodes at a time.
//
// An Expected is an [Objective]. It is not safe for concurrent use; see Fork. Prepare
// must be called once after each change of a process, before anything else.
type Expected struct {
	*controlSet
	s *scratch
}

// NewSets makes the objectives of several control sets of one criterion, which
// share what they have in common. Processes must agree in their number of coordinates.
// It returns an error for terms or inputs that do not fit.
func NewSets(terms []Term, sets []Inputs) ([]*Expected, error) {
	if err := checkSets(terms, sets); err != nil {
		return nil, err
	}
	share, scratch := shareTerms(terms), newScratch(terms)
	out := make([]*Expected, len(sets))
	for i, in := range sets {
		s, err := newControlSet(terms, share, in)
		if err != nil {
			return nil, fmt.Errorf("control set %d: %w", i, err)
		}
		if !s.hasNodes() {
			s.chooseNodes()
		}
		out[i] = &Expected{s, scratch}
	}
	return out, nil
}

// checkSets finds terms and control sets of which no expectation can be made.
func checkSets(terms []Term, sets []Inputs) error {
	if len(terms) == 0 || len(sets) == 0 {
		return errors.New("gpcore: an expectation needs at least one term and one control set")
	}
	for i, t := range terms {
		if t.Process == nil || t.Process.Dim() != terms[0].Process.Dim() {
			return fmt.Errorf("gpcore: term %d needs a process with as many coordinates as the others", i)
		}
		if t.linear() && (!check.IsFinite(t.Mean) || !check.IsFinite(t.SD)) {
			return fmt.Errorf("gpcore: term %d has coefficients %g and %g, which must be finite", i, t.Mean, t.SD)
		}
	}
	return nil
}

// SetTerms gives e and its forks other terms of the same processes, in the same order: other
// coefficients, or another function. It changes nothing and reports false where processes
// differ, an offset is or was there, or a coefficient is not finite.
func (e *Expected) SetTerms(terms []Term) bool {
	if len(terms) != len(e.terms) {
		return false
	}
	for i := range terms {
		t, was := &terms[i], &e.terms[i]
		if t.Process != was.Process || t.Offset != nil || was.Offset != nil || t.linear() && (!check.IsFinite(t.Mean) || !check.IsFinite(t.SD)) {
			return false
		}
	}
	copy(e.terms, terms)
	return true
}

// New is [NewSets] for one control set.
func New(terms []Term, in Inputs) (*Expected, error) {
	e, err := NewSets(terms, []Inputs{in})
	if err != nil {
		return nil, err
	}
	return e[0], nil
}

// Dim is the number of controlled coordinates.
func (e *Expected) Dim() int { return len(e.in.Controlled) }

// NodeCount is the number of nodes that stand for the random coordinates.
func (e *Expected) NodeCount() int { return len(e.nodes.Weight) }

// Cost implements [search.Costed]: half the square of the number of observations for each process and node, of the bound
// for each process, and what the terms' functions take.
func (e *Expected) Cost() search.Costs {
	squares, functions := 0.0, 0.0
	for i := range e.terms {
		n := float64(e.terms[i].Process.Len())
		squares += n * n / 2
		functions += e.terms[i].OfCost
		if f := e.terms[i].Further; f != nil {
			squares += n * float64(f.count)
		}
	}
	each, nodes, coarse := squares+functions, float64(len(e.nodes.Weight)), float64(len(e.coarse.Weight))
	if e.boundable() {
		coarse = 1
	}
	return search.Costs{Value: each * nodes, Surrogate: each * coarse, Gradient: (2*squares + functions) * nodes}
}

// Rules are the nodes of Values and the fewer ones that stand in for them while a search
// screens, for functions that no Term expresses. They alias memory: read only, valid
// until the next Prepare.
func (e *Expected) Rules() (full, coarse quadrature.Nodes) { return e.nodes, e.coarse }

// Fork is the same function with its own scratch. Forks share what Prepare makes,
// so only one of them needs preparing; meanwhile no other may be used.
func (e *Expected) Fork() search.Objective { return &Expected{e.controlSet, e.spare.take(e.terms)} }

// Follow makes a fork one of another expectation of the same processes.
func (e *Expected) Follow(other search.Objective) bool {
	o, ok := other.(*Expected)
	if !ok || !slices.EqualFunc(e.terms, o.terms, func(a, b Term) bool { return a.Process == b.Process }) {
		return false
	}
	e.controlSet = o.controlSet
	return true
}

// ForkSharing is Fork with the scratch of other, a fork of an expectation of the same terms
// from one call of NewSets: the two must not be used at once. Nil where other is
// no such expectation.
func (e *Expected) ForkSharing(other search.Objective) search.Objective {
	o, ok := other.(*Expected)
	if !ok || o.shared[0] != e.shared[0] {
		return nil
	}
	return &Expected{e.controlSet, o.s}
}

// Prepare takes up the processes as they are. Closed-form factors are recomputed only
// for points that are new; the Jensen bound takes O(n^3) multiplications once for all
// control sets of a process, and O(n^2) a node for each.
func (e *Expected) Prepare() {
	e.PrepareGroup()
	e.PrepareOwn()
}

// PrepareGroup is the part of Prepare that control sets have in common: cheap where one of
// them has done it since the last change.
func (e *Expected) PrepareGroup() {
	if !e.hasNodes() {
		e.chooseNodes()
	}
	for _, t := range e.shared {
		t.sync()
		if e.boundable() {
			t.invert()
		}
	}
}

// PrepareOwn is the part of Prepare of this control set alone.
func (e *Expected) PrepareOwn() {
	for i, f := range e.separables {
		f.prepare(e.controlSet, i)
		if e.boundable() {
			f.prepareBound(e.controlSet, i)
		}
	}
}

// Values sets dst[j] to a at row j of x, which is len(dst) x Dim, row-major.
func (e *Expected) Values(dst, x []float64) { e.evaluate(&e.nodes, dst, nil, x) }

// Gradients is Values that also sets the rows of grad to the gradients. Where a
// standard deviation vanishes, its gradient is taken as if the variance were 1e-12 of
// the kernel's.
func (e *Expected) Gradients(dst, grad, x []float64) { e.evaluate(&e.nodes, dst, grad, x) }

// Scales sets dst to the lengthscales of the controlled coordinates, the least where
// processes differ; false where a kernel has none.
func (e *Expected) Scales(dst []float64) bool {
	for i := range e.terms {
		l, ok := kernels.Lengthscales(e.terms[i].Process.Kernel())
		if !ok {
			return false
		}
		for j, c := range e.in.Controlled {
			if i == 0 || l[c] < dst[j] {
				dst[j] = l[c]
			}
		}
	}
	return true
}

// minVariance keeps the slope of a standard deviation finite, relative to k(x, x).
const minVariance = 1e-12

func deviation(variance, prior float64) float64 {
	return math.Sqrt(max(variance, minVariance*prior))
}

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

// linear reports whether the term is Mean*mu + SD*sigma.
func (t *Term) linear() bool { return t.Of == nil && t.Further == nil }

// Term is one summand of a criterion: a function of the posterior mean and standard
// deviation of one process at a point. It is Mean*mu + SD*sigma, or, where Of is not
// nil, what Of returns beside its derivatives by mu and sigma; Of must be safe for
// concurrent use.
type Term struct {
	Process  *gpcore.GP
	Mean, SD float64
	Of       func(mu, sigma float64) (value, byMu, bySigma float64)
	// OfCost is about how many multiply-adds Of takes, where they are many (see [Expected.Cost]).
	OfCost float64
	// Values, where not nil, sets dst to the values of Of for many points at once: for points that are watched
	// (see [Expected.Watch]), where nothing else of Of is asked. It must be safe for concurrent use.
	Values func(dst, mu, sigma []float64)
	// Offset, where not nil, is added to mu: the process's prior mean, as a function of all
	// coordinates of a point. Where grad is not nil it also sets that to its derivatives.
	// It must be safe for concurrent use.
	Offset func(grad, x []float64) float64
	// Further, where not nil, is added to Of or, where that is nil, stands alone.
	Further *Further
}
