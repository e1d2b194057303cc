//go:build !purego

package vec

import "golang.org/x/sys/cpu"

func tile(out, w []float64, ldw int, b []float64, k int) {
	switch active {
	case AVX512:
		tileAVX512(&out[0], &w[0], ldw, &b[0], k)
	case AVX2:
		tileInPieces(out, w, ldw, b, k)
	default:
		tileRef(out, w, ldw, b, k)
	}
}

func tileSquares(sum, w []float64, ldw int, b []float64, k int) {
	switch active {
	case AVX512:
		tileSquaresAVX512(&sum[0], &w[0], ldw, &b[0], k)
	case AVX2:
		tileSquaresInPieces(sum, w, ldw, b, k)
	default:
		tileSquaresRef(sum, w, ldw, b, k)
	}
}

func tileT(out, w []float64, ldw int, b []float64, k int) {
	switch active {
	case AVX512:
		tileTAVX512(&out[0], &w[0], ldw, &b[0], k)
	case AVX2:
		tileTInPieces(out, w, ldw, b, k)
	default:
		tileTRef(out, w, ldw, b, k)
	}
}

// piece is the length of a product whose operands, 24 and 8 columns, stay in a
// first cache of 32 KiB while the AVX2 kernels go over them twice.
const piece = 128

func tileInPieces(out, w []float64, ldw int, b []float64, k int) {
	tileAVX2(&out[0], &w[0], ldw, &b[0], min(k, piece))
	for p := piece; p < k; p += piece {
		tileMoreAVX2(&out[0], &w[p], ldw, &b[p*Lanes], min(k-p, piece))
	}
}

func tileTInPieces(out, w []float64, ldw int, b []float64, k int) {
	tileTAVX2(&out[0], &w[0], ldw, &b[0], min(k, piece))
	for p := piece; p < k; p += piece {
		tileTMoreAVX2(&out[0], &w[p*ldw], ldw, &b[p*Lanes], min(k-p, piece))
	}
}

func tileSquaresInPieces(sum, w []float64, ldw int, b []float64, k int) {
	if k <= piece {
		tileSquaresAVX2(&sum[0], &w[0], ldw, &b[0], k)
		return
	}
	var out [Rows * Lanes]float64
	tileInPieces(out[:], w, ldw, b, k)
	addSquaresAVX2(&sum[0], &out[0], Rows)
}

func dots8(l, w []float64, ldw int, x []float64) {
	switch active {
	case AVX512:
		dots8AVX512(&l[0], &w[0], ldw, &x[0], len(x))
	case AVX2:
		dots8AVX2(&l[0], &w[0], ldw, &x[0], len(x))
	default:
		dots8Ref(l, w, ldw, x)
	}
}

func axpy(y []float64, a float64, x []float64) {
	switch active {
	case AVX512:
		axpyAVX512(&y[0], a, &x[0], len(y))
	case AVX2:
		axpyAVX2(&y[0], a, &x[0], len(y))
	default:
		axpyRef(y, a, x)
	}
}

func axpys8(y, w []float64, ldw int, l []float64) {
	switch active {
	case AVX512:
		axpys8AVX512(&y[0], &w[0], ldw, &l[0], len(y))
	case AVX2:
		axpys8AVX2(&y[0], &w[0], ldw, &l[0], len(y))
	default:
		axpys8Ref(y, w, ldw, l)
	}
}

func combine(sum, weights, panel []float64) {
	switch active {
	case AVX512:
		combineAVX512(&sum[0], &weights[0], &panel[0], len(weights))
	case AVX2:
		combineAVX2(&sum[0], &weights[0], &panel[0], len(weights))
	default:
		combineRef(sum, weights, panel)
	}
}

func addSquares(sum, panel []float64, n int) {
	switch active {
	case AVX512:
		addSquaresAVX512(&sum[0], &panel[0], n)
	case AVX2:
		addSquaresAVX2(&sum[0], &panel[0], n)
	default:
		addSquaresRef(sum, panel, n)
	}
}

func multiply(dst, src []float64) {
	switch active {
	case AVX512:
		multiplyAVX512(&dst[0], &src[0], len(dst))
	case AVX2:
		multiplyAVX2(&dst[0], &src[0], len(dst))
	default:
		multiplyRef(dst, src)
	}
}

func dot(x, y []float64) float64 {
	switch active {
	case AVX512:
		return dotAVX512(&x[0], &y[0], len(x))
	case AVX2:
		return dotAVX2(&x[0], &y[0], len(x))
	}
	return dotRef(x, y)
}

func rotate(t, dst, src []float64, ld int, cs []float64) {
	if active == Reference {
		rotateRef(t, dst, src, ld, cs)
		return
	}
	n, rows := len(t), len(cs)/2
	for r := 0; r < rows; {
		d, s, c := &dst[r*ld], &src[r*ld], &cs[2*r]
		four := r+4 <= rows
		switch {
		case four && active == AVX512:
			rotate4AVX512(&t[0], d, s, ld, c, n)
		case four:
			rotate4AVX2(&t[0], d, s, ld, c, n)
		case active == AVX512:
			rotate1AVX512(&t[0], d, s, ld, c, n)
		default:
			rotate1AVX2(&t[0], d, s, ld, c, n)
		}
		r += step(four)
	}
}

func rankOne(z, w []float64, ld int, abg []float64) {
	if active == Reference {
		rankOneRef(z, w, ld, abg)
		return
	}
	n, rows := len(z), len(abg)/3
	for r := 0; r < rows; {
		v, c := &w[r*ld], &abg[3*r]
		four := r+4 <= rows
		switch {
		case four && active == AVX512:
			rankOne4AVX512(&z[0], v, ld, c, n)
		case four:
			rankOne4AVX2(&z[0], v, ld, c, n)
		case active == AVX512:
			rankOne1AVX512(&z[0], v, ld, c, n)
		default:
			rankOne1AVX2(&z[0], v, ld, c, n)
		}
		r += step(four)
	}
}

// step is the number of rows that a kernel takes.
func step(four bool) int {
	if four {
		return 4
	}
	return 1
}

func moments(g, s []float64, p *Pairs) {
	for i := range p.D {
		switch active {
		case AVX512:
			momentsAVX512(&g[i*Lanes], &s[0], &p.Lanes[i*Lanes], &p.Rows[i], p.D, p.N)
		case AVX2:
			momentsAVX2(&g[i*Lanes], &s[0], &p.Lanes[i*Lanes], &p.Rows[i], p.D, p.N)
		default:
			momentsRef(g, s, p)
			return
		}
	}
}

func fillPanel(f function, p *Pairs) {
	var s spare
	switch active {
	case AVX512:
		a := p.args(&s)
		fillAVX512(f, &a)
	case AVX2:
		a := pairArgsAVX2{pairArgs: p.args(&s)}
		fillAVX2(f, &a.pairArgs)
	default:
		p.fillRef(f)
	}
}

func fillAVX512(f function, a *pairArgs) {
	switch f {
	case gaussian:
		gaussianAVX512(a)
	case matern52:
		matern52AVX512(a)
	case matern32:
		matern32AVX512(a)
	case exponential:
		exponentialAVX512(a)
	case distances:
		distancesAVX512(a)
	case inner:
		innerAVX512(a)
	}
}

func fillAVX2(f function, a *pairArgs) {
	switch f {
	case gaussian:
		gaussianAVX2(a)
	case matern52:
		matern52AVX2(a)
	case matern32:
		matern32AVX2(a)
	case exponential:
		exponentialAVX2(a)
	case distances:
		distancesAVX2(a)
	case inner:
		innerAVX2(a)
	}
}

func waves(sum []float64, w *Waves, lanes []float64) {
	switch active {
	case AVX512:
		wavesAVX512(&sum[0], &w.Omega[0], &w.Shift[0], &w.Weight[0], &lanes[0], w.N, w.D)
	case AVX2:
		wavesAVX2(&sum[0], &w.Omega[0], &w.Shift[0], &w.Weight[0], &lanes[0], w.N, w.D)
	default:
		wavesRef(sum, w, lanes)
	}
}

func accelerated() []Tier {
	var t []Tier
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		t = append(t, AVX2)
		if x.HasAVX512F && x.HasBMI2 {
			t = append(t, AVX512)
		}
	}
	return t
}

func powers(q, low *row) { q.exp2(low) }
