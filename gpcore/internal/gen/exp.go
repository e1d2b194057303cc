package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential holds what the exponential keeps in registers. At 512 bits that are
// all coefficients. At 256 bits all 24 lanes stand side by side, which hides the
// latency of the polynomial and loads each coefficient once, and the registers are
// short: the integer parts wait in memory.
type exponential struct {
	*tier
	limit   reg.VecVirtual
	magic   reg.VecVirtual   // 256 bits only
	coeff   []reg.VecVirtual // 512 bits only
	waiting operand.Mem      // 24 words
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

// split subtracts from x the nearest integer and returns what scale needs of it:
// at 512 bits the integer in a register, at 256 bits the power of two, as vector j
// of those that wait in memory.
func (e exponential) split(x reg.VecVirtual, j int) operand.Op {
	f := e.vector()
	if e.wide {
		e.VRNDSCALEPD(operand.Imm(8), x, f)
		e.VSUBPD(f, x, x)
		return f
	}
	whole := e.vector()
	e.VADDPD(e.magic, x, f)
	e.VSUBPD(e.magic, f, whole)
	e.VSUBPD(whole, x, x)
	e.VPADDQ(constantAt(biasAt), f, f)
	e.VPSLLQ(operand.Imm(52), f, f)
	m := e.waiting
	m.Disp += j * e.size()
	e.VMOVUPD(f, m)
	return m
}

// scale multiplies p by the power of two that split returned.
func (e exponential) scale(p reg.VecVirtual, f operand.Op) {
	if e.wide {
		e.VSCALEFPD(f, p, p)
	} else {
		e.VMULPD(f, p, p)
	}
}

// polynomial returns 2^x for |x| <= 1/2, scaled by what split returned.
func (e exponential) polynomial(x []reg.VecVirtual, f []operand.Op) []reg.VecVirtual {
	p := e.vectors(len(x))
	for j := range x {
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
		for j := range x {
			e.VFMADD213PD(c, x[j], p[j])
		}
	}
	for j := range x {
		e.scale(p[j], f[j])
	}
	return p
}

// exp2 returns 2^x, x >= -1000 after the bound. The registers in x are used up.
func (e exponential) exp2(x []reg.VecVirtual) []reg.VecVirtual {
	f := make([]operand.Op, len(x))
	for j, v := range x {
		// A NaN is the second source and stays.
		e.VMAXPD(v, e.limit, v)
		f[j] = e.split(v, j)
	}
	return e.polynomial(x, f)
}

// negative reduces u to the argument of the polynomial of exp(-u), in place, with
// the product -u*log2(e) in two parts. 0 <= u <= 693.
func (e exponential) negative(u reg.VecVirtual, j int) operand.Op {
	low, x := e.vector(), e.vector()
	e.mulConstant(negLog2EAt, u, x)
	e.VMOVAPD(x, low)
	e.fmsConstant(low, u, negLog2EAt)
	e.fmaConstant(low, u, negLog2ELowAt)
	f := e.split(x, j)
	e.VADDPD(low, x, u)
	return f
}
