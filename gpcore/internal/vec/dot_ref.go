package vec

func dotRef(x, y []float64) float64 {
	var p0, p1, p2, p3, p4, p5, p6, p7 float64
	y = y[:len(x)]
	for len(x) >= 8 && len(y) >= 8 {
		a, b := (*[8]float64)(x), (*[8]float64)(y)
		p0 = fma(a[0], b[0], p0)
		p1 = fma(a[1], b[1], p1)
		p2 = fma(a[2], b[2], p2)
		p3 = fma(a[3], b[3], p3)
		p4 = fma(a[4], b[4], p4)
		p5 = fma(a[5], b[5], p5)
		p6 = fma(a[6], b[6], p6)
		p7 = fma(a[7], b[7], p7)
		x, y = x[8:], y[8:]
	}
	p := [8]float64{p0, p1, p2, p3, p4, p5, p6, p7}
	for q, v := range x {
		p[q&7] = fma(v, y[q], p[q&7])
	}
	return ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]))
}

func dots8Ref(l, w []float64, ldw int, x []float64) {
	for r := range Rows {
		l[r] = dotRef(x, w[r*ldw:])
	}
}

func axpyRef(y []float64, a float64, x []float64) {
	x = x[:len(y)]
	for j, v := range x {
		y[j] = fma(a, v, y[j])
	}
}

func axpys8Ref(y, w []float64, ldw int, l []float64) {
	n := len(y)
	row := func(r int) []float64 { return w[r*ldw:][:n] }
	w0, w1, w2, w3, w4, w5, w6, w7 := row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
	l0, l1, l2, l3, l4, l5, l6, l7 := l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7]
	for j, v := range y {
		a := fma(l0, w0[j], v)
		b := float64(l4 * w4[j])
		a = fma(l1, w1[j], a)
		b = fma(l5, w5[j], b)
		a = fma(l2, w2[j], a)
		b = fma(l6, w6[j], b)
		a = fma(l3, w3[j], a)
		b = fma(l7, w7[j], b)
		y[j] = a + b
	}
}
