package vec

import "math"

// exp2Coeff are the coefficients of 2^r on [-1/2, 1/2], ascending: a polynomial of
// degree 11 with relative error 7.9e-18 before rounding, found by Remez exchange
// in 60-digit arithmetic with the first three coefficients held at float64 values,
// since their rounding would otherwise dominate.
var exp2Coeff = [12]float64{
	1,
	0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d7049f9cp-5,
	0x1.3b2ab6fba1030p-7, 0x1.5d87fe7908058p-10, 0x1.4309130cb46c8p-13,
	0x1.ffcbfa224411ep-17, 0x1.62bfcb6c1e348p-20, 0x1.b52a2e6a7d33cp-24,
	0x1.e616bdbcff7e1p-28, 0x1.e194a276f24d2p-32,
}

const (
	// exp2Limit and expLimit bound the arguments of Exp2 and Exp, so that the power
	// of two and the result are normal numbers.
	exp2Limit = 1000
	expLimit  = 693
	// log2E + log2ELow is the binary logarithm of e to 106 bits.
	log2E    = math.Log2E
	log2ELow = 0x1.777d0ffda0d24p-56
)

// Exp2 returns 2^x for -1000 <= x <= 1000; an argument beyond is taken as the
// limit, so the result is never zero and never infinite. With f the integer
// nearest to x (ties to even) and r = x - f, exact, it is P(r) * 2^f, where P is
// evaluated by Horner's rule with fused multiply-adds. The error is below one unit
// in the last place.
func Exp2(x float64) float64 { return exp2(bounded(x, exp2Limit), 0) }

// Exp returns e^x for -693 <= x <= 693; an argument beyond is taken as the limit.
// The product x*log2(e) is taken in two parts,
//
//	h = x*log2E;  l = fma(x, log2ELow, fma(x, log2E, -h)),
//
// and l is added to r before the polynomial of [Exp2], so the error stays below
// one unit in the last place.
func Exp(x float64) float64 { return exp2(inBinary(bounded(x, expLimit))) }

// bounded is x within the limit of both signs. NaN stays.
func bounded(x, limit float64) float64 {
	if x > limit {
		return limit
	}
	if x < -limit {
		return -limit
	}
	return x
}

// inBinary is x*log2(e) in two parts.
func inBinary(x float64) (h, low float64) {
	h = float64(x * log2E)
	return h, fma(x, log2ELow, fma(x, log2E, -h))
}

// exp2 returns 2^(x+low), |x| <= exp2Limit and low far below one.
func exp2(x, low float64) float64 {
	r, shifted := reduced(x, low)
	p := exp2Coeff[11]
	for i := 10; i >= 0; i-- {
		p = fma(p, r, exp2Coeff[i])
	}
	return p * power(shifted)
}

// exp2 replaces each q by [exp2] of it and its low.
func (q *row) exp2(low *row) {
	for j := 0; j < Lanes; j += 4 {
		r0, f0 := reduced(q[j], low[j])
		r1, f1 := reduced(q[j+1], low[j+1])
		r2, f2 := reduced(q[j+2], low[j+2])
		r3, f3 := reduced(q[j+3], low[j+3])
		p0 := exp2Coeff[11]
		p1, p2, p3 := p0, p0, p0
		for i := 10; i >= 0; i-- {
			c := exp2Coeff[i]
			p0 = fma(p0, r0, c)
			p1 = fma(p1, r1, c)
			p2 = fma(p2, r2, c)
			p3 = fma(p3, r3, c)
		}
		q[j], q[j+1], q[j+2], q[j+3] = p0*power(f0), p1*power(f1), p2*power(f2), p3*power(f3)
	}
}

// reduced takes the nearest integer (ties to even) off x and adds low. The integer stands in the
// low bits of shifted.
func reduced(x, low float64) (r, shifted float64) {
	shifted = x + roundToInt
	return x - (shifted - roundToInt) + low, shifted
}

// power is two to the integer that stands in the low bits of shifted.
func power(shifted float64) float64 {
	return math.Float64frombits((math.Float64bits(shifted) + 1023) << 52)
}
