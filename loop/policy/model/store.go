package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Row is a valid observation as the model sees it.
type Row struct {
	X        []float64 // unit coordinates, every variable; under drift the step as well
	Mean     float64   // in the objective's unit
	Variance float64   // unbiased, of the shots; NaN where unknown
	Shots    int
	Set      int
	Step     int
}

// hasVariance reports whether the row has information about the noise.
func (r *Row) hasVariance() bool { return r.Shots >= 2 && !math.IsNaN(r.Variance) }

// Store holds at most capacity valid observations, oldest first.
type Store struct {
	Capacity int
	// Dims is the number of coordinates that count for distances: those of the
	// variables. Time, where it is one more, does not, because of two readings at one
	// setting the newer says more of the present, however far they are apart in time.
	Dims int
	// Window has the oldest leave first.
	Window bool
	Rows   []Row
	next   []nearestNewer // of each row
	made   int            // rows ever added
}

// nearestNewer is the nearest of the rows that were added after one.
type nearestNewer struct {
	id       int     // of the row itself
	nearest  int     // id of the other, 0 if there is none
	distance float64 // squared
}

// Add appends r. When the store is full, the older of the two observations that
// are nearest to each other (in unit coordinates) leaves first: it is the one
// that the rest replaces best. Where window is set it is the oldest of all: what a hold
// left behind says nothing about where it is. It returns the index that left, -1 if none did. The
// nearest newer row of each is remembered, so that a step costs O(n d) as a rule: a row
// is looked at anew only where its nearest left.
func (s *Store) Add(r Row) (left int) {
	left = -1
	if len(s.Rows) >= s.Capacity {
		if left = 0; !s.Window {
			left = s.redundant()
		}
		s.remove(left)
	}
	s.made++
	for i := range s.next {
		s.next[i].update(s.made, s.distance(&s.Rows[i], &r))
	}
	s.Rows = append(s.Rows, r)
	s.next = append(s.next, nearestNewer{id: s.made, distance: math.Inf(1)})
	return left
}

func (n *nearestNewer) update(id int, distance float64) {
	if distance < n.distance {
		n.nearest, n.distance = id, distance
	}
}

func (s *Store) distance(a, b *Row) float64 { return num.SquaredDistance(a.X[:s.Dims], b.X[:s.Dims]) }

// redundant is the older of the nearest pair.
func (s *Store) redundant() int {
	best := 0
	for i := range s.next {
		if s.next[i].distance < s.next[best].distance {
			best = i
		}
	}
	return best
}

// remove takes out row k.
func (s *Store) remove(k int) {
	gone := s.next[k].id
	s.Rows, s.next = slices.Delete(s.Rows, k, k+1), slices.Delete(s.next, k, k+1)
	for i := range k {
		n := &s.next[i]
		if n.nearest != gone {
			continue
		}
		n.nearest, n.distance = 0, math.Inf(1)
		for j := i + 1; j < len(s.Rows); j++ {
			n.update(s.next[j].id, s.distance(&s.Rows[i], &s.Rows[j]))
		}
	}
}

// forget leaves only the observations from a step on.
func (s *Store) forget(from int) {
	kept := slices.DeleteFunc(slices.Clone(s.Rows), func(r Row) bool { return r.Step < from })
	s.Rows, s.next = nil, nil
	for _, r := range kept {
		s.Add(r)
	}
}

// VarianceRows counts the rows that have information about the noise.
func (s *Store) VarianceRows() int {
	n := 0
	for i := range s.Rows {
		if s.Rows[i].hasVariance() {
			n++
		}
	}
	return n
}

// thinned returns at most limit rows, evenly spaced by age and always with the
// newest.
func thinned[T any](rows []T, limit int) []T {
	n := len(rows)
	if n <= limit {
		return slices.Clone(rows)
	}
	out := make([]T, 0, limit)
	for i := 1; i <= limit; i++ {
		out = append(out, rows[i*n/limit-1])
	}
	return out
}

// moments are the mean and the standard deviation (n-1) of the rows' means; the
// deviation is never zero: for a constant objective the noise, else 1, stands in.
func moments(rows []Row) (mean, sd float64) {
	for i := range rows {
		mean += rows[i].Mean / float64(len(rows))
	}
	squares := 0.0
	for i := range rows {
		squares += (rows[i].Mean - mean) * (rows[i].Mean - mean)
	}
	if len(rows) > 1 {
		sd = math.Sqrt(squares / float64(len(rows)-1))
	}
	// A spread that is only rounding of the mean is no spread.
	if sd > 1e-12*math.Abs(mean) {
		return mean, sd
	}
	if pooled, _ := pooledVariance(rows); pooled > 0 {
		return mean, math.Sqrt(pooled)
	}
	return mean, 1
}

// pooledVariance is the mean of the sample variances weighted by their degrees of
// freedom, and the sum of those; 0, 0 without any.
func pooledVariance(rows []Row) (variance float64, freedom int) {
	sum := 0.0
	for i := range rows {
		if r := &rows[i]; r.hasVariance() {
			sum += float64(r.Shots-1) * r.Variance
			freedom += r.Shots - 1
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return sum / float64(freedom), freedom
}

// sampleVariances lists the rows' sample variances in growing order.
func sampleVariances(rows []Row) []float64 {
	var out []float64
	for i := range rows {
		if rows[i].hasVariance() {
			out = append(out, rows[i].Variance)
		}
	}
	slices.Sort(out)
	return out
}
