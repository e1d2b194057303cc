package vec

import "math"

func rotateRef(t, dst, src []float64, ld int, cs []float64) {
	n := len(t)
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

func rankOneRef(z, w []float64, ld int, abg []float64) {
	n := len(z)
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
