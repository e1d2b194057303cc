package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential holds what the exponential keeps in registers: at 512 bits all
// coefficients, at 256 bits only what cannot come from memory.
type exponential struct {
	*tier
	limit reg.VecVirtual // of the argument
	magic reg.VecVirtual // 256 bits only
	coeff []reg.VecVirtual
}

// newExponential loads the registers; limit is the place of the bound.
func (t *tier) newExponential(limit int) exponential {
	e := exponential{tier: t, limit: t.register(limit)}
	if !t.wide {
		e.magic = t.register(magicAt)
		return e
	}
	for i := range exp2Coeff {
		e.coeff = append(e.coeff, t.register(i))
	}
	return e
}

// exp2 returns 2^(x+low), |x| within bounds; low may be nil. The registers in x
// are used up.
func (e exponential) exp2(x, low []reg.VecVirtual) []reg.VecVirtual {
	t := e.tier
	f, p := t.vectors(len(x)), t.vectors(len(x))
	for j := range x {
		e.split(x[j], f[j])
		if low != nil {
			t.VADDPD(low[j], x[j], x[j])
		}
	}
	for j := range x {
		if t.wide {
			t.VMOVAPD(e.coeff[topAt], p[j])
		} else {
			t.VMOVUPD(constantAt(topAt), p[j])
		}
	}
	for i := topAt - 1; i >= 0; i-- {
		for j := range x {
			if t.wide {
				t.VFMADD213PD(e.coeff[i], x[j], p[j])
			} else {
				t.VFMADD213PD(constantAt(i), x[j], p[j])
			}
		}
	}
	for j := range x {
		if t.wide {
			t.VSCALEFPD(f[j], p[j], p[j])
			continue
		}
		// The integer stands in the low bits of f: add it to the exponent.
		t.VPSLLQ(operand.Imm(52), f[j], f[j])
		t.VPADDQ(f[j], p[j], p[j])
	}
	return p
}

// split sets f to the integer nearest to x, at 256 bits plus the magic number,
// and subtracts the integer from x.
func (e exponential) split(x, f reg.VecVirtual) {
	if e.wide {
		e.VRNDSCALEPD(operand.Imm(8), x, f)
		e.VSUBPD(f, x, x)
		return
	}
	whole := e.vector()
	e.VADDPD(e.magic, x, f)
	e.VSUBPD(e.magic, f, whole)
	e.VSUBPD(whole, x, x)
}

// expNegative returns exp(-u), u >= 0, with the product -u*log2(e) in two parts.
// The registers in u are used up.
func (e exponential) expNegative(u []reg.VecVirtual) []reg.VecVirtual {
	x, low := make([]reg.VecVirtual, len(u)), e.vectors(len(u))
	for j := range u {
		// A NaN is the second source and stays.
		e.VMINPD(u[j], e.limit, u[j])
		x[j] = e.mulConstant(negLog2EAt, u[j])
		e.VMOVAPD(x[j], low[j])
		e.fmsConstant(low[j], u[j], negLog2EAt)
		e.fmaConstant(low[j], u[j], negLog2ELowAt)
	}
	return e.exp2(x, low)
}
