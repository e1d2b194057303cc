package vec

func wavesRef(sum []float64, w *Waves, lanes []float64) {
	for i := range w.N {
		addWaveRef(sum, w, i, lanes)
	}
}

// addWaveRef adds wave i.
func addWaveRef(sum []float64, w *Waves, i int, lanes []float64) {
	var t row
	for j := range t {
		t[j] = w.Shift[i]
	}
	for q, v := range w.Omega[i*w.D : (i+1)*w.D] {
		t.addRounded(v, (*row)(lanes[q*Lanes:]))
	}
	Cos(t[:])
	(*row)(sum).addRounded(w.Weight[i], &t)
}

// addRounded adds a times x, a product that is rounded.
func (q *row) addRounded(a float64, x *row) {
	for j := 0; j < Lanes; j += 4 {
		q[j] += float64(a * x[j])
		q[j+1] += float64(a * x[j+1])
		q[j+2] += float64(a * x[j+2])
		q[j+3] += float64(a * x[j+3])
	}
}
