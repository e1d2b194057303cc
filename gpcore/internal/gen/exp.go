package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential holds what the exponential keeps in registers. At 512 bits that are
// all coefficients. At 256 bits a row of a panel is six vectors, whose chains hide
// each other's latency, and each coefficient is loaded once for all; that leaves no
// registers for the powers of two, which wait in memory.
type exponential struct {
	*tier
	limit   reg.VecVirtual
	magic   reg.VecVirtual   // 256 bits only
	coeff   []reg.VecVirtual // 512 bits only
	waiting operand.Mem      // 24 words
}

// reduced is an argument on [-1/2, 1/2] and what scales the result: at 512 bits
// the integer that was taken off, at 256 bits the power of two, in memory.
type reduced struct {
	x     reg.VecVirtual
	scale operand.Op
}

// newExponential loads the registers; limit is the place of the bound.
func (t *tier) newExponential(limit int, waiting operand.Mem) exponential {
	e := exponential{tier: t, limit: t.register(limit), waiting: waiting}
	if !t.wide {
		e.magic = t.register(magicAt)
		return e
	}
	for i := range exp2Coeff {
		e.coeff = append(e.coeff, t.register(i))
	}
	return e
}

// reduce takes the nearest integer off x, in place, which is vector j of a row.
func (e exponential) reduce(x reg.VecVirtual, j int) reduced {
	f := e.vector()
	if e.wide {
		e.VRNDSCALEPD(operand.Imm(8), x, f)
		e.VSUBPD(f, x, x)
		return reduced{x, f}
	}
	whole, m := e.vector(), e.waiting
	m.Disp += j * e.size()
	e.VADDPD(e.magic, x, f)
	e.VSUBPD(e.magic, f, whole)
	e.VSUBPD(whole, x, x)
	// The integer stands in the low bits of f.
	e.VPADDQ(constantAt(biasAt), f, f)
	e.VPSLLQ(operand.Imm(52), f, f)
	e.VMOVUPD(f, m)
	return reduced{x, m}
}

// reduceNegative reduces -u*log2(e), the product in two parts. 0 <= u <= 693.
func (e exponential) reduceNegative(u reg.VecVirtual, j int) reduced {
	low, x := e.vector(), e.vector()
	e.mulConstant(negLog2EAt, u, x)
	e.VMOVAPD(x, low)
	e.fmsConstant(low, u, negLog2EAt)
	e.fmaConstant(low, u, negLog2ELowAt)
	r := e.reduce(x, j)
	e.VADDPD(low, x, x)
	return r
}

// polynomial returns the powers of two of reduced arguments.
func (e exponential) polynomial(r []reduced) []reg.VecVirtual {
	p := e.vectors(len(r))
	for j := range r {
		if e.wide {
			e.VMOVAPD(e.coeff[topAt], p[j])
		} else {
			e.VMOVUPD(constantAt(topAt), p[j])
		}
	}
	for i := topAt - 1; i >= 0; i-- {
		var c reg.VecVirtual
		if e.wide {
			c = e.coeff[i]
		} else {
			c = e.vector()
			e.VMOVUPD(constantAt(i), c)
		}
		for j := range r {
			e.VFMADD213PD(c, r[j].x, p[j])
		}
	}
	for j := range r {
		if e.wide {
			e.VSCALEFPD(r[j].scale, p[j], p[j])
		} else {
			e.VMULPD(r[j].scale, p[j], p[j])
		}
	}
	return p
}
