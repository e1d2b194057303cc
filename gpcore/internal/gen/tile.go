package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileForm tells the three tile products apart.
type tileForm struct {
	transposed bool // rows of the product are columns of w
	squares    bool // squares are added to running sums instead of a store
	more       bool // the product is added to what out holds
}

// tile writes an 8 x 24 product. It is covered by register blocks of 8 x 24
// (512 bits: 24 accumulators, 3 of b, 4 of w) or four of 4 x 12 (256 bits: 12
// accumulators, 3 of b, 1 of w); k is the innermost loop. Blocks of the upper
// rows come first, so sums of squares run down the rows in order.
func (t *tier) tile(name string, f tileForm) {
	target, effect := "out", "stores"
	if f.squares {
		target, effect = "sum", "adds the squares of"
	}
	if f.more {
		effect = "continues"
	}
	t.begin(name, target+", w *float64, ldw int, b *float64, k int",
		effect+" an 8 x 24 tile product; k > 0.")
	out, w, b, k := t.param(target), t.param("w"), t.param("b"), t.param("k")
	ld := t.bytes(t.param("ldw"))
	m := rows{base: w, ld: ld}
	if !f.transposed {
		m = t.matrix(w, ld, t.blockRows())
	}
	if t.wide {
		t.block(f, m, b, out, k)
		t.end()
		return
	}
	down := t.constant(2)
	t.repeat(down, func() {
		across := t.constant(2)
		t.repeat(across, func() {
			top := m
			top.base = t.copyOf(w)
			t.block(f, top, t.copyOf(b), out, t.copyOf(k))
			t.advance(b, rowBytes/2)
			t.advance(out, rowBytes/2)
		})
		t.advance(b, -rowBytes)
		if f.squares {
			t.advance(out, -rowBytes)
		} else {
			t.advance(out, 3*rowBytes)
		}
		if f.transposed {
			t.advance(w, 32)
		} else {
			t.LEAQ(operand.Mem{Base: w, Index: ld, Scale: 4}, w)
		}
	})
	t.end()
}

func (t *tier) blockRows() int { return t.width() }

// block is one register block. The pointers in m, b and k are used up.
func (t *tier) block(f tileForm, m rows, b, out, k reg.GPVirtual) {
	acc := make([][]reg.VecVirtual, t.blockRows())
	for i := range acc {
		acc[i] = t.vectors(3)
		if !f.more {
			t.clear(acc[i]...)
			continue
		}
		for j, v := range acc[i] {
			t.VMOVUPD(at(out, i*rowBytes+j*t.size()), v)
		}
	}
	bv := t.vectors(3)
	wv := t.vectors(t.width() / 2)
	if !t.wide {
		wv = wv[:1]
	}
	t.repeat(k, func() {
		for j, v := range bv {
			t.VMOVUPD(at(b, j*t.size()), v)
		}
		for i := range acc {
			a, from := wv[i%len(wv)], at(m.base, 8*i)
			if !f.transposed {
				from = m.row(i, 0)
			}
			t.VBROADCASTSD(from, a)
			for j, v := range bv {
				t.VFMADD231PD(v, a, acc[i][j])
			}
		}
		t.advance(b, rowBytes)
		if f.transposed {
			// Every row is on its own page, which no hardware fetches ahead.
			t.PREFETCHT0(operand.Mem{Base: m.base, Index: m.ld, Scale: 8})
			t.ADDQ(m.ld, m.base)
			return
		}
		for _, p := range m.pointers() {
			t.advance(p, 8)
		}
	})
	for j, v := range bv {
		place := at(out, j*t.size())
		if !f.squares {
			for i := range acc {
				place.Disp = i*rowBytes + j*t.size()
				t.VMOVUPD(acc[i][j], place)
			}
			continue
		}
		t.VMOVUPD(place, v)
		for i := range acc {
			t.VFMADD231PD(acc[i][j], acc[i][j], v)
		}
		t.VMOVUPD(v, place)
	}
}

// combine writes the weighted sum of the rows of a panel.
func (t *tier) combine() {
	t.begin("combine", "sum, weights, panel *float64, n int",
		"sums n rows of a panel with weights; n > 0.")
	sum, weights, panel, n := t.param("sum"), t.param("weights"), t.param("panel"), t.param("n")
	acc := t.vectors(laneCount / t.width())
	t.clear(acc...)
	a := t.vector()
	t.repeat(n, func() {
		t.VBROADCASTSD(at(weights, 0), a)
		for j, v := range acc {
			t.VFMADD231PD(at(panel, j*t.size()), a, v)
		}
		t.advance(weights, 8)
		t.advance(panel, rowBytes)
	})
	for j, v := range acc {
		t.VMOVUPD(v, at(sum, j*t.size()))
	}
	t.end()
}

// addSquares writes running sums of squares of the columns of a panel.
func (t *tier) addSquares() {
	t.begin("addSquares", "sum, panel *float64, n int",
		"adds the squares of n rows of a panel to 24 sums; n > 0.")
	sum, panel, n := t.param("sum"), t.param("panel"), t.param("n")
	acc := t.vectors(laneCount / t.width())
	for j, v := range acc {
		t.VMOVUPD(at(sum, j*t.size()), v)
	}
	t.repeat(n, func() {
		for j, a := range acc {
			v := t.vector()
			t.VMOVUPD(at(panel, j*t.size()), v)
			t.VFMADD231PD(v, v, a)
		}
		t.advance(panel, rowBytes)
	})
	for j, v := range acc {
		t.VMOVUPD(v, at(sum, j*t.size()))
	}
	t.end()
}
