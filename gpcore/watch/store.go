package watch

import (
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// covariances are those of watched points with the observations, kept from update to
// update. Each observation has a place for as long as it stays, since its index changes
// when others leave; a new one takes the first place that is free.
type covariances struct {
	kept      []float64 // [panel][place][24], nil where they would be too many
	places    int       // per panel
	used      int       // places that were ever taken since the last refill
	of        []int     // place of each observation
	free      []int     // places below used that nobody has, ascending
	newcomers []int     // places of the observations that came since the last update
	alpha     []float64 // by place
}

// mostKept is the largest number of covariances that are kept: 64 MiB.
const mostKept = 1 << 23

func newCovariances(panels, capacity int) covariances {
	s := covariances{places: capacity}
	if panels == 0 || panels > mostKept/(vec.Lanes*capacity) {
		return s
	}
	s.kept = make([]float64, panels*capacity*vec.Lanes)
	s.of, s.free, s.newcomers = make([]int, 0, capacity), make([]int, 0, capacity), make([]int, 0, maxRankOne)
	s.alpha = make([]float64, capacity)
	return s
}

// panel are the covariances of panel i.
func (s *covariances) panel(i int) []float64 {
	return s.kept[i*s.places*vec.Lanes : (i+1)*s.places*vec.Lanes]
}

// take stores a panel in which the rows are the observations in their order.
func (s *covariances) take(i int, b []float64) {
	if s.kept == nil {
		return
	}
	p := s.panel(i)
	for j, at := range s.of {
		copy(p[at*vec.Lanes:(at+1)*vec.Lanes], b[j*vec.Lanes:(j+1)*vec.Lanes])
	}
}

// refill gives n observations their places anew; every panel must be taken then.
func (s *covariances) refill(n int) {
	if s.kept == nil {
		return
	}
	s.of, s.free, s.newcomers, s.used = s.of[:0], s.free[:0], s.newcomers[:0], n
	for j := range n {
		s.of = append(s.of, j)
	}
}

// follow takes up that the observation at index removed has left, none where it is
// negative, and that as many others have come.
func (s *covariances) follow(removed, came int) {
	if s.kept == nil {
		return
	}
	s.newcomers = s.newcomers[:0]
	if removed >= 0 {
		at := s.of[removed]
		k, _ := slices.BinarySearch(s.free, at)
		s.free = slices.Insert(s.free, k, at)
		s.of = slices.Delete(s.of, removed, removed+1)
	}
	for range came {
		at := s.used
		if len(s.free) > 0 {
			at = s.free[0]
			s.free = slices.Delete(s.free, 0, 1)
		} else {
			s.used++
		}
		s.of, s.newcomers = append(s.of, at), append(s.newcomers, at)
	}
}

// place orders alpha and the terms by the places of the observations; what nobody has
// weighs nothing.
func (s *covariances) place(alpha []float64, terms []rankOne) {
	if s.kept == nil {
		return
	}
	clear(s.alpha[:s.used])
	for i := range terms {
		clear(terms[i].placed[:s.used])
	}
	for j, at := range s.of {
		s.alpha[at] = alpha[j]
		for i := range terms {
			terms[i].placed[at] = terms[i].v[j]
		}
	}
}
