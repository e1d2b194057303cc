package vec

import "math"

// Waves are N cosines of D coordinates with weights.
type Waves struct {
	Omega         []float64 // N x D, row-major
	Shift, Weight []float64 // N
	N, D          int
	reach         []float64 // the greatest |Omega| of each coordinate, then the greatest |Shift|
}

// Prepare takes up the waves as they are. It comes before Sum and after each change.
func (w *Waves) Prepare() {
	covered(covers(w.Omega, w.N, w.D, w.D) && len(w.Shift) >= w.N && len(w.Weight) >= w.N, "vec: Waves: a slice is too short")
	w.reach = Grown(w.reach, w.D+1)
	clear(w.reach)
	for i := range w.N {
		for q, v := range w.Omega[i*w.D : (i+1)*w.D] {
			w.reach[q] = max(w.reach[q], math.Abs(v))
		}
		w.reach[w.D] = max(w.reach[w.D], math.Abs(w.Shift[i]))
	}
}

// Sum sets sum[j], j < 24, to
//
//	sum over i of Weight[i] cos(Shift[i] + sum over q of Omega[i*D+q] lanes[q*24+j])
//
// where the cosine is that of [Cos], and every product and every sum is rounded, in ascending order
// of q and of i.
func (w *Waves) Sum(sum, lanes []float64) {
	covered(len(sum) >= Lanes && covers(lanes, w.D, Lanes, Lanes), "vec: Waves: a slice is too short")
	clear(sum[:Lanes])
	if w.N <= 0 || w.D <= 0 {
		for i := range w.N {
			addWaveRef(sum, w, i, nil)
		}
		return
	}
	if !w.near(lanes) {
		wavesRef(sum, w, lanes)
		return
	}
	waves(sum, w, lanes)
}

// Each sets dst[i*24+j], i < N and j < 24, to the term of wave i alone in such a sum.
func (w *Waves) Each(dst, lanes []float64) {
	covered(covers(dst, w.N, Lanes, Lanes) && covers(lanes, w.D, Lanes, Lanes), "vec: Waves: a slice is too short")
	near := w.D > 0 && w.near(lanes)
	one := Waves{N: 1, D: w.D}
	for i := range w.N {
		one.Omega, one.Shift, one.Weight = w.Omega[i*w.D:(i+1)*w.D], w.Shift[i:i+1], w.Weight[i:i+1]
		sum := dst[i*Lanes : (i+1)*Lanes]
		clear(sum)
		if near {
			waves(sum, &one, lanes)
		} else {
			addWaveRef(sum, &one, 0, lanes)
		}
	}
}

// near reports whether every argument is one that the cosine reduces itself.
func (w *Waves) near(lanes []float64) bool {
	bound := w.reach[w.D]
	for q, reach := range w.reach[:w.D] {
		far := 0.0
		for _, v := range lanes[q*Lanes : (q+1)*Lanes] {
			far = max(far, math.Abs(v)) // NaN stays
		}
		bound += reach * far
	}
	return bound < cosRange/2
}
