package vec

func wavesRef(sum []float64, w *Waves, lanes []float64) {
	for i := range w.N {
		addWaveRef(sum, w, i, lanes)
	}
}

// addWaveRef adds wave i.
func addWaveRef(sum []float64, w *Waves, i int, lanes []float64) {
	var t [Lanes]float64
	for j := range t {
		t[j] = w.Shift[i]
		for q, v := range w.Omega[i*w.D : (i+1)*w.D] {
			t[j] += float64(v * lanes[q*Lanes+j])
		}
	}
	Cos(t[:])
	for j, c := range t {
		sum[j] += float64(w.Weight[i] * c)
	}
}
