// Package exclusion remembers where a control set's steps failed, so that the same failing
// setting is not proposed again. A failed step is no number: it never enters the
// model of the objective.
package exclusion

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Record has the settings of a control set's steps that failed, and of those that did not.
//
// A setting x is excluded by a failed step at distance f < r where no valid step of
// the same control set is twice as near (at most f/2 away); r is 0.1 sqrt(c) of the
// range for c controlled variables. So one failure in the dark closes a ball, and
// valid steps shrink it: a loss of data by accident costs a good region little, and
// the edge of a bad one is approached from its good side.
//
// The exclusion lapses after 50*4^(m-1) steps where m <= 9 steps have failed at that
// place: in a finite domain, where nothing lies nearby, an accident would otherwise
// close a setting for ever.
type Record struct {
	size   int
	radius float64 // r
	limit  int
	// failed and valid hold settings, row after row, the oldest first; failedAt has
	// the steps of the failed ones.
	failed, valid []float64
	failedAt      []int
	// active are the positions of the failed steps whose exclusion has not lapsed.
	active []int
}

// firstSteps is how many steps a first failure excludes a setting.
const firstSteps = 50

// New returns an empty record of settings of size coordinates; of each kind the latest limit are kept.
func New(size, limit int) *Record {
	return &Record{size: size, radius: 0.1 * math.Sqrt(float64(size)), limit: limit}
}

// Add remembers a step at setting x.
func (r *Record) Add(x []float64, valid bool, step int) {
	if valid {
		r.valid = r.latest(r.valid, x)
		return
	}
	r.failed = r.latest(r.failed, x)
	if len(r.failedAt) >= r.limit {
		r.failedAt = append(r.failedAt[:0], r.failedAt[1:]...)
	}
	r.failedAt = append(r.failedAt, step)
}

func (r *Record) latest(list, x []float64) []float64 {
	if len(list) >= r.limit*r.size {
		list = append(list[:0], list[r.size:]...)
	}
	return append(list, x...)
}

// Decide prepares the record for the decision of a step, and reports whether it excludes anything.
func (r *Record) Decide(step int) bool {
	r.active = r.active[:0]
	for k, at := range r.failedAt {
		failures, _ := r.countNear(r.failed[k*r.size : (k+1)*r.size])
		if step-at <= firstSteps<<(2*min(failures-1, 8)) {
			r.active = append(r.active, k)
		}
	}
	return len(r.active) > 0
}

// closeness is 0 where x may be proposed, else in (0, 1] and the greater the nearer
// a failed step is.
func (r *Record) closeness(x []float64) float64 {
	if len(r.active) == 0 {
		return 0
	}
	nearest, most := math.Inf(1), 0.0
	for i := 0; i < len(r.valid); i += r.size {
		nearest = min(nearest, num.SquaredDistance(r.valid[i:i+r.size], x))
	}
	for _, k := range r.active {
		q := num.SquaredDistance(r.failed[k*r.size:(k+1)*r.size], x)
		if q < r.radius*r.radius && 4*nearest > q {
			most = max(most, 1-math.Sqrt(q)/r.radius)
		}
	}
	return most
}

// countNear counts the steps that failed at a place and those that did not: within a
// quarter of the reach.
func (r *Record) countNear(x []float64) (failed, valid int) {
	for i := 0; i < len(r.failed); i += r.size {
		if r.Same(r.failed[i:i+r.size], x) {
			failed++
		}
	}
	for i := 0; i < len(r.valid); i += r.size {
		if r.Same(r.valid[i:i+r.size], x) {
			valid++
		}
	}
	return failed, valid
}

// Same reports whether two settings are one place.
func (r *Record) Same(x, y []float64) bool {
	return num.SquaredDistance(x, y) <= r.radius*r.radius/16
}

// Penalty is 0 where a setting may be proposed, else larger than any difference of
// acquisition values (which are of order 1): where everything is excluded, the
// setting farthest from failures wins.
func (r *Record) Penalty(x []float64) float64 {
	if e := r.closeness(x); e > 0 {
		return 1e6 * (1 + e)
	}
	return 0
}

// Unreliable reports whether more steps failed than succeeded at a place.
func (r *Record) Unreliable(x []float64) bool {
	if len(r.failed) == 0 { // what is valid need not be counted, which takes O(n)
		return false
	}
	failed, valid := r.countNear(x)
	return failed > valid
}

// Settings lists the settings that were tried, with or without success.
func (r *Record) Settings() [][]float64 {
	var out [][]float64
	for _, list := range [][]float64{r.valid, r.failed} {
		for x := range slices.Chunk(list, r.size) {
			out = append(out, x)
		}
	}
	return out
}
