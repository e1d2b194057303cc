package watch

import (
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// covariances are those of watched points with the observations, kept from update to
// update. Each observation has a place for as long as it stays, since its index changes
// when others leave; a new one takes the first place that is free.
type covariances struct {
	panels [][]float64 // [place][24] of each panel; nil where they are not kept, or nobody has asked for it
	slots  int         // per panel, at most
	used   int         // places that were ever taken since the last refill
	slotOf []int       // place of each observation
	free   []int       // slots below used that are free, ascending
	added  []int       // places of the observations that came since the last update
	alpha  []float64   // by place
}

// maxStored bounds the covariances that are kept to 32 MiB, of the first panels. Those of the
// others are computed again at each update, still O(n) a point.
const maxStored = 1 << 22

func newCovariances(panels, capacity, stored int) covariances {
	s := covariances{slots: capacity}
	if panels = min(panels, stored/(vec.Lanes*capacity)); panels == 0 {
		return s
	}
	s.panels = make([][]float64, panels)
	s.slotOf, s.free, s.added = make([]int, 0, capacity), make([]int, 0, capacity), make([]int, 0, maxRankOne)
	s.alpha = make([]float64, capacity)
	return s
}

// kept are the covariances of panel i, with room for every place that was ever taken; nil where
// they are not kept.
func (s *covariances) kept(i int) []float64 {
	if i >= len(s.panels) || s.panels[i] == nil {
		return nil
	}
	return s.room(i)
}

// room is the memory of panel i. It doubles with the places that are taken: few runs fill
// their capacity.
func (s *covariances) room(i int) []float64 {
	const first = 128
	p := s.panels[i]
	if len(p) < s.used*vec.Lanes {
		places := first
		for places < s.used {
			places *= 2
		}
		p = append(make([]float64, 0, min(places, s.slots)*vec.Lanes), p...)
		p = p[:cap(p)]
		s.panels[i] = p
	}
	return p
}

// set stores a panel in which the rows are the observations in their order. It takes the
// panel's memory the first time: a search may never come to the last ones.
func (s *covariances) set(i int, b []float64) {
	if i >= len(s.panels) {
		return
	}
	p := s.room(i)
	for j, at := range s.slotOf {
		copy(p[at*vec.Lanes:(at+1)*vec.Lanes], b[j*vec.Lanes:(j+1)*vec.Lanes])
	}
}

// refill gives n observations their places anew; a panel is of no use then until it is set.
func (s *covariances) refill(n int) {
	if s.panels == nil {
		return
	}
	s.slotOf, s.free, s.added, s.used = s.slotOf[:0], s.free[:0], s.added[:0], n
	for j := range n {
		s.slotOf = append(s.slotOf, j)
	}
}

// update takes up that the observation at index removed has left, none where it is
// negative, and that as many others have come.
func (s *covariances) update(removed, came int) {
	if s.panels == nil {
		return
	}
	s.added = s.added[:0]
	if removed >= 0 {
		at := s.slotOf[removed]
		k, _ := slices.BinarySearch(s.free, at)
		s.free = slices.Insert(s.free, k, at)
		s.slotOf = slices.Delete(s.slotOf, removed, removed+1)
	}
	for range came {
		at := s.used
		if len(s.free) > 0 {
			at = s.free[0]
			s.free = slices.Delete(s.free, 0, 1)
		} else {
			s.used++
		}
		s.slotOf, s.added = append(s.slotOf, at), append(s.added, at)
	}
}

// orderBySlot orders alpha and the terms by the places of the observations; free slots have
// weighs nothing.
func (s *covariances) orderBySlot(alpha []float64, terms []rankOne) {
	if s.panels == nil {
		return
	}
	clear(s.alpha[:s.used])
	for i := range terms {
		clear(terms[i].bySlot[:s.used])
	}
	for j, at := range s.slotOf {
		s.alpha[at] = alpha[j]
		for i := range terms {
			terms[i].bySlot[at] = terms[i].v[j]
		}
	}
}
