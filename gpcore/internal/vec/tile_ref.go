package vec

import "math"

func tileRef(out, w []float64, ldw int, b []float64, k int) {
	for r := range Rows {
		o := out[r*Lanes : r*Lanes+Lanes]
		clear(o)
		for p := range k {
			a := w[r*ldw+p]
			for j, v := range b[p*Lanes : p*Lanes+Lanes] {
				o[j] = math.FMA(a, v, o[j])
			}
		}
	}
}

func tileSquaresRef(sum, w []float64, ldw int, b []float64, k int) {
	var t [Rows * Lanes]float64
	tileRef(t[:], w, ldw, b, k)
	addSquaresRef(sum, t[:], Rows)
}

func tileTRef(out, w []float64, ldw int, b []float64, k int) {
	clear(out[:Rows*Lanes])
	for p := range k {
		bp := b[p*Lanes : p*Lanes+Lanes]
		for r, a := range w[p*ldw : p*ldw+Rows] {
			o := out[r*Lanes : r*Lanes+Lanes]
			for j, v := range bp {
				o[j] = math.FMA(a, v, o[j])
			}
		}
	}
}
