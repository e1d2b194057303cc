package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const noSplit = attr.NOSPLIT

// columns is how an element-wise kernel touches the columns at hand: a whole
// vector, a masked vector, or a single element. Every column is computed by the
// same operations whichever it is.
type columns struct {
	*tier
	mask   reg.Register // of a masked vector
	single bool
}

// whole reports whether the columns are a whole vector.
func (c columns) whole() bool { return c.mask == nil && !c.single }

func (c columns) load(m operand.Mem) reg.VecVirtual {
	v := c.vector()
	switch {
	case c.single:
		c.VMOVSD(m, v.AsX())
	case c.mask != nil:
		c.VMOVUPD_Z(m, c.mask, v)
	default:
		c.VMOVUPD(m, v)
	}
	return v
}

func (c columns) store(v reg.VecVirtual, m operand.Mem) {
	switch {
	case c.single:
		c.VMOVSD(v.AsX(), m)
	case c.mask != nil:
		c.VMOVUPD(v, c.mask, m)
	default:
		c.VMOVUPD(v, m)
	}
}

// fma is acc += a*b; fnma is acc -= a*b.
func (c columns) fma(acc, a, b reg.VecVirtual) {
	if c.single {
		c.VFMADD231SD(b.AsX(), a.AsX(), acc.AsX())
		return
	}
	c.VFMADD231PD(b, a, acc)
}

func (c columns) fnma(acc, a, b reg.VecVirtual) {
	if c.single {
		c.VFNMADD231SD(b.AsX(), a.AsX(), acc.AsX())
		return
	}
	c.VFNMADD231PD(b, a, acc)
}

// fmaMem is acc += a*m. A masked memory operand must not be read whole.
func (c columns) fmaMem(acc, a reg.VecVirtual, m operand.Mem) {
	switch {
	case c.single:
		c.VFMADD231SD(m, a.AsX(), acc.AsX())
	case c.mask != nil:
		c.fma(acc, a, c.load(m))
	default:
		c.VFMADD231PD(m, a, acc)
	}
}

// mul is a new register with a*b.
func (c columns) mul(a, b reg.VecVirtual) reg.VecVirtual {
	v := c.vector()
	if c.single {
		c.VMULSD(b.AsX(), a.AsX(), v.AsX())
	} else {
		c.VMULPD(b, a, v)
	}
	return v
}

// add is a += b.
func (c columns) add(a, b reg.VecVirtual) {
	if c.single {
		c.VADDSD(b.AsX(), a.AsX(), a.AsX())
	} else {
		c.VADDPD(b, a, a)
	}
}

// sweep runs body over n columns, n >= 0, from the pointers on. n and the
// pointers are used up.
func (t *tier) sweep(n reg.GPVirtual, pointers []reg.GPVirtual, body func(columns)) {
	tail, done := t.label("tail"), t.label("done")
	rest := t.copyOf(n)
	t.ANDQ(operand.Imm(uint64(t.width()-1)), rest)
	t.SHRQ(operand.Imm(uint64(bits.TrailingZeros(uint(t.width())))), n)
	t.jz(tail)
	t.repeat(n, func() {
		body(columns{tier: t})
		for _, p := range pointers {
			t.advance(p, t.size())
		}
	})
	t.Label(tail)
	t.TESTQ(rest, rest)
	t.jz(done)
	if t.wide {
		body(columns{tier: t, mask: t.lowMask(rest)})
	} else {
		t.repeat(rest, func() {
			body(columns{tier: t, single: true})
			for _, p := range pointers {
				t.advance(p, 8)
			}
		})
	}
	t.Label(done)
}

// lowMask is a mask register with the n lowest bits set, n < 8.
func (t *tier) lowMask(n reg.GPVirtual) reg.Register {
	g, k := t.GP64(), t.K()
	t.MOVQ(operand.I32(-1), g)
	t.BZHIQ(n, g, g)
	t.KMOVW(g.As32(), k)
	return k
}
