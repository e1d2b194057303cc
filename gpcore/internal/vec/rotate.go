package vec

import "math"

// Rotate carries t through consecutive rows of src by plane rotations and writes
// the rotated rows to dst. There are len(cs)/2 rows; row r has the cosine-like
// pair c = cs[2r], s = cs[2r+1], and for every column j < len(t), in row order:
//
//	dst[r*ld+j] = fma(-c, t[j], s*src[r*ld+j])
//	t[j]        = fma( s, t[j], c*src[r*ld+j])
//
// dst and src have the same stride and may overlap in one way only: row r+1 of
// dst is row r of src, at the same column or one column further left. Taking rows
// one after the other, every element is then read before it is written; taking a
// few columns of all rows and moving to the right does the same.
func Rotate(t, dst, src []float64, ld int, cs []float64) {
	n := len(t)
	if n == 0 {
		return
	}
	for r := range len(cs) / 2 {
		c, s := cs[2*r], cs[2*r+1]
		from, to := src[r*ld:r*ld+n], dst[r*ld:r*ld+n]
		for j, tj := range t {
			w := from[j]
			to[j] = math.FMA(-c, tj, float64(s*w))
			t[j] = math.FMA(s, tj, float64(c*w))
		}
	}
}

// RankOne updates consecutive rows of w in place and carries z through them.
// There are len(abg)/3 rows; row r has a = abg[3r], b = abg[3r+1], g = abg[3r+2],
// and for every column j < len(z), in row order, with v the old w[r*ld+j]:
//
//	w[r*ld+j] = fma(a, v, b*z[j])
//	z[j]      = fma(g, v, z[j])
func RankOne(z, w []float64, ld int, abg []float64) {
	n := len(z)
	if n == 0 {
		return
	}
	for r := range len(abg) / 3 {
		a, b, g := abg[3*r], abg[3*r+1], abg[3*r+2]
		row := w[r*ld : r*ld+n]
		for j, zj := range z {
			v := row[j]
			row[j] = math.FMA(a, v, float64(b*zj))
			z[j] = math.FMA(g, v, zj)
		}
	}
}
