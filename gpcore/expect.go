package gpcore

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Inputs splits the coordinates of a point into those that a step sets and those that
// are left to chance.
type Inputs struct {
	// Controlled are the coordinates that are set, ascending.
	Controlled []int
	// Random are the distributions of the other coordinates, in ascending order of
	// coordinate, independent of each other. Nil where Nodes is set, or where every
	// coordinate is controlled.
	Random []Marginal
	// Nodes is the joint distribution of the other coordinates where they are not
	// independent: readings, say. Nil where Random is set.
	Nodes *Nodes
	// Seed scrambles the Sobol points that stand for four or more random
	// coordinates. Control sets with the same seed share them.
	Seed uint64
}

// Term is one summand of a criterion: a function of the posterior mean and standard
// deviation of one process at a point. It is Mean*mu + SD*sigma, or, where Of is not
// nil, what Of returns beside its derivatives by mu and sigma; Of must be safe for
// concurrent use.
type Term struct {
	Process  *GP
	Mean, SD float64
	Of       func(mu, sigma float64) (value, byMu, bySigma float64)
	// Offset, where not nil, is added to mu: the process's prior mean, as a function of all
	// coordinates of a point. Where grad is not nil it also sets that to its derivatives.
	// It must be safe for concurrent use.
	Offset func(grad, x []float64) float64
}

// Expected is the expectation of a sum of terms over the random coordinates R, as a
// function of the controlled ones c:
//
//	a(c) = E_R[ sum over terms of t(mu(c, R), sigma(c, R)) ].
//
// With one term {g, 1, beta} it is the acquisition of UCB-CVS (Tay et al., NeurIPS
// 2023, Algorithm 1), without random coordinates that of GP-UCB; with a second process
// for the noise that of RAHBO (Makarova et al., NeurIPS 2021, eq. 8).
//
// E[mu] has a closed form where the kernel is a [SquaredExponential] and Inputs.Random
// is given; everything else is a sum over nodes. Then E[mu] costs O(n) and the rest
// O(n^2) a node, 24 nodes at a time.
//
// An Expected is an [Objective]. It is not safe for concurrent use; see Fork. Prepare
// must be called once after each change of a process, before anything else.
type Expected struct {
	*controlSet
	s *expectScratch
}

// controlSet is what all forks of an Expected share.
type controlSet struct {
	terms  []Term
	share  []*sharedTerm // one per term, shared between control sets
	forms  []*separable  // this control set's view of each term
	in     Inputs
	random []int // coordinates
	d      int
	nodes  Nodes
	coarse Nodes
	chosen uint64 // version of the first process's kernel that the nodes suit
}

// NewExpectations makes the objectives of several control sets of one criterion, which
// share what they have in common. Processes must agree in their number of coordinates.
// It returns an error for terms or inputs that do not fit.
func NewExpectations(terms []Term, sets []Inputs) ([]*Expected, error) {
	if len(terms) == 0 || len(sets) == 0 {
		return nil, errors.New("gpcore: an expectation needs at least one term and one control set")
	}
	var share []*sharedTerm
	for i, t := range terms {
		if t.Process == nil || t.Process.Dim() != terms[0].Process.Dim() {
			return nil, fmt.Errorf("gpcore: term %d needs a process with as many coordinates as the others", i)
		}
		if t.Of == nil && (!check.IsFinite(t.Mean) || !check.IsFinite(t.SD)) {
			return nil, fmt.Errorf("gpcore: term %d has coefficients %g and %g, which must be finite", i, t.Mean, t.SD)
		}
		share = append(share, &sharedTerm{m: t.Process.m})
	}
	scratch := newExpectScratch(terms)
	out := make([]*Expected, len(sets))
	for i, in := range sets {
		s, err := newControlSet(terms, share, in)
		if err != nil {
			return nil, fmt.Errorf("control set %d: %w", i, err)
		}
		out[i] = &Expected{s, scratch}
	}
	return out, nil
}

// NewExpected is NewExpectations for one control set.
func NewExpected(terms []Term, in Inputs) (*Expected, error) {
	e, err := NewExpectations(terms, []Inputs{in})
	if err != nil {
		return nil, err
	}
	return e[0], nil
}

func newControlSet(terms []Term, share []*sharedTerm, in Inputs) (*controlSet, error) {
	s := &controlSet{terms: slices.Clone(terms), share: share, in: in, d: terms[0].Process.Dim()}
	s.in.Controlled, s.in.Random = slices.Clone(in.Controlled), slices.Clone(in.Random)
	if err := s.split(); err != nil {
		return nil, err
	}
	if in.Nodes != nil {
		n, err := in.Nodes.checked(len(s.random))
		if err != nil {
			return nil, err
		}
		s.nodes, s.coarse = n, n.thinned(len(s.random))
	} else {
		s.choose()
	}
	for i := range terms {
		s.forms = append(s.forms, &separable{})
		for j, m := range s.in.Random {
			share[i].want(s.random[j], m)
		}
	}
	return s, nil
}

// split checks the inputs and lists the random coordinates.
func (s *controlSet) split() error {
	at := -1
	for _, i := range s.in.Controlled {
		if i <= at || i >= s.d {
			return fmt.Errorf("gpcore: controlled coordinates must be ascending and below %d", s.d)
		}
		at = i
	}
	for i := range s.d {
		if !slices.Contains(s.in.Controlled, i) {
			s.random = append(s.random, i)
		}
	}
	switch {
	case len(s.in.Controlled) == 0:
		return errors.New("gpcore: a control set needs at least one controlled coordinate")
	case s.in.Nodes != nil && s.in.Random != nil:
		return errors.New("gpcore: random coordinates have either marginals or nodes, not both")
	case s.in.Nodes == nil && len(s.in.Random) != len(s.random):
		return fmt.Errorf("gpcore: %d random coordinates need as many distributions, not %d", len(s.random), len(s.in.Random))
	}
	for _, m := range s.in.Random {
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

// choose takes the rule for the random coordinates that suits the kernel.
func (s *controlSet) choose() {
	s.chosen = s.terms[0].Process.m.Version
	if len(s.random) == 0 {
		s.nodes = Nodes{Weight: []float64{1}}
		s.coarse = s.nodes
		return
	}
	scale := s.lengthscales()
	s.nodes = quadrature(s.in.Random, scale, s.in.Seed)
	s.coarse = coarseRule.nodes(s.in.Random, scale, s.in.Seed)
}

// lengthscales of the random coordinates in the first process, ones where its kernel
// has none of its own.
func (s *controlSet) lengthscales() []float64 {
	out := vec.Constant(len(s.random), 1)
	if l, ok := kernels.Lengthscales(s.terms[0].Process.Kernel()); ok {
		for j, i := range s.random {
			out[j] = l[i]
		}
	}
	return out
}

// Dim is the number of controlled coordinates.
func (e *Expected) Dim() int { return len(e.in.Controlled) }

// NodeCount is the number of nodes that stand for the random coordinates.
func (e *Expected) NodeCount() int { return len(e.nodes.Weight) }

// Rules are the nodes of Values and the fewer ones that stand in for them while a search
// screens, for functions that no Term expresses. They alias memory: read only, valid
// until the next Prepare.
func (e *Expected) Rules() (full, coarse Nodes) { return e.nodes, e.coarse }

// Fork is the same function with scratch of its own. Forks share what Prepare makes,
// so only one of them needs preparing; meanwhile no other may be used.
func (e *Expected) Fork() Objective { return &Expected{e.controlSet, newExpectScratch(e.terms)} }

// ForkBeside is Fork with the scratch of other, a fork of an expectation of the same terms
// from one call of NewExpectations: the two must not be used at once. Nil where other is
// no such expectation.
func (e *Expected) ForkBeside(other Objective) Objective {
	o, ok := other.(*Expected)
	if !ok || o.share[0] != e.share[0] {
		return nil
	}
	return &Expected{e.controlSet, o.s}
}

// SetTerm changes the coefficients of a linear term: the next step's confidence
// parameter, say. It panics for a term with a function of its own. Forks follow.
func (e *Expected) SetTerm(i int, mean, sd float64) {
	if e.terms[i].Of != nil {
		panic("gpcore: SetTerm is for linear terms")
	}
	e.terms[i].Mean, e.terms[i].SD = mean, sd
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
	if e.in.Nodes == nil && e.chosen != e.terms[0].Process.m.Version {
		e.choose()
	}
	for _, t := range e.share {
		t.sync()
		if e.boundable() {
			t.invert()
		}
	}
}

// PrepareOwn is the part of Prepare of this control set alone.
func (e *Expected) PrepareOwn() {
	for i, f := range e.forms {
		f.prepare(e.controlSet, i)
		if e.boundable() {
			f.prepareBound(e.controlSet, i)
		}
	}
}

// boundable says that Jensen's inequality bounds the expectation: there is one to take,
// and every term is an optimistic one of a squared exponential.
func (s *controlSet) boundable() bool {
	for i := range s.terms {
		t := &s.terms[i]
		if t.Of != nil || t.Offset != nil || t.SD < 0 || !kernels.IsSquaredExponential(t.Process.Kernel()) {
			return false
		}
	}
	return len(s.nodes.Weight) > 1
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

// leastVariance keeps the slope of a standard deviation finite, relative to k(x, x).
const leastVariance = 1e-12

func deviation(variance, prior float64) float64 {
	return math.Sqrt(max(variance, leastVariance*prior))
}
