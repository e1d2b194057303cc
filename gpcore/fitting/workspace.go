package fitting

import (
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Workspace is the memory of fits that come one after the other, one at a time: for n observations two matrices of n x n
// and some 450 n numbers (2 MB for 256), with room for up to twice as many, and for 128 at least. Its zero value has none
// yet. What a fit finds depends on its problem alone, to the last bit.
type Workspace struct {
	m           *model.Model
	noise       []float64
	ones, resid []float64 // W 1 and W (y - mean)
	alpha       []float64 // K^-1 (y - mean)
	v, u        []float64 // panels for K^-1
	here, along []float64 // K alpha, and its derivative by a parameter
	whitened    []float64 // W times each of these
}

// fewObservations is the least number that a workspace has room for; it doubles.
const fewObservations = 128

// take makes room for n observations and so many free parameters.
func (w *Workspace) take(k kernels.Kernel, n, free int) {
	if w.m == nil || w.m.Points.Cap < n {
		capacity := fewObservations
		for capacity < n {
			capacity *= 2
		}
		w.m = model.New(k, capacity)
	}
	c := vec.Up24(n)
	w.noise, w.here = vec.Grown(w.noise, n), vec.Grown(w.here, n)
	for _, s := range []*[]float64{&w.ones, &w.resid, &w.alpha, &w.along} {
		*s = vec.Grown(*s, c)
		clear((*s)[n:]) // what is beyond the observations weighs nothing
	}
	w.v, w.u = vec.Grown(w.v, c*vec.Lanes), vec.Grown(w.u, c*vec.Lanes)
	w.whitened = vec.Grown(w.whitened, free*c)
}
