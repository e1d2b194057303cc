//go:build !purego

package vec

func tile(out, w []float64, ldw int, b []float64, k int) {
	if active == Reference {
		tileRef(out, w, ldw, b, k)
		return
	}
	tileNEON(&out[0], &w[0], ldw, &b[0], k)
}

func tileSquares(sum, w []float64, ldw int, b []float64, k int) {
	if active == Reference {
		tileSquaresRef(sum, w, ldw, b, k)
		return
	}
	tileSquaresNEON(&sum[0], &w[0], ldw, &b[0], k)
}

func tileT(out, w []float64, ldw int, b []float64, k int) {
	if active == Reference {
		tileTRef(out, w, ldw, b, k)
		return
	}
	tileTNEON(&out[0], &w[0], ldw, &b[0], k)
}

func dots8(l, w []float64, ldw int, x []float64) {
	if active == Reference {
		dots8Ref(l, w, ldw, x)
		return
	}
	dots8NEON(&l[0], &w[0], ldw, &x[0], len(x))
}

func axpy(y []float64, a float64, x []float64) {
	if active == Reference {
		axpyRef(y, a, x)
		return
	}
	axpyNEON(&y[0], a, &x[0], len(y))
}

func axpys8(y, w []float64, ldw int, l []float64) {
	if active == Reference {
		axpys8Ref(y, w, ldw, l)
		return
	}
	axpys8NEON(&y[0], &w[0], ldw, &l[0], len(y))
}

func combine(sum, weights, panel []float64) {
	if active == Reference {
		combineRef(sum, weights, panel)
		return
	}
	combineNEON(&sum[0], &weights[0], &panel[0], len(weights))
}

func addSquares(sum, panel []float64, n int) {
	if active == Reference {
		addSquaresRef(sum, panel, n)
		return
	}
	addSquaresNEON(&sum[0], &panel[0], n)
}

func multiply(dst, src []float64) {
	if active == Reference {
		multiplyRef(dst, src)
		return
	}
	multiplyNEON(&dst[0], &src[0], len(dst))
}

func dot(x, y []float64) float64 {
	if active == Reference {
		return dotRef(x, y)
	}
	return dotNEON(&x[0], &y[0], len(x))
}

func rotate(t, dst, src []float64, ld int, cs []float64) {
	if active == Reference {
		rotateRef(t, dst, src, ld, cs)
		return
	}
	r, rows := 0, len(cs)/2
	for ; r+4 <= rows; r += 4 {
		rotate4NEON(&t[0], &dst[r*ld], &src[r*ld], ld, &cs[2*r], len(t))
	}
	for ; r < rows; r++ {
		rotate1NEON(&t[0], &dst[r*ld], &src[r*ld], ld, &cs[2*r], len(t))
	}
}

func rankOne(z, w []float64, ld int, abg []float64) {
	if active == Reference {
		rankOneRef(z, w, ld, abg)
		return
	}
	r, rows := 0, len(abg)/3
	for ; r+4 <= rows; r += 4 {
		rankOne4NEON(&z[0], &w[r*ld], ld, &abg[3*r], len(z))
	}
	for ; r < rows; r++ {
		rankOne1NEON(&z[0], &w[r*ld], ld, &abg[3*r], len(z))
	}
}

func moments(g, s []float64, p *Pairs) {
	if active == Reference {
		momentsRef(g, s, p)
		return
	}
	for i := range p.D {
		momentsNEON(&g[i*Lanes], &s[0], &p.Lanes[i*Lanes], &p.Rows[i], p.D, p.N)
	}
}

func fillPanel(f function, p *Pairs) {
	if active == Reference {
		p.fillRef(f)
		return
	}
	var s spare
	a := p.args(&s)
	switch f {
	case gaussian:
		gaussianNEON(&a)
	case matern52:
		matern52NEON(&a)
	case matern32:
		matern32NEON(&a)
	case exponential:
		exponentialNEON(&a)
	case distances:
		distancesNEON(&a)
	case inner:
		innerNEON(&a)
	}
}

func waves(sum []float64, w *Waves, lanes []float64) {
	if active == Reference {
		wavesRef(sum, w, lanes)
		return
	}
	wavesNEON(&sum[0], &w.Omega[0], &w.Shift[0], &w.Weight[0], &lanes[0], w.N, w.D)
}

// Every arm64 processor has NEON.
func accelerated() []Tier { return []Tier{NEON} }

func powers(q, low *row) { q.exp2(low) }
