package main

import "strings"

// waves writes the sum of cosines, twelve lanes at a time.
func (a *neon) waves() {
	a.begin("waves", wavesDoc, "", strings.Split(wavesSignature, ", ")...)
	const sum, omega, shift, weight, lanes, n, d, table, at, lane, left = x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9), x(10)
	const factor, product, first = v(6), v(7), v(16) // first of the constants
	const vectors = laneCount / 4                    // in half a panel
	a.op("MOVD $constants<>(SB), R%d", table)
	places := []int{oneAt, magicAt, inversePiAt, pi1At, pi2At, pi3At}
	for i := range cosineTerms {
		places = append(places, cosineAt+i)
	}
	for i, place := range places {
		a.constant(first+v(i), table, place)
	}
	a.repeat(n, func() {
		for half := range 2 {
			a.move(at, omega)
			a.move(lane, lanes)
			a.advance(lane, half*rowBytes/2)
			for j := range v(vectors) {
				a.broadcast(j, shift)
			}
			a.move(left, d)
			a.repeat(left, func() {
				a.broadcast(factor, at)
				for j := range v(vectors) {
					a.load(product, lane, 16*int(j))
					a.fmul(product, product, factor)
					a.fadd(j, j, product)
				}
				a.advance(at, 8)
				a.advance(lane, rowBytes)
			})
			a.broadcast(factor, weight)
			for j := range v(vectors) {
				c := neonCosine(a, j, first)
				a.fmul(c, c, factor)
				a.load(product, sum, half*rowBytes/2+16*int(j))
				a.fadd(c, product, c)
				a.store(c, sum, half*rowBytes/2+16*int(j))
			}
		}
		a.move(omega, at)
		a.advance(shift, 8)
		a.advance(weight, 8)
	})
	a.end()
}

// neonCosine is the cosine of x, which is used up, in registers 7 to 13. The constants stand from register
// first on, in the order of waves.
func neonCosine(a *neon, x, first v) v {
	const p, shifted, k, s, q, even, odd = v(7), v(8), v(9), v(10), v(11), v(12), v(13)
	one, magic, inversePi, pi1, coefficient := first, first+1, first+2, first+3, first+5 // of x^2 comes after it
	a.fmul(shifted, x, inversePi)
	a.fadd(shifted, shifted, magic)
	a.fsub(k, shifted, magic)
	for part := range v(3) {
		a.fmul(p, k, pi1+part)
		a.fsub(x, x, p)
	}
	a.fmul(s, x, x)
	a.fmul(q, s, s)
	horner := func(d v, top v) {
		a.fmul(d, q, coefficient+top)
		for i := top - 2; i > 0; i -= 2 {
			a.fadd(d, d, coefficient+i)
			if i > 1 {
				a.fmul(d, d, q)
			}
		}
	}
	horner(even, cosineTerms)
	horner(odd, cosineTerms-1)
	a.fmul(odd, odd, s)
	a.fadd(odd, odd, even)
	a.fadd(odd, odd, one)
	a.shiftLeft(shifted, 63)
	a.op("VEOR V%d.B16, V%d.B16, V%d.B16", shifted, odd, odd)
	return odd
}
