package vec

// Tile multiplies eight rows of w by k rows of panel b:
//
//	out[r*24+j] = sum over p < k of w[r*ldw+p] * b[p*24+j],   r < 8, j < 24.
//
// out has 192 elements, overwritten. 384*k operations.
func Tile(out, w []float64, ldw int, b []float64, k int) {
	covered(covers(out, Rows, Lanes, Lanes) && covers(w, Rows, k, ldw) && covers(b, k, Lanes, Lanes),
		"vec: Tile: a slice is too short")
	if k <= 0 {
		clear(out[:Rows*Lanes])
		return
	}
	tile(out, w, ldw, b, k)
}

// TileSquares adds the squares of a tile product, row by row from the first, to
// 24 running sums:
//
//	sum[j] = fma(t, t, sum[j]) with t = (w b)[r][j], for r = 0, 1, ..., 7.
func TileSquares(sum, w []float64, ldw int, b []float64, k int) {
	if k <= 0 {
		return
	}
	covered(len(sum) >= Lanes && covers(w, Rows, k, ldw) && covers(b, k, Lanes, Lanes),
		"vec: TileSquares: a slice is too short")
	tileSquares(sum, w, ldw, b, k)
}

// TileT multiplies the transpose of a block of w with k rows and eight columns
// by k rows of panel b:
//
//	out[r*24+j] = sum over p < k of w[p*ldw+r] * b[p*24+j],   r < 8, j < 24.
//
// out has 192 elements, overwritten. w and b may be the same storage.
func TileT(out, w []float64, ldw int, b []float64, k int) {
	covered(covers(out, Rows, Lanes, Lanes) && covers(w, k, Rows, ldw) && covers(b, k, Lanes, Lanes),
		"vec: TileT: a slice is too short")
	if k <= 0 {
		clear(out[:Rows*Lanes])
		return
	}
	tileT(out, w, ldw, b, k)
}
