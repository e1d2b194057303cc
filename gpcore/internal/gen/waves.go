package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const wavesSignature = "sum *float64, omega *float64, shift *float64, weight *float64, lanes *float64, n int, d int"

const wavesDoc = "adds n weighted cosines at 24 lanes of d coordinates; see Waves. n > 0, d > 0."

// waves writes the sum of cosines: for each wave its arguments at all lanes, their cosines, and the
// sums, in registers at 512 bits and else in memory.
func (t *tier) waves() {
	t.begin("waves", wavesSignature, wavesDoc)
	sum, omega, shift, weight := t.param("sum"), t.param("omega"), t.param("shift"), t.param("weight")
	lanes, n, d := t.param("lanes"), t.param("n"), t.param("d")
	count := laneCount / t.width()
	var sums []reg.VecVirtual
	if t.wide {
		sums = t.vectors(count)
		for j := range sums {
			t.VMOVUPD(at(sum, j*t.size()), sums[j])
		}
	}
	lane, left := t.GP64(), t.GP64()
	t.repeat(n, func() {
		x := t.vectors(count)
		for j := range x {
			t.VBROADCASTSD(at(shift, 0), x[j])
		}
		t.MOVQ(lanes, lane)
		t.MOVQ(d, left)
		t.repeat(left, func() {
			w := t.broadcast(at(omega, 0))
			for j := range x {
				p := t.vector()
				t.VMULPD(at(lane, j*t.size()), w, p)
				t.VADDPD(p, x[j], x[j])
			}
			t.advance(omega, 8)
			t.advance(lane, rowBytes)
		})
		a := t.broadcast(at(weight, 0))
		for j := range x {
			c := t.cosine(x[j])
			t.VMULPD(c, a, c)
			if t.wide {
				t.VADDPD(c, sums[j], sums[j])
				continue
			}
			t.VADDPD(at(sum, j*t.size()), c, c)
			t.VMOVUPD(c, at(sum, j*t.size()))
		}
		t.advance(shift, 8)
		t.advance(weight, 8)
	})
	for j := range sums {
		t.VMOVUPD(sums[j], at(sum, j*t.size()))
	}
	t.end()
}

// cosine is the cosine of x, as vec.Cos has it; x is used up.
func (t *tier) cosine(x reg.VecVirtual) reg.VecVirtual {
	shifted, k, p := t.vector(), t.vector(), t.vector()
	t.mulConstant(inversePiAt, x, shifted)
	t.addConstant(magicAt, shifted, shifted)
	t.subConstant(magicAt, shifted, k)
	for _, part := range []int{pi1At, pi2At, pi3At} {
		t.mulConstant(part, k, p)
		t.VSUBPD(p, x, x)
	}
	s, q := t.vector(), t.vector()
	t.VMULPD(x, x, s)
	t.VMULPD(s, s, q)
	horner := func(top int) reg.VecVirtual {
		v := t.vector()
		t.mulConstant(cosineAt+top-1, q, v)
		for i := top - 2; i > 0; i -= 2 {
			t.addConstant(cosineAt+i-1, v, v)
			if i > 1 {
				t.VMULPD(q, v, v)
			}
		}
		return v
	}
	even, odd := horner(cosineTerms), horner(cosineTerms-1)
	t.VMULPD(s, odd, odd)
	t.VADDPD(even, odd, odd)
	t.addConstant(oneAt, odd, odd)
	t.VPSLLQ(operand.Imm(63), shifted, shifted)
	if t.wide {
		t.VPXORQ(shifted, odd, odd)
	} else {
		t.VXORPD(shifted, odd, odd)
	}
	return odd
}
