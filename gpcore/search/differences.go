package search

import "github.com/labtuner/tuner/gpcore/internal/vec"

// differences takes gradients by central differences, one-sided at the bounds.
type differences struct {
	o     Objective
	b     *box
	x     []float64
	value []float64
}

func (f *differences) gradients(dst, grad, x []float64) {
	d := len(f.b.low)
	f.x = f.x[:0]
	for k := range dst {
		row := x[k*d : (k+1)*d]
		f.x = append(f.x, row...)
		for i, v := range row {
			h := 1e-6 * (f.b.high[i] - f.b.low[i])
			for _, u := range [2]float64{max(v-h, f.b.low[i]), min(v+h, f.b.high[i])} {
				f.x = append(f.x, row...)
				f.x[len(f.x)-d+i] = u
			}
		}
	}
	f.value = vec.Grown(f.value, len(f.x)/d)
	f.o.Values(f.value, f.x)
	each := 2*d + 1
	for k := range dst {
		dst[k] = f.value[k*each]
		for i := range d {
			at := k*each + 1 + 2*i
			width := f.x[(at+1)*d+i] - f.x[at*d+i]
			if grad[k*d+i] = 0; width > 0 {
				grad[k*d+i] = (f.value[at+1] - f.value[at]) / width
			}
		}
	}
}
