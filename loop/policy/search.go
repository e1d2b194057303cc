package policy

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sizes of a search.
const (
	batch      = 96 // settings screened in one unit
	localShare = 12 // of them around the incumbents
	keptStarts = 6  // climbed in a box
	keptListed = 16 // looked at again with all nodes in a list
	fineStarts = 2  // climbed with all nodes
	apart      = 0.05
	// listUnits bounds the default length of a search through a list: 4608 settings.
	listUnits = 48
)

// lengths says how many work units each phase of a search takes.
type lengths struct{ screen, climb, fine int }

func (l lengths) total() int { return l.screen + l.climb + l.fine }

// plan sets the lengths for a domain. allotted is the number of units that the
// specification gives to this search, 0 for the default. cheap says that the
// criterion has no expectation, so that screening can be denser.
func plan(d *domain, allotted int, cheap bool) lengths {
	if n := d.listed(); n > 0 {
		units := (n + batch - 1) / batch
		limit := listUnits
		if allotted > 0 {
			limit = max(allotted-1, 1)
		}
		return lengths{screen: min(units, limit), fine: min(1, max(allotted, 2)-1)}
	}
	switch {
	case allotted == 1:
		return lengths{screen: 1}
	case allotted > 1:
		l := lengths{screen: max(1, allotted*11/20), fine: allotted / 5}
		l.climb = allotted - l.screen - l.fine
		return l
	case cheap:
		return lengths{screen: 11, climb: 10, fine: 4}
	}
	return lengths{screen: 2, climb: 6, fine: 4}
}

// search maximises one criterion over one control set's domain, in numbered units of
// work. What it holds after any number of units is a valid result; what unit u does
// depends on nothing but the search and u.
type search struct {
	crit    *criterion
	plan    lengths
	screen  *sobol
	next    int // of its points
	local   *rand.Rand
	order   []int       // of a list
	centres [][]float64 // settings to look around
	metric  []float64
	tops    []*climber // best first
	done    int
}

// newSearch prepares the search of criterion c in a step.
func newSearch(c *criterion, l lengths, seed uint64, step int) *search {
	d := c.dom
	s := &search{crit: c, plan: l, metric: make([]float64, d.size())}
	s.local = stream(seed+uint64(d.set), forLocal, step)
	if n := d.listed(); n > 0 {
		s.order = s.local.Perm(n)
	} else {
		s.screen = newSobol(d.size(), stream(seed+uint64(d.set), forScreening, step))
	}
	logs := c.m.inForce.kernel.Params(nil)
	for j, i := range d.coords {
		l := math.Exp(logs[1+i])
		s.metric[j] = min(l*l, 1)
	}
	return s
}

// unit does the next unit of work.
func (s *search) unit(p *pool) {
	u := s.done
	s.done++
	switch {
	case u < s.plan.screen:
		s.screenBatch(p, u)
	case u < s.plan.screen+s.plan.climb:
		s.climb(p, u-s.plan.screen, s.crit.nodes.coarse)
	default:
		if u == s.plan.screen+s.plan.climb {
			s.refine(p)
		}
		s.climb(p, u-s.plan.screen, s.crit.nodes.count())
	}
}

// finished says that all units are done.
func (s *search) finished() bool { return s.done >= s.plan.total() }

// screenBatch looks at the next settings: of a list in random order, of a box the
// next points of a scrambled Sobol sequence and some around the incumbents.
func (s *search) screenBatch(p *pool, u int) {
	d, size := s.crit.dom, s.crit.dom.size()
	var x []float64
	if d.listed() > 0 {
		for _, k := range s.order[u*batch : min((u+1)*batch, len(s.order))] {
			x = append(x, d.row(k)...)
		}
	} else {
		x = make([]float64, batch*size)
		for j := range batch {
			row := x[j*size : (j+1)*size]
			if j < batch-localShare || len(s.centres) == 0 {
				s.screen.point(row, s.next)
				s.next++
			} else {
				s.near(row, u*localShare+j-(batch-localShare))
			}
			d.settleCoarse(row)
		}
	}
	values := make([]float64, len(x)/size)
	s.crit.values(p, values, x, s.crit.nodes.coarse)
	s.keep(x, values)
}

// near sets row to the k-th point around the incumbents: first they themselves,
// then normal deviations of a tenth, a thirtieth and a hundredth of the range.
func (s *search) near(row []float64, k int) {
	n := len(s.centres)
	copy(row, s.centres[k%n])
	if k < n {
		return
	}
	spread := []float64{0.1, 0.03, 0.01}[(k/n)%3]
	for j := range row {
		row[j] = min(max(row[j]+spread*s.local.NormFloat64(), 0), 1)
	}
}

// keep merges screened settings into the best starts: in a box, starts closer than
// apart to a better one are dropped.
func (s *search) keep(x, values []float64) {
	size, limit, distance := s.crit.dom.size(), keptStarts, apart
	if s.crit.dom.listed() > 0 {
		limit, distance = keptListed, 0
	}
	for j, v := range values {
		if len(s.tops) < limit || v > s.tops[len(s.tops)-1].value {
			s.tops = append(s.tops, newClimber(x[j*size:(j+1)*size], v))
			s.sort()
			s.tops = spaced(s.tops, limit, distance)
		}
	}
}

// sort orders the starts by value, best first, NaN last.
func (s *search) sort() {
	slices.SortStableFunc(s.tops, func(a, b *climber) int {
		switch {
		case a.value > b.value || math.IsNaN(b.value) && !math.IsNaN(a.value):
			return -1
		case b.value > a.value || math.IsNaN(a.value) && !math.IsNaN(b.value):
			return 1
		}
		return 0
	})
}

// spaced keeps at most limit of the sorted climbers, none closer to a better one
// than distance in every coordinate.
func spaced(sorted []*climber, limit int, distance float64) []*climber {
	kept := sorted[:0]
	for _, k := range sorted {
		close := func(o *climber) bool {
			for j, v := range k.x {
				if math.Abs(v-o.x[j]) >= distance {
					return false
				}
			}
			return true
		}
		if len(kept) < limit && (distance == 0 || !slices.ContainsFunc(kept, close)) {
			kept = append(kept, k)
		}
	}
	return kept
}

// climb moves every start by one round.
func (s *search) climb(p *pool, round, count int) {
	if s.crit.dom.listed() > 0 {
		return
	}
	a := &ascent{crit: s.crit, workers: p, count: count, metric: s.metric, coarse: s.crit.dom.coarse()}
	a.round(s.tops, round)
	s.sort()
}

// refine evaluates the starts with all nodes and keeps the best few.
func (s *search) refine(p *pool) {
	if s.crit.nodes.coarse == s.crit.nodes.count() && s.crit.dom.listed() == 0 {
		return
	}
	s.reevaluate(p)
	if s.crit.dom.listed() == 0 {
		s.tops = s.tops[:min(fineStarts, len(s.tops))]
	}
}

func (s *search) reevaluate(p *pool) {
	var x []float64
	for _, k := range s.tops {
		x = append(x, k.x...)
	}
	values := make([]float64, len(s.tops))
	s.crit.values(p, values, x, s.crit.nodes.count())
	for i, k := range s.tops {
		k.restart(values[i])
	}
	s.sort()
}

// best is the best setting that may be proposed, with its value by all nodes.
func (s *search) best(p *pool) (x []float64, value float64) {
	s.tops = s.tops[:min(keptStarts, len(s.tops))]
	for _, k := range s.tops {
		s.crit.dom.settle(k.x)
	}
	s.reevaluate(p)
	return s.tops[0].x, s.tops[0].value
}
