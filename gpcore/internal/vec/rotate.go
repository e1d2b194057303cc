package vec

// Rotate carries t through consecutive rows of src by plane rotations and writes
// the rotated rows to dst. There are len(cs)/2 rows; row r has the cosine-like
// pair c = cs[2r], s = cs[2r+1], and for every column j < len(t), in row order:
//
//	dst[r*ld+j] = fma(-c, t[j], s*src[r*ld+j])
//	t[j]        = fma( s, t[j], c*src[r*ld+j])
//
// dst and src have the same stride, which separates the rows (ld >= len(t) where
// there are several), and may overlap in one way only: row r+1 of dst is row r of
// src, at the same column or one column further left. Taking rows one after the
// other, every element is then read before it is written; taking a few columns of
// all rows and moving to the right does the same.
//
// Four rows at a time are fastest.
func Rotate(t, dst, src []float64, ld int, cs []float64) {
	n, rows := len(t), len(cs)/2
	if n == 0 || rows == 0 {
		return
	}
	covered(covers(src, rows, n, ld) && covers(dst, rows, n, ld), "vec: Rotate: a slice is too short")
	covered(rows == 1 || ld >= n, "vec: Rotate: the stride is less than the number of columns")
	rotate(t, dst, src, ld, cs[:2*rows])
}

// RankOne updates consecutive rows of w in place and carries z through them.
// There are len(abg)/3 rows; row r has a = abg[3r], b = abg[3r+1], g = abg[3r+2],
// and for every column j < len(z), in row order, with v the old w[r*ld+j]:
//
//	w[r*ld+j] = fma(a, v, b*z[j])
//	z[j]      = fma(g, v, z[j])
//
// The stride separates the rows: ld >= len(z) where there are several. Four rows
// at a time are fastest.
func RankOne(z, w []float64, ld int, abg []float64) {
	n, rows := len(z), len(abg)/3
	if n == 0 || rows == 0 {
		return
	}
	covered(covers(w, rows, n, ld), "vec: RankOne: w is too short")
	covered(rows == 1 || ld >= n, "vec: RankOne: the stride is less than the number of columns")
	rankOne(z, w, ld, abg[:3*rows])
}
