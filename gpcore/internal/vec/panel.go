package vec

import "math"

// Combine adds the rows of a panel with weights:
//
//	sum[j] = sum over k < len(weights) of weights[k] * panel[k*24+j],
//
// one chain of fused multiply-adds over ascending k from +0. sum has 24 elements,
// overwritten.
func Combine(sum, weights, panel []float64) {
	s := sum[:Lanes]
	clear(s)
	for k, a := range weights {
		for j, v := range panel[k*Lanes : k*Lanes+Lanes] {
			s[j] = math.FMA(a, v, s[j])
		}
	}
}

// SumSquares sets sum[j] to the sum over k < n of panel[k*24+j]^2, one chain of
// fused multiply-adds over ascending k from +0.
func SumSquares(sum, panel []float64, n int) {
	s := sum[:Lanes]
	clear(s)
	for k := range n {
		for j, v := range panel[k*Lanes : k*Lanes+Lanes] {
			s[j] = math.FMA(v, v, s[j])
		}
	}
}

// Multiply multiplies element by element: dst[i] = dst[i]*src[i] for i < len(dst).
func Multiply(dst, src []float64) {
	for i, v := range src[:len(dst)] {
		dst[i] = float64(dst[i] * v)
	}
}

// Moments adds to g (d x 24) the weighted differences of lanes and rows:
//
//	g[i*24+j] = fma(s[k*24+j], p.Lanes[i*24+j]-p.Rows[k*d+i], g[i*24+j])
//
// over ascending k < p.N. The weights s are an n x 24 panel. Of p only Rows, Lanes, N
// and D matter.
func Moments(g, s []float64, p *Pairs) {
	for i := range p.D {
		gi, lane := g[i*Lanes:i*Lanes+Lanes], p.Lanes[i*Lanes:i*Lanes+Lanes]
		for k := range p.N {
			x := p.Rows[k*p.D+i]
			for j, v := range s[k*Lanes : k*Lanes+Lanes] {
				gi[j] = math.FMA(v, lane[j]-x, gi[j])
			}
		}
	}
}
