package expectations

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// Cache keeps expectations from one use to the next: their nodes, the factors of points that are
// still observed, and their memory. What it gives has the values of an expectation made anew, to
// the last bit, while it costs no choice of nodes and allocates next to nothing. The zero
// value is empty, and a nil Cache keeps nothing. It is not safe for concurrent use.
type Cache struct {
	groups         []*group
	mean, variance []float64 // scratch
	sums           [3]Term
	parts          [3]controlSet
	one            [1]Term
}

// group is what was made for one list of processes. Its members share factors and scratch.
type group struct {
	processes []*gpcore.GP
	shared    []*sharedTerm
	scratch   *scratch
	forks     spares
	members   []*member
}

// member is an expectation over the random coordinates of some inputs.
type member struct {
	*Expected
	inputs Inputs
	// used since the last Renew; taken: until the next one it is its caller's.
	used, taken bool
	idle        int // for how many Renews it was not used
}

// mostIdle is how many Renews an expectation that leaves nothing random is kept without being used: it has no nodes
// and no factors, and of several processes one or another is asked for.
const mostIdle = 64

// drop reports whether a member is not to be kept over a Renew.
func (m *member) drop() bool {
	if m.idle++; m.used {
		m.idle = 0
	}
	return !m.used && (len(m.random) > 0 || m.idle > mostIdle)
}

// Sets is [NewSets] into out, one for each of sets, which it returns. They, and forks of them, are the
// caller's until the next Renew.
func (c *Cache) Sets(out []*Expected, terms []Term, sets []Inputs) ([]*Expected, error) {
	if c == nil {
		made, err := NewSets(terms, sets)
		copy(out, made)
		return out, err
	}
	if err := checkSets(terms, sets); err != nil {
		return nil, err
	}
	g := c.group(terms)
	for i, in := range sets {
		m, err := g.member(terms, in)
		if err != nil {
			return nil, fmt.Errorf("control set %d: %w", i, err)
		}
		m.taken = true
		out[i] = m.Expected
	}
	return out, nil
}

// One is Sets for one control set.
func (c *Cache) One(terms []Term, in Inputs) (*Expected, error) {
	var out [1]*Expected
	if _, err := c.Sets(out[:], terms, []Inputs{in}); err != nil {
		return nil, err
	}
	return out[0], nil
}

// Values sets dst to the expectation of terms at the rows of x.
func (c *Cache) Values(dst []float64, terms []Term, in Inputs, x []float64) error {
	e, err := c.once(terms, in)
	if err != nil {
		return err
	}
	e.Prepare()
	e.Values(dst, x)
	return nil
}

// Shape knows the nodes and the lengthscales of expectations of a process. Only its Rules and
// Scales may be used, by any number of callers, until the kernel changes.
func (c *Cache) Shape(process *gpcore.GP, in Inputs) (*Expected, error) {
	if c == nil {
		c = &Cache{}
	}
	c.one[0] = Term{Process: process, Mean: 1}
	return c.once(c.one[:], in)
}

// Renew drops what was not used since the last Renew (where nothing is random, for longer), and takes back the rest.
func (c *Cache) Renew() {
	c.groups = slices.DeleteFunc(c.groups, func(g *group) bool {
		g.members = slices.DeleteFunc(g.members, (*member).drop)
		for _, m := range g.members {
			m.used, m.taken = false, false
		}
		g.dropFactors()
		g.forks.back()
		return len(g.members) == 0
	})
}

// dropFactors drops the factors of coordinates that no member leaves random any more: marginals
// may change at each step.
func (g *group) dropFactors() {
	for _, t := range g.shared {
		t.factors = slices.DeleteFunc(t.factors, func(f *coordFactor) bool {
			return !slices.ContainsFunc(g.members, func(m *member) bool {
				k := slices.Index(m.random, f.coord)
				return k >= 0 && k < len(m.in.Random) && m.in.Random[k] == f.m
			})
		})
	}
}

// once is an expectation that its caller has done with before it asks for another one.
func (c *Cache) once(terms []Term, in Inputs) (*Expected, error) {
	if c == nil {
		return New(terms, in)
	}
	if err := checkSets(terms, []Inputs{in}); err != nil {
		return nil, err
	}
	m, err := c.group(terms).member(terms, in)
	if err != nil {
		return nil, err
	}
	return m.Expected, nil
}

// group is that of the terms' processes.
func (c *Cache) group(terms []Term) *group {
	same := func(p *gpcore.GP, t Term) bool { return p == t.Process }
	for _, g := range c.groups {
		if slices.EqualFunc(g.processes, terms, same) {
			return g
		}
	}
	g := &group{shared: shareTerms(terms), scratch: newScratch(terms)}
	for _, t := range terms {
		g.processes = append(g.processes, t.Process)
	}
	c.groups = append(c.groups, g)
	return g
}

// member is one for inputs that nobody has taken, with the terms and with nodes that suit the
// kernel as it is.
func (g *group) member(terms []Term, in Inputs) (*member, error) {
	for _, m := range g.members {
		if !m.taken && sameInputs(&m.inputs, &in) {
			copy(m.terms, terms)
			g.fitNodes(m.controlSet, &in)
			m.used = true
			return m, nil
		}
	}
	in.Controlled, in.Random = slices.Clone(in.Controlled), slices.Clone(in.Random)
	if in.Nodes != nil { // the caller's may change
		in.Nodes = &quadrature.Nodes{X: slices.Clone(in.Nodes.X), Weight: slices.Clone(in.Nodes.Weight)}
	}
	s, err := newControlSet(terms, g.shared, in)
	if err != nil {
		return nil, err
	}
	g.fitNodes(s, &in)
	s.spare = &g.forks
	m := &member{Expected: &Expected{s, g.scratch}, inputs: in, used: true}
	g.members = append(g.members, m)
	return m, nil
}

// fitNodes gives a control set nodes that suit the kernel as it is: those that a member over the same inputs has.
func (g *group) fitNodes(s *controlSet, in *Inputs) {
	for _, m := range g.members {
		if !s.hasNodes() && m.hasNodes() && sameInputs(&m.inputs, in) {
			s.nodes, s.coarse, s.nodesVersion = m.nodes, m.coarse, m.nodesVersion
		}
	}
	if !s.hasNodes() {
		s.chooseNodes()
	}
}

func sameInputs(a, b *Inputs) bool {
	if a.Seed != b.Seed || !slices.Equal(a.Controlled, b.Controlled) || !slices.Equal(a.Random, b.Random) || (a.Nodes == nil) != (b.Nodes == nil) {
		return false
	}
	return a.Nodes == nil || slices.Equal(a.Nodes.Weight, b.Nodes.Weight) && slices.Equal(a.Nodes.X, b.Nodes.X)
}
