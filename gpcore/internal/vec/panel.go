package vec

// Combine adds the rows of a panel with weights:
//
//	sum[j] = sum over k < len(weights) of weights[k] * panel[k*24+j],
//
// one chain of fused multiply-adds over ascending k from +0. sum has 24 elements,
// overwritten.
func Combine(sum, weights, panel []float64) {
	n := len(weights)
	covered(len(sum) >= Lanes && covers(panel, n, Lanes, Lanes), "vec: Combine: a slice is too short")
	if n == 0 {
		clear(sum[:Lanes])
		return
	}
	combine(sum, weights, panel)
}

// SumSquares sets sum[j] to the sum over k < n of panel[k*24+j]^2, one chain of
// fused multiply-adds over ascending k from +0.
func SumSquares(sum, panel []float64, n int) {
	covered(len(sum) >= Lanes && covers(panel, n, Lanes, Lanes), "vec: SumSquares: a slice is too short")
	clear(sum[:Lanes])
	if n > 0 {
		addSquares(sum, panel, n)
	}
}

// Multiply multiplies element by element: dst[i] = dst[i]*src[i] for i < len(dst).
func Multiply(dst, src []float64) {
	covered(len(src) >= len(dst), "vec: Multiply: src is shorter than dst")
	if len(dst) > 0 {
		multiply(dst, src)
	}
}

// Moments adds to g (d x 24) the weighted differences of lanes and rows:
//
//	g[i*24+j] = fma(s[k*24+j], p.Lanes[i*24+j]-p.Rows[k*d+i], g[i*24+j])
//
// over ascending k < p.N. The weights s are an n x 24 panel. Of p only Rows, Lanes, N
// and D matter.
func Moments(g, s []float64, p *Pairs) {
	if p.N <= 0 || p.D <= 0 {
		return
	}
	covered(covers(g, p.D, Lanes, Lanes) && covers(s, p.N, Lanes, Lanes) &&
		covers(p.Lanes, p.D, Lanes, Lanes) && covers(p.Rows, p.N, p.D, p.D), "vec: Moments: a slice is too short")
	moments(g, s, p)
}
