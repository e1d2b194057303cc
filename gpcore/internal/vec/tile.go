package vec

import "math"

// Tile multiplies eight rows of w by k rows of panel b:
//
//	out[r*24+j] = sum over p < k of w[r*ldw+p] * b[p*24+j],   r < 8, j < 24.
//
// out has 192 elements, overwritten.
func Tile(out, w []float64, ldw int, b []float64, k int) {
	for r := range Rows {
		o := out[r*Lanes : r*Lanes+Lanes]
		clear(o)
		for p := range k {
			a := w[r*ldw+p]
			for j, v := range b[p*Lanes : p*Lanes+Lanes] {
				o[j] = math.FMA(a, v, o[j])
			}
		}
	}
}

// TileSquares adds the squares of a tile product, row by row from the first, to
// 24 running sums:
//
//	sum[j] = fma(t, t, sum[j]) with t = (w b)[r][j], for r = 0, 1, ..., 7.
func TileSquares(sum, w []float64, ldw int, b []float64, k int) {
	if k <= 0 {
		return
	}
	var t [Rows * Lanes]float64
	Tile(t[:], w, ldw, b, k)
	s := sum[:Lanes]
	for r := range Rows {
		for j, v := range t[r*Lanes : r*Lanes+Lanes] {
			s[j] = math.FMA(v, v, s[j])
		}
	}
}

// TileT multiplies the transpose of a block of w with k rows and eight columns
// by k rows of panel b:
//
//	out[r*24+j] = sum over p < k of w[p*ldw+r] * b[p*24+j],   r < 8, j < 24.
//
// out has 192 elements, overwritten. w and b may be the same storage.
func TileT(out, w []float64, ldw int, b []float64, k int) {
	clear(out[:Rows*Lanes])
	for p := range k {
		bp := b[p*Lanes : p*Lanes+Lanes]
		for r, a := range w[p*ldw : p*ldw+Rows] {
			o := out[r*Lanes : r*Lanes+Lanes]
			for j, v := range bp {
				o[j] = math.FMA(a, v, o[j])
			}
		}
	}
}
