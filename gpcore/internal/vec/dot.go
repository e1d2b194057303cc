package vec

// Dot returns the sum of x[j]*y[j] over j < len(x), by eight partial sums. y must be
// at least as long as x. x and y may be the same storage.
func Dot(x, y []float64) float64 {
	covered(len(y) >= len(x), "vec: Dot: y is shorter than x")
	if len(x) == 0 {
		return 0
	}
	return dot(x, y)
}

// Dots8 takes the dot products of eight rows of w with x:
//
//	l[r] = Dot(x, w[r*ldw:]),   r < 8,
//
// over len(x) columns.
func Dots8(l, w []float64, ldw int, x []float64) {
	covered(len(l) >= Rows && covers(w, Rows, len(x), ldw), "vec: Dots8: a slice is too short")
	if len(x) == 0 {
		clear(l[:Rows])
		return
	}
	dots8(l, w, ldw, x)
}

// Axpy adds a multiple of x: y[j] = fma(a, x[j], y[j]) for j < len(y).
func Axpy(y []float64, a float64, x []float64) {
	covered(len(x) >= len(y), "vec: Axpy: x is shorter than y")
	if len(y) > 0 {
		axpy(y, a, x)
	}
}

// Axpys8 adds a combination of eight rows of w to y, over len(y) columns. With
// w_r = w[r*ldw+j] and l_r = l[r], in two chains:
//
//	y[j] = fma(l3, w3, fma(l2, w2, fma(l1, w1, fma(l0, w0, y[j]))))
//	     + fma(l7, w7, fma(l6, w6, fma(l5, w5, l4*w4)))
func Axpys8(y, w []float64, ldw int, l []float64) {
	if len(y) == 0 {
		return
	}
	covered(len(l) >= Rows && covers(w, Rows, len(y), ldw), "vec: Axpys8: a slice is too short")
	axpys8(y, w, ldw, l)
}
