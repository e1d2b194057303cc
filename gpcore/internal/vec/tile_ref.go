package vec

// The products of a tile are made in blocks of two rows by four lanes: eight sums, which a
// processor holds in registers over all k terms. Each sum takes its terms in ascending order,
// so the bits are those of any other tier.
const (
	blockRows  = 2
	blockLanes = 4
)

func tileRef(out, w []float64, ldw int, b []float64, k int) {
	for j := 0; j < Lanes; j += blockLanes {
		for r := 0; r < Rows; r += blockRows {
			at := r*Lanes + j
			block(out[at:], w[r*ldw:], w[(r+1)*ldw:], b[j:], k)
		}
	}
}

// block writes the first two rows and four lanes of out: the sums over p < k of w0[p] and of
// w1[p] with four lanes of row p of b.
func block(out, w0, w1, b []float64, k int) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	w1 = w1[:k]
	for p, x := range w0[:k] {
		y := w1[p]
		v := b[p*Lanes : p*Lanes+blockLanes : p*Lanes+blockLanes]
		a0 = fma(x, v[0], a0)
		a1 = fma(x, v[1], a1)
		a2 = fma(x, v[2], a2)
		a3 = fma(x, v[3], a3)
		b0 = fma(y, v[0], b0)
		b1 = fma(y, v[1], b1)
		b2 = fma(y, v[2], b2)
		b3 = fma(y, v[3], b3)
	}
	put(out, a0, a1, a2, a3, b0, b1, b2, b3)
}

// put writes a block's sums.
func put(out []float64, a0, a1, a2, a3, b0, b1, b2, b3 float64) {
	o := out[:Lanes+blockLanes]
	o[0], o[1], o[2], o[3] = a0, a1, a2, a3
	o[Lanes], o[Lanes+1], o[Lanes+2], o[Lanes+3] = b0, b1, b2, b3
}

func tileSquaresRef(sum, w []float64, ldw int, b []float64, k int) {
	var t [Rows * Lanes]float64
	tileRef(t[:], w, ldw, b, k)
	addSquaresRef(sum, t[:], Rows)
}

func tileTRef(out, w []float64, ldw int, b []float64, k int) {
	for j := 0; j < Lanes; j += blockLanes {
		for r := 0; r < Rows; r += blockRows {
			blockT(out[r*Lanes+j:], w[r:], ldw, b[j:], k)
		}
	}
}

// blockT is block for two columns of w, whose rows are ldw apart.
func blockT(out, w []float64, ldw int, b []float64, k int) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	for p := range k {
		x, y := w[p*ldw], w[p*ldw+1]
		v := b[p*Lanes : p*Lanes+blockLanes : p*Lanes+blockLanes]
		a0 = fma(x, v[0], a0)
		a1 = fma(x, v[1], a1)
		a2 = fma(x, v[2], a2)
		a3 = fma(x, v[3], a3)
		b0 = fma(y, v[0], b0)
		b1 = fma(y, v[1], b1)
		b2 = fma(y, v[2], b2)
		b3 = fma(y, v[3], b3)
	}
	put(out, a0, a1, a2, a3, b0, b1, b2, b3)
}
