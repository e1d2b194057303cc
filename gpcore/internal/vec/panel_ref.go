package vec

// The sums over a panel are made for a few lanes at a time, which a processor holds in registers
// over all rows. A lane's sum takes the rows in ascending order, whatever the other lanes do.
const (
	sumLanes    = 8
	momentLanes = 4
)

func combineRef(sum, weights, panel []float64) {
	for j := 0; j < Lanes; j += sumLanes {
		combineLanes((*[sumLanes]float64)(sum[j:]), weights, panel[j:])
	}
}

func combineLanes(sum *[sumLanes]float64, weights, panel []float64) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	at := 0
	for _, a := range weights {
		v := (*[sumLanes]float64)(panel[at:])
		s0 = fma(a, v[0], s0)
		s1 = fma(a, v[1], s1)
		s2 = fma(a, v[2], s2)
		s3 = fma(a, v[3], s3)
		s4 = fma(a, v[4], s4)
		s5 = fma(a, v[5], s5)
		s6 = fma(a, v[6], s6)
		s7 = fma(a, v[7], s7)
		at += Lanes
	}
	*sum = [sumLanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func addSquaresRef(sum, panel []float64, n int) {
	for j := 0; j < Lanes; j += sumLanes {
		addSquaresLanes((*[sumLanes]float64)(sum[j:]), panel[j:], n)
	}
}

func addSquaresLanes(sum *[sumLanes]float64, panel []float64, n int) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]
	at := 0
	for range n {
		v := (*[sumLanes]float64)(panel[at:])
		s0 = fma(v[0], v[0], s0)
		s1 = fma(v[1], v[1], s1)
		s2 = fma(v[2], v[2], s2)
		s3 = fma(v[3], v[3], s3)
		s4 = fma(v[4], v[4], s4)
		s5 = fma(v[5], v[5], s5)
		s6 = fma(v[6], v[6], s6)
		s7 = fma(v[7], v[7], s7)
		at += Lanes
	}
	*sum = [sumLanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func multiplyRef(dst, src []float64) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float64(dst[i] * v)
	}
}

func momentsRef(g, s []float64, p *Pairs) {
	for i := range p.D {
		for j := 0; j < Lanes; j += momentLanes {
			at := i*Lanes + j
			momentsOfLanes((*[momentLanes]float64)(g[at:]), (*[momentLanes]float64)(p.Lanes[at:]), s[j:], p.Rows[i:], p.D, p.N)
		}
	}
}

// momentsOfLanes adds to g the differences of four lanes and n rows, which are d apart, with weights s.
func momentsOfLanes(g, lane *[momentLanes]float64, s, rows []float64, d, n int) {
	g0, g1, g2, g3 := g[0], g[1], g[2], g[3]
	l0, l1, l2, l3 := lane[0], lane[1], lane[2], lane[3]
	at, row := 0, 0
	for range n {
		x, v := rows[row], (*[momentLanes]float64)(s[at:])
		g0 = fma(v[0], l0-x, g0)
		g1 = fma(v[1], l1-x, g1)
		g2 = fma(v[2], l2-x, g2)
		g3 = fma(v[3], l3-x, g3)
		at += Lanes
		row += d
	}
	*g = [momentLanes]float64{g0, g1, g2, g3}
}
