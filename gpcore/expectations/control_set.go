package expectations

import (
	"errors"
	"fmt"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// controlSet is what all forks of an Expected share.
type controlSet struct {
	terms        []Term
	shared       []*sharedTerm // one per term, shared between control sets
	separables   []*separable  // this control set's view of each term
	in           Inputs
	random       []int // coordinates
	d            int
	nodes        quadrature.Nodes
	coarse       quadrature.Nodes
	rules        *quadrature.Rules // of the random coordinates; nil before the first nodes
	nodesVersion uint64            // version of the first process's kernel that the nodes suit
	spare        *spares
}

// newControlSet makes one that has no nodes yet, unless the inputs give them.
func newControlSet(terms []Term, share []*sharedTerm, in Inputs) (*controlSet, error) {
	s := &controlSet{terms: slices.Clone(terms), shared: share, in: in, d: terms[0].Process.Dim()}
	s.in.Controlled, s.in.Random = slices.Clone(in.Controlled), slices.Clone(in.Random)
	if err := s.split(); err != nil {
		return nil, err
	}
	if in.Nodes != nil {
		n, err := in.Nodes.Checked(len(s.random))
		if err != nil {
			return nil, err
		}
		s.nodes, s.coarse = n, n.Thinned(len(s.random))
	}
	for i := range terms {
		s.separables = append(s.separables, &separable{})
		for j, m := range s.in.Random {
			share[i].require(s.random[j], m)
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
		if err := m.Check(); err != nil {
			return err
		}
	}
	return nil
}

// hasNodes reports whether the nodes are the caller's, or suit the kernel as it is.
func (s *controlSet) hasNodes() bool {
	return s.in.Nodes != nil || len(s.nodes.Weight) > 0 && s.nodesVersion == s.terms[0].Process.Model().Version
}

// chooseNodes takes the rule for the random coordinates that suits the kernel.
func (s *controlSet) chooseNodes() {
	s.nodesVersion = s.terms[0].Process.Model().Version
	if len(s.random) == 0 {
		s.nodes = quadrature.Nodes{Weight: []float64{1}}
		s.coarse = s.nodes
		return
	}
	scale := s.lengthscales()
	if s.rules == nil {
		s.rules = quadrature.NewRules(s.in.Random, s.in.Seed)
	}
	s.nodes, s.coarse = s.rules.Full(scale), s.rules.Coarse(scale)
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

// boundable reports whether Jensen's inequality bounds the expectation: there is one to take,
// and every term is an optimistic one of a squared exponential.
func (s *controlSet) boundable() bool {
	for i := range s.terms {
		t := &s.terms[i]
		if !t.linear() || t.Offset != nil || t.SD < 0 || !kernels.IsSquaredExponential(t.Process.Kernel()) {
			return false
		}
	}
	return len(s.nodes.Weight) > 1
}
