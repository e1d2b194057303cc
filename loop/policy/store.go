package policy

import (
	"math"
	"slices"
)

// row is a valid observation as the model sees it.
type row struct {
	x        []float64 // unit coordinates, every variable; under drift the step as well
	mean     float64   // in the objective's unit
	variance float64   // unbiased, of the shots; NaN where unknown
	shots    int
	set      int
	step     int
}

// spread says that the row tells something about the noise.
func (r *row) spread() bool { return r.shots >= 2 && !math.IsNaN(r.variance) }

// store holds at most capacity valid observations, oldest first.
type store struct {
	capacity int
	// dims is the number of coordinates that count for distances: those of the
	// variables. Time, where it is one more, does not, because of two readings at one
	// setting the newer says more of the present, however far they are apart in time.
	dims int
	// window has the oldest leave first.
	window bool
	rows   []row
	next   []newer // of each row
	made   int     // rows ever added
}

// newer is the nearest of the rows that were added after one.
type newer struct {
	id       int     // of the row itself
	nearest  int     // id of the other, 0 if there is none
	distance float64 // squared
}

// add appends r. When the store is full, the older of the two observations that
// are nearest to each other (in unit coordinates) leaves first: it is the one
// that the rest replaces best. Where window is set it is the oldest of all: what a hold
// left behind tells nothing of where it is. It returns the index that left, -1 if none did. The
// nearest newer row of each is remembered, so that a step costs O(n d) as a rule: a row
// is looked at anew only where its nearest left.
func (s *store) add(r row) (left int) {
	left = -1
	if len(s.rows) >= s.capacity {
		if left = 0; !s.window {
			left = s.redundant()
		}
		s.remove(left)
	}
	s.made++
	for i := range s.next {
		s.next[i].see(s.made, s.distance(&s.rows[i], &r))
	}
	s.rows = append(s.rows, r)
	s.next = append(s.next, newer{id: s.made, distance: math.Inf(1)})
	return left
}

func (n *newer) see(id int, distance float64) {
	if distance < n.distance {
		n.nearest, n.distance = id, distance
	}
}

func (s *store) distance(a, b *row) float64 { return squaredDistance(a.x[:s.dims], b.x[:s.dims]) }

// redundant is the older of the nearest pair.
func (s *store) redundant() int {
	best := 0
	for i := range s.next {
		if s.next[i].distance < s.next[best].distance {
			best = i
		}
	}
	return best
}

// remove takes out row k.
func (s *store) remove(k int) {
	gone := s.next[k].id
	s.rows, s.next = slices.Delete(s.rows, k, k+1), slices.Delete(s.next, k, k+1)
	for i := range k {
		n := &s.next[i]
		if n.nearest != gone {
			continue
		}
		n.nearest, n.distance = 0, math.Inf(1)
		for j := i + 1; j < len(s.rows); j++ {
			n.see(s.next[j].id, s.distance(&s.rows[i], &s.rows[j]))
		}
	}
}

// forget leaves only the observations from a step on.
func (s *store) forget(from int) {
	kept := slices.DeleteFunc(slices.Clone(s.rows), func(r row) bool { return r.step < from })
	s.rows, s.next = nil, nil
	for _, r := range kept {
		s.add(r)
	}
}

// spreads counts the rows that tell something about the noise.
func (s *store) spreads() int {
	n := 0
	for i := range s.rows {
		if s.rows[i].spread() {
			n++
		}
	}
	return n
}

// thinned returns at most limit rows, evenly spaced by age and always with the
// newest.
func thinned(rows []row, limit int) []row {
	n := len(rows)
	if n <= limit {
		return slices.Clone(rows)
	}
	out := make([]row, 0, limit)
	for i := 1; i <= limit; i++ {
		out = append(out, rows[i*n/limit-1])
	}
	return out
}

// moments are the mean and the standard deviation (n-1) of the rows' means; the
// deviation is never zero: for a constant objective the noise, else 1, stands in.
func moments(rows []row) (mean, sd float64) {
	for i := range rows {
		mean += rows[i].mean / float64(len(rows))
	}
	squares := 0.0
	for i := range rows {
		squares += (rows[i].mean - mean) * (rows[i].mean - mean)
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
func pooledVariance(rows []row) (variance float64, freedom int) {
	sum := 0.0
	for i := range rows {
		if r := &rows[i]; r.spread() {
			sum += float64(r.shots-1) * r.variance
			freedom += r.shots - 1
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return sum / float64(freedom), freedom
}

// sampleVariances lists the rows' sample variances in growing order.
func sampleVariances(rows []row) []float64 {
	var out []float64
	for i := range rows {
		if rows[i].spread() {
			out = append(out, rows[i].variance)
		}
	}
	slices.Sort(out)
	return out
}
