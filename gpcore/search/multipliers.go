package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// multipliers solve, for a positive definite matrix M and a right-hand side r,
//
//	u >= 0,  M u >= r,  and one of the two equal for each
//
// by block principal pivoting (Júdice and Pires, Computers & Operations Research 21, 1994): some are positive, which the
// equations determine, and all that come out wrong change sides at once; after three rounds, so that it ends,
// the last one alone (Murty's rule).
type multipliers struct {
	u, right, matrix []float64
	positive         []bool

	factor, forward []float64 // scratch
	order           []int     // of the positive ones
}

// Rounds in which all change sides, and in all: then u is as good as it has become.
const (
	blockRounds = 3
	mostRounds  = 50
)

// resize makes room for so many.
func (s *multipliers) resize(m int) {
	s.u, s.right, s.forward = vec.Grown(s.u, m), vec.Grown(s.right, m), vec.Grown(s.forward, m)
	s.matrix, s.factor = vec.Grown(s.matrix, m*m), vec.Grown(s.factor, m*m)
	if len(s.positive) != m {
		s.positive, s.order = make([]bool, m), make([]int, 0, m)
	}
}

// solve sets u. What is no number is 0.
func (s *multipliers) solve() {
	for j, r := range s.right {
		s.positive[j] = r > 0
	}
	for round := 0; round < mostRounds; round++ {
		s.solvePositive()
		if !s.changeSides(round >= blockRounds) {
			break
		}
	}
	for j, u := range s.u {
		if !(u > 0) || math.IsInf(u, 1) {
			s.u[j] = 0
		}
	}
}

// changeSides moves those that are on the wrong side, or the last of them alone, and reports whether there was one.
func (s *multipliers) changeSides(lastAlone bool) bool {
	const rounding = 1e-12 // of the right-hand side
	m, changed := len(s.u), false
	for j := m - 1; j >= 0; j-- {
		wrong := s.u[j] < 0
		if !s.positive[j] {
			rest := s.right[j]
			for k, u := range s.u {
				rest -= s.matrix[j*m+k] * u
			}
			wrong = rest > rounding*math.Abs(s.right[j])
		}
		if wrong {
			s.positive[j], changed = !s.positive[j], true
			if lastAlone {
				return true
			}
		}
	}
	return changed
}

// solvePositive solves the equations of the positive ones, by their Cholesky factor; the others are 0.
func (s *multipliers) solvePositive() {
	s.order = s.order[:0]
	for j, positive := range s.positive {
		s.u[j] = 0
		if positive {
			s.order = append(s.order, j)
		}
	}
	m, l := len(s.u), s.factor
	for a, j := range s.order {
		for b, k := range s.order[:a+1] {
			v := s.matrix[j*m+k] - vec.Dot(l[a*m:a*m+b], l[b*m:b*m+b])
			if a == b {
				l[a*m+a] = math.Sqrt(max(v, 1e-15*s.matrix[j*m+j])) // not less than rounding leaves of it
			} else {
				l[a*m+b] = v / l[b*m+b]
			}
		}
		s.forward[a] = (s.right[j] - vec.Dot(l[a*m:a*m+a], s.forward[:a])) / l[a*m+a]
	}
	for a := len(s.order) - 1; a >= 0; a-- {
		v := s.forward[a]
		for b := a + 1; b < len(s.order); b++ {
			v -= l[b*m+a] * s.u[s.order[b]]
		}
		s.u[s.order[a]] = v / l[a*m+a]
	}
}
