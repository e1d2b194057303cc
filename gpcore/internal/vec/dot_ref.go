package vec

import "math"

func dotRef(x, y []float64) float64 {
	var p [8]float64
	y = y[:len(x)]
	j := 0
	for ; j+8 <= len(x); j += 8 {
		a, b := x[j:j+8:j+8], y[j:j+8:j+8]
		p[0] = math.FMA(a[0], b[0], p[0])
		p[1] = math.FMA(a[1], b[1], p[1])
		p[2] = math.FMA(a[2], b[2], p[2])
		p[3] = math.FMA(a[3], b[3], p[3])
		p[4] = math.FMA(a[4], b[4], p[4])
		p[5] = math.FMA(a[5], b[5], p[5])
		p[6] = math.FMA(a[6], b[6], p[6])
		p[7] = math.FMA(a[7], b[7], p[7])
	}
	for q := 0; j < len(x); j, q = j+1, q+1 {
		p[q] = math.FMA(x[j], y[j], p[q])
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
		y[j] = math.FMA(a, v, y[j])
	}
}

func axpys8Ref(y, w []float64, ldw int, l []float64) {
	n := len(y)
	var row [Rows][]float64
	for r := range row {
		row[r] = w[r*ldw : r*ldw+n]
	}
	for j := range y {
		a := math.FMA(l[0], row[0][j], y[j])
		b := float64(l[4] * row[4][j])
		a = math.FMA(l[1], row[1][j], a)
		b = math.FMA(l[5], row[5][j], b)
		a = math.FMA(l[2], row[2][j], a)
		b = math.FMA(l[6], row[6][j], b)
		a = math.FMA(l[3], row[3][j], a)
		b = math.FMA(l[7], row[7][j], b)
		y[j] = a + b
	}
}
