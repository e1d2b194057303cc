package landscape

import (
	"cmp"
	"math"
	"slices"
)

// Hill is a maximisation over the unit cube of dims coordinates: value is evaluated
// at screen points of a lattice and at the marks, and the best polish points that are
// not neighbours are climbed from. It serves to know the optimum of a problem, not to
// be fast.
type Hill struct {
	Dims           int
	Value          func(u []float64) float64
	Marks          [][]float64
	Screen, Polish int
}

const (
	firstCompass = 0.05
	lastCompass  = 1e-7 // of the cube: an error of 1e-14 times the curvature
	apart        = 0.02
)

// Top is the best point found and its value.
func (h Hill) Top() ([]float64, float64) {
	type start struct {
		u     []float64
		value float64
	}
	var starts []start
	try := func(u []float64) { starts = append(starts, start{u, h.Value(u)}) }
	for i := range h.Screen {
		try(lattice(i, h.Dims))
	}
	for _, u := range h.Marks {
		try(slices.Clone(u))
	}
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(b.value, a.value) })
	var chosen [][]float64
	var best start
	for _, s := range starts {
		if len(chosen) == h.Polish {
			break
		}
		if slices.ContainsFunc(chosen, func(u []float64) bool { return Distance(u, s.u) < apart }) {
			continue
		}
		chosen = append(chosen, slices.Clone(s.u))
		value := h.Climb(s.u, s.value)
		if best.u == nil || value > best.value {
			best = start{s.u, value}
		}
	}
	return best.u, best.value
}

// Climb is a compass search: it moves u along one coordinate at a time while that
// helps, with a step that is halved when nothing does, and returns the value there.
func (h Hill) Climb(u []float64, value float64) float64 {
	for step := firstCompass; step > lastCompass; {
		moved := false
		for i := range u {
			for _, by := range [2]float64{step, -step} {
				was := u[i]
				u[i] = min(max(was+by, 0), 1)
				if v := h.Value(u); v > value {
					value, moved = v, true
					break
				}
				u[i] = was
			}
		}
		if !moved {
			step /= 2
		}
	}
	return value
}

// lattice is point i of a sequence that fills the cube evenly: multiples of the
// powers of 1/g, where g is the root of g^(d+1) = g + 1, modulo 1 (the golden ratio in
// one dimension; M. Roberts, 2018).
func lattice(i, d int) []float64 {
	g := 1.0
	for range 60 { // a contraction: converges to the last digit
		g = math.Pow(1+g, 1/float64(d+1))
	}
	u, power := make([]float64, d), 1.0
	for j := range u {
		power /= g
		_, u[j] = math.Modf(0.5 + float64(i)*power)
	}
	return u
}

func Distance(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum)
}
