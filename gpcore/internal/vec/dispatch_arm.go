//go:build !purego

package vec

import "golang.org/x/sys/cpu"

func tile(out, w []float64, ldw int, b []float64, k int) {
	if active == Reference {
		tileRef(out, w, ldw, b, k)
		return
	}
	tileVFPv4(&out[0], &w[0], ldw, &b[0], k)
}

func tileSquares(sum, w []float64, ldw int, b []float64, k int) {
	if active == Reference {
		tileSquaresRef(sum, w, ldw, b, k)
		return
	}
	var t [Rows * Lanes]float64
	tileVFPv4(&t[0], &w[0], ldw, &b[0], k)
	addSquaresVFPv4(&sum[0], &t[0], Rows)
}

func tileT(out, w []float64, ldw int, b []float64, k int) {
	if active == Reference {
		tileTRef(out, w, ldw, b, k)
		return
	}
	tileTVFPv4(&out[0], &w[0], ldw, &b[0], k)
}

func dot(x, y []float64) float64 {
	if active == Reference {
		return dotRef(x, y)
	}
	return dotVFPv4(&x[0], &y[0], len(x))
}

func dots8(l, w []float64, ldw int, x []float64) {
	if active == Reference {
		dots8Ref(l, w, ldw, x)
		return
	}
	for r := range Rows {
		l[r] = dotVFPv4(&x[0], &w[r*ldw], len(x))
	}
}

func axpys8(y, w []float64, ldw int, l []float64) {
	if active == Reference {
		axpys8Ref(y, w, ldw, l)
		return
	}
	axpys8VFPv4(&y[0], &w[0], ldw, &l[0], len(y))
}

func combine(sum, weights, panel []float64) {
	if active == Reference {
		combineRef(sum, weights, panel)
		return
	}
	combineVFPv4(&sum[0], &weights[0], &panel[0], len(weights))
}

func addSquares(sum, panel []float64, n int) {
	if active == Reference {
		addSquaresRef(sum, panel, n)
		return
	}
	addSquaresVFPv4(&sum[0], &panel[0], n)
}

func rotate(t, dst, src []float64, ld int, cs []float64) {
	if active == Reference {
		rotateRef(t, dst, src, ld, cs)
		return
	}
	r, rows := 0, len(cs)/2
	for ; r+4 <= rows; r += 4 {
		rotate4VFPv4(&t[0], &dst[r*ld], &src[r*ld], ld, &cs[2*r], len(t))
	}
	for ; r < rows; r++ {
		rotateOne(t, dst[r*ld:], src[r*ld:], cs[2*r], cs[2*r+1])
	}
}

// powersAndRounding are the coefficients of the exponential, then the number that rounds.
var powersAndRounding = func() (c [len(exp2Coeff) + 1]float64) {
	copy(c[:], exp2Coeff[:])
	c[len(exp2Coeff)] = roundToInt
	return c
}()

func powers(q, low *row) {
	if active == Reference {
		q.exp2(low)
		return
	}
	powersVFPv4(&q[0], &low[0], &powersAndRounding[0])
}

// For the rest there is only the reference.

func axpy(y []float64, a float64, x []float64)       { axpyRef(y, a, x) }
func rankOne(z, w []float64, ld int, abg []float64)  { rankOneRef(z, w, ld, abg) }
func multiply(dst, src []float64)                    { multiplyRef(dst, src) }
func moments(g, s []float64, p *Pairs)               { momentsRef(g, s, p) }
func fillPanel(f function, p *Pairs)                 { p.fillRef(f) }
func waves(sum []float64, w *Waves, lanes []float64) { wavesRef(sum, w, lanes) }

func accelerated() []Tier {
	if cpu.ARM.HasVFPv4 {
		return []Tier{VFPv4}
	}
	return nil
}
