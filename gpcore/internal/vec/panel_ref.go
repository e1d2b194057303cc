package vec

import "math"

func combineRef(sum, weights, panel []float64) {
	s := sum[:Lanes]
	clear(s)
	for k, a := range weights {
		for j, v := range panel[k*Lanes : k*Lanes+Lanes] {
			s[j] = math.FMA(a, v, s[j])
		}
	}
}

func addSquaresRef(sum, panel []float64, n int) {
	s := sum[:Lanes]
	for k := range n {
		for j, v := range panel[k*Lanes : k*Lanes+Lanes] {
			s[j] = math.FMA(v, v, s[j])
		}
	}
}

func multiplyRef(dst, src []float64) {
	for i, v := range src[:len(dst)] {
		dst[i] = float64(dst[i] * v)
	}
}

func momentsRef(g, s []float64, p *Pairs) {
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
