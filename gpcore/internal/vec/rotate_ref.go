package vec

// Four rows are rotated at a time, column by column, so that t is read and written once for
// all of them; the rows that are left go one by one.
func rotateRef(t, dst, src []float64, ld int, cs []float64) {
	for len(cs) > 8 {
		rotateFour(t, dst, src, ld, (*[8]float64)(cs))
		dst, src, cs = dst[4*ld:], src[4*ld:], cs[8:]
	}
	if len(cs) == 8 {
		rotateFour(t, dst, src, ld, (*[8]float64)(cs))
		return
	}
	for r := range len(cs) / 2 {
		rotateOne(t, dst[r*ld:], src[r*ld:], cs[2*r], cs[2*r+1])
	}
}

func rotateFour(t, dst, src []float64, ld int, cs *[8]float64) {
	n := len(t)
	f0, f1, f2, f3 := src[:n], src[ld:][:n], src[2*ld:][:n], src[3*ld:][:n]
	d0, d1, d2, d3 := dst[:n], dst[ld:][:n], dst[2*ld:][:n], dst[3*ld:][:n]
	c0, s0, c1, s1, c2, s2, c3, s3 := cs[0], cs[1], cs[2], cs[3], cs[4], cs[5], cs[6], cs[7]
	for j, v := range t {
		w := f0[j]
		d0[j] = fma(-c0, v, float64(s0*w))
		v = fma(s0, v, float64(c0*w))
		w = f1[j]
		d1[j] = fma(-c1, v, float64(s1*w))
		v = fma(s1, v, float64(c1*w))
		w = f2[j]
		d2[j] = fma(-c2, v, float64(s2*w))
		v = fma(s2, v, float64(c2*w))
		w = f3[j]
		d3[j] = fma(-c3, v, float64(s3*w))
		t[j] = fma(s3, v, float64(c3*w))
	}
}

func rotateOne(t, dst, src []float64, c, s float64) {
	src, dst = src[:len(t)], dst[:len(t)]
	for j, v := range t {
		w := src[j]
		dst[j] = fma(-c, v, float64(s*w))
		t[j] = fma(s, v, float64(c*w))
	}
}

func rankOneRef(z, w []float64, ld int, abg []float64) {
	for len(abg) > 6 {
		rankOneTwo(z, w, w[ld:], (*[6]float64)(abg))
		w, abg = w[2*ld:], abg[6:]
	}
	if len(abg) == 6 {
		rankOneTwo(z, w, w[ld:], (*[6]float64)(abg))
		return
	}
	rankOneOne(z, w, abg[0], abg[1], abg[2])
}

// rankOneTwo updates two rows, column by column.
func rankOneTwo(z, w0, w1 []float64, abg *[6]float64) {
	a0, b0, g0, a1, b1, g1 := abg[0], abg[1], abg[2], abg[3], abg[4], abg[5]
	w0, w1 = w0[:len(z)], w1[:len(z)]
	for j, v := range z {
		w := w0[j]
		w0[j] = fma(a0, w, float64(b0*v))
		v = fma(g0, w, v)
		w = w1[j]
		w1[j] = fma(a1, w, float64(b1*v))
		z[j] = fma(g1, w, v)
	}
}

func rankOneOne(z, row []float64, a, b, g float64) {
	row = row[:len(z)]
	for j, v := range z {
		w := row[j]
		row[j] = fma(a, w, float64(b*v))
		z[j] = fma(g, w, v)
	}
}
