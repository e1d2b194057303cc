package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dot product has eight partial sums: one 512-bit register, or two of 256 bits.
// The last, incomplete group of columns goes to the first partial sums under a
// mask; the others keep even the sign of their zeros.

// dot writes a single dot product.
func (t *tier) dot() {
	t.begin("dot", "x, y *float64, n int) (sum float64", "is the dot product of n elements.")
	x, y, n := t.param("x"), t.param("y"), t.param("n")
	p := t.partials(rows{base: y}, 1, x, n)
	s := t.total(p[0])
	t.Store(s, t.ReturnIndex(0))
	t.end()
}

// dots8 writes eight dot products with one x.
func (t *tier) dots8() {
	t.begin("dots8", "l, w *float64, ldw int, x *float64, n int",
		"is the dot products of eight rows of w with x, over n columns.")
	l, w, x, n := t.param("l"), t.param("w"), t.param("x"), t.param("n")
	ld := t.bytes(t.param("ldw"))
	if t.wide {
		p := t.partials(t.matrix(w, ld, rowCount), rowCount, x, n)
		t.totals8(p, at(l, 0))
		t.end()
		return
	}
	quads := t.constant(2)
	m := t.matrix(w, ld, 4)
	t.repeat(quads, func() {
		top := m
		top.base = t.copyOf(w)
		p := t.partials(top, 4, t.copyOf(x), t.copyOf(n))
		t.totals4(p, at(l, 0))
		t.advance(l, 32)
		t.LEAQ(operand.Mem{Base: w, Index: ld, Scale: 4}, w)
	})
	t.end()
}

// partials returns the partial sums of some rows: p[r] has one register or two.
func (t *tier) partials(m rows, count int, x, n reg.GPVirtual) [][]reg.VecVirtual {
	p := make([][]reg.VecVirtual, count)
	for r := range p {
		p[r] = t.vectors(rowCount / t.width())
		t.clear(p[r]...)
	}
	tail, done := t.label("tail"), t.label("done")
	rest := t.copyOf(n)
	t.ANDQ(operand.Imm(7), rest)
	t.SHRQ(operand.Imm(3), n)
	t.jz(tail)
	t.repeat(n, func() {
		for h := range p[0] {
			v := t.vector()
			t.VMOVUPD(at(x, h*t.size()), v)
			for r := range p {
				t.VFMADD231PD(m.row(r, h*t.size()), v, p[r][h])
			}
		}
		t.advance(x, 64)
		for _, q := range m.pointers() {
			t.advance(q, 64)
		}
	})
	t.Label(tail)
	t.TESTQ(rest, rest)
	t.jz(done)
	if t.wide {
		t.maskedTail(m, p, x, rest)
	} else {
		t.blendedTail(m, p, x, rest)
	}
	t.Label(done)
	return p
}

func (t *tier) maskedTail(m rows, p [][]reg.VecVirtual, x, rest reg.GPVirtual) {
	k, v := t.lowMask(rest), t.vector()
	t.VMOVUPD_Z(at(x, 0), k, v)
	for r := range p {
		t.VFMADD231PD(m.row(r, 0), v, k, p[r][0])
	}
}

func (t *tier) blendedTail(m rows, p [][]reg.VecVirtual, x, rest reg.GPVirtual) {
	table := t.GP64()
	t.LEAQ(maskTable(), table)
	t.SHLQ(operand.Imm(3), rest)
	t.SUBQ(rest, table)
	for h := range p[0] {
		mask, v := t.vector(), t.vector()
		t.VMOVUPD(at(table, 64+32*h), mask)
		t.VMASKMOVPD(at(x, 32*h), mask, v)
		for r := range p {
			w, sum := t.vector(), t.vector()
			t.VMASKMOVPD(m.row(r, 32*h), mask, w)
			t.VMOVAPD(p[r][h], sum)
			t.VFMADD231PD(w, v, sum)
			t.VBLENDVPD(mask, sum, p[r][h], p[r][h])
		}
	}
}

// total adds the partial sums of one row.
func (t *tier) total(p []reg.VecVirtual) reg.Register {
	low, high := p[0].AsY(), t.YMM()
	if t.wide {
		t.VEXTRACTF64X4(operand.Imm(1), p[0], high)
	} else {
		high = p[1]
	}
	pairs, upper := t.YMM(), t.XMM()
	t.VHADDPD(high, low, pairs) // p0+p1, p4+p5, p2+p3, p6+p7
	t.VEXTRACTF128(operand.Imm(1), pairs, upper)
	s := pairs.AsX()
	t.VADDPD(upper, s, s)
	t.VHADDPD(s, s, s)
	return s
}

// totals4 adds the partial sums of four rows and stores the four results.
func (t *tier) totals4(p [][]reg.VecVirtual, to operand.Mem) {
	var halves [2]reg.VecVirtual
	for i := range halves {
		a, b, low, high := t.vector(), t.vector(), t.vector(), t.vector()
		t.VHADDPD(p[2*i][1], p[2*i][0], a)
		t.VHADDPD(p[2*i+1][1], p[2*i+1][0], b)
		t.VPERM2F128(operand.Imm(0x20), b, a, low)
		t.VPERM2F128(operand.Imm(0x31), b, a, high)
		t.VADDPD(high, low, low)
		halves[i] = low
	}
	s := t.vector()
	t.VHADDPD(halves[1], halves[0], s) // rows 0, 2, 1, 3
	t.VPERMPD(operand.Imm(0xd8), s, s)
	t.VMOVUPD(s, to)
}

// totals8 adds the partial sums of eight rows and stores the eight results.
func (t *tier) totals8(p [][]reg.VecVirtual, to operand.Mem) {
	// Neighbours: rows 2i and 2i+1 alternate, four pair sums each.
	var pairs []reg.VecVirtual
	for i := range 4 {
		even, odd := t.vector(), t.vector()
		t.VUNPCKLPD(p[2*i+1][0], p[2*i][0], even)
		t.VUNPCKHPD(p[2*i+1][0], p[2*i][0], odd)
		t.VADDPD(odd, even, even)
		pairs = append(pairs, even)
	}
	// 128-bit pieces 0+1 and 2+3 of two registers, then the same once more.
	fold := func(a, b reg.VecVirtual) reg.VecVirtual {
		even, odd := t.vector(), t.vector()
		t.VSHUFF64X2(operand.Imm(0x88), b, a, even)
		t.VSHUFF64X2(operand.Imm(0xdd), b, a, odd)
		t.VADDPD(odd, even, even)
		return even
	}
	s := fold(fold(pairs[0], pairs[1]), fold(pairs[2], pairs[3]))
	t.VMOVUPD(s, to)
}
