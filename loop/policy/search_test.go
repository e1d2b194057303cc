package policy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// searchOf prepares the search that a decision would make in control set 0.
func searchOf(t *testing.T, s Spec, n, shots int) (*engine, *search) {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, p, s, n, shots)
	e := p.(*engine)
	if err := e.model.refresh(); err != nil {
		t.Fatal(err)
	}
	c := e.criterion(0, 2)
	se := newSearch(c, plan(c.dom, e.allotted(1), c.nodes.count() == 1), s.Seed, n+1)
	for _, x := range e.incumbents() {
		at := make([]float64, c.dom.size())
		c.dom.project(at, x)
		se.centres = append(se.centres, at)
	}
	return e, se
}

func (s *search) run(p *pool) ([]float64, float64) {
	for !s.finished() {
		s.unit(p)
	}
	return s.best(p)
}

// The search finds what a dense random scan of 20000 settings finds, or better. The
// posterior is rough: few data, lengthscale 0.3.
func TestSearchBeatsADenseScan(t *testing.T) {
	for seed := range uint64(4) {
		for _, d := range []int{1, 2, 4} {
			e, s := searchOf(t, rahboSpec(d, seed), 30, 10)
			x, got := s.run(e.pool())
			const points = 20000
			rng := rand.New(rand.NewPCG(seed, 5))
			scan, values := make([]float64, points*d), make([]float64, points)
			for i := range scan {
				scan[i] = rng.Float64()
			}
			s.crit.values(e.pool(), values, scan, 1)
			if best := values[argmax(values)]; got < best-1e-6 {
				t.Errorf("seed %d, %d-D: found %.6f at %v, the scan %.6f", seed, d, got, x, best)
			}
		}
	}
}

// With an expectation: the scan is by all nodes, the search's screening by few.
func TestSearchWithExpectation(t *testing.T) {
	for seed := range uint64(3) {
		s := growth("se", "etc-50", seed)
		e, se := searchOf(t, s, 40, 1) // control set 0 holds two of five variables
		_, got := se.run(e.pool())
		const side = 25
		var scan []float64
		for i := range side {
			for j := range side {
				scan = append(scan, float64(i)/(side-1), float64(j)/(side-1))
			}
		}
		values := make([]float64, side*side)
		se.crit.values(e.pool(), values, scan, se.crit.nodes.count())
		if best := values[argmax(values)]; got < best-1e-3 {
			t.Errorf("seed %d: found %.5f, the scan %.5f", seed, got, best)
		}
	}
}

// Discrete and rounded variables: against every combination of the discrete ones and
// a fine grid of the other.
func TestSearchOfMixedVariables(t *testing.T) {
	for seed := range uint64(4) {
		s := rahboSpec(3, seed)
		s.Variables[0].Low, s.Variables[0].High, s.Variables[0].Integer = 0, 9, true
		s.Variables[1].Levels = []float64{0, 0.1, 0.25, 0.7, 1}
		s.Variables[2].Resolution = 0.002
		e, se := searchOf(t, s, 25, 10)
		x, got := se.run(e.pool())
		var scan []float64
		for i := range 10 {
			for _, l := range s.Variables[1].Levels {
				for k := range 501 {
					scan = append(scan, float64(i)/9, l, float64(k)/500)
				}
			}
		}
		values := make([]float64, len(scan)/3)
		se.crit.values(e.pool(), values, scan, 1)
		// Rounding to the nearest of 501 values may miss the best of two neighbours.
		if best := values[argmax(values)]; got < best-1e-4 {
			t.Errorf("seed %d: found %.6f at %v, the scan %.6f", seed, got, x, best)
		}
		p := se.crit.dom.proposal(x)
		if p[0] != math.Round(p[0]) || math.Abs(p[2]*500-math.Round(p[2]*500)) > 1e-9 {
			t.Errorf("seed %d: proposal %v", seed, p)
		}
	}
}

// A short list is looked through whole.
func TestSearchOfAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	s := rahboSpec(2, 3)
	for range 300 {
		s.Candidates = append(s.Candidates, []float64{rng.Float64(), rng.Float64()})
	}
	e, se := searchOf(t, s, 20, 10)
	_, got := se.run(e.pool())
	values := make([]float64, 300)
	se.crit.values(e.pool(), values, se.crit.dom.list, 1)
	if best := values[argmax(values)]; math.Abs(got-best) > 1e-12 {
		t.Errorf("found %g, the best candidate has %g", got, best)
	}
}

// Anytime: what is held after each unit may be proposed, and without expectation
// never gets worse.
func TestSearchIsAnytime(t *testing.T) {
	s := rahboSpec(3, 2)
	s.Variables[1].Levels = []float64{0, 0.3, 0.6, 1}
	last := math.Inf(-1)
	for units := 1; ; units++ {
		e, se := searchOf(t, s, 25, 10)
		se.done = 0
		for range units {
			se.unit(e.pool())
		}
		x, v := se.best(e.pool())
		if v < last {
			t.Errorf("after %d units %g, one unit earlier %g", units, v, last)
		}
		last = v
		if p := se.crit.dom.proposal(x); p[1] != 0 && p[1] != 0.3 && p[1] != 0.6 && p[1] != 1 {
			t.Errorf("after %d units: proposal %v", units, p)
		}
		if se.finished() {
			break
		}
	}
}

// The plan keeps to the number of units that is given, whatever it is.
func TestPlanLengths(t *testing.T) {
	box := newDomain(axesOf(box(2)), []bool{true, true}, 0, nil)
	for allotted := 1; allotted < 60; allotted++ {
		l := plan(box, allotted, true)
		if l.total() != allotted || l.screen < 1 || l.climb < 0 || l.fine < 0 {
			t.Errorf("%d units: %+v", allotted, l)
		}
	}
	long := &domain{coords: []int{0}, list: make([]float64, 100000)}
	if l := plan(long, 0, true); l.total() != listUnits+1 {
		t.Errorf("a long list takes %d units", l.total())
	}
}
