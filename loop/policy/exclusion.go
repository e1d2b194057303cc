package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// exclusion remembers where a control set's steps failed, so that the same failing
// setting is not proposed again. A failed step is no number: it never enters the
// model of the objective.
//
// A setting x is excluded by a failed step at distance f < r where no valid step of
// the same control set is twice as near (at most f/2 away); r is 0.1 sqrt(c) of the
// range for c controlled variables. So one failure in the dark closes a ball, and
// valid steps shrink it: a loss of data by accident costs a good region little, and
// the edge of a bad one is approached from its good side.
//
// The exclusion lapses after patience*4^(m-1) steps where m <= 9 steps have failed at that
// place: in a finite domain, where nothing lies nearby, an accident would otherwise
// close a setting for ever.
type exclusion struct {
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

// exclusionSteps is how many steps a first failure excludes a setting.
const exclusionSteps = 50

func newExclusion(size, limit int) *exclusion {
	return &exclusion{size: size, radius: 0.1 * math.Sqrt(float64(size)), limit: limit}
}

// add remembers a step at setting x; of each kind the latest limit are kept.
func (v *exclusion) add(x []float64, valid bool, step int) {
	if valid {
		v.valid = v.latest(v.valid, x)
		return
	}
	v.failed = v.latest(v.failed, x)
	if len(v.failedAt) >= v.limit {
		v.failedAt = append(v.failedAt[:0], v.failedAt[1:]...)
	}
	v.failedAt = append(v.failedAt, step)
}

func (v *exclusion) latest(list, x []float64) []float64 {
	if len(list) >= v.limit*v.size {
		list = append(list[:0], list[v.size:]...)
	}
	return append(list, x...)
}

// decide prepares it for the decision of a step.
func (v *exclusion) decide(step int) {
	v.active = v.active[:0]
	for k, at := range v.failedAt {
		failures, _ := v.countNear(v.failed[k*v.size : (k+1)*v.size])
		if step-at <= exclusionSteps<<(2*min(failures-1, 8)) {
			v.active = append(v.active, k)
		}
	}
}

// closeness is 0 where x may be proposed, else in (0, 1] and the greater the nearer
// a failed step is.
func (v *exclusion) closeness(x []float64) float64 {
	if len(v.active) == 0 {
		return 0
	}
	nearest, most := math.Inf(1), 0.0
	for i := 0; i < len(v.valid); i += v.size {
		nearest = min(nearest, num.SquaredDistance(v.valid[i:i+v.size], x))
	}
	for _, k := range v.active {
		q := num.SquaredDistance(v.failed[k*v.size:(k+1)*v.size], x)
		if q < v.radius*v.radius && 4*nearest > q {
			most = max(most, 1-math.Sqrt(q)/v.radius)
		}
	}
	return most
}

// countNear counts the steps that failed at a place and those that did not: within a
// quarter of the reach.
func (v *exclusion) countNear(x []float64) (failed, valid int) {
	near := v.radius * v.radius / 16
	for i := 0; i < len(v.failed); i += v.size {
		if num.SquaredDistance(v.failed[i:i+v.size], x) <= near {
			failed++
		}
	}
	for i := 0; i < len(v.valid); i += v.size {
		if num.SquaredDistance(v.valid[i:i+v.size], x) <= near {
			valid++
		}
	}
	return failed, valid
}

// penalty is 0 where a setting may be proposed, else larger than any difference of
// acquisition values (which are of order 1): where everything is excluded, the
// setting farthest from failures wins.
func (v *exclusion) penalty(x []float64) float64 {
	if e := v.closeness(x); e > 0 {
		return 1e6 * (1 + e)
	}
	return 0
}

// unreliable reports whether more steps failed than succeeded at a place.
func (v *exclusion) unreliable(x []float64) bool {
	failed, valid := v.countNear(x)
	return failed > valid
}

// settings lists the settings that were tried, with or without success.
func (v *exclusion) settings() [][]float64 {
	var out [][]float64
	for _, list := range [][]float64{v.valid, v.failed} {
		for x := range slices.Chunk(list, v.size) {
			out = append(out, x)
		}
	}
	return out
}
