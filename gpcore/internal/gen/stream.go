package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// axpy writes y += a x.
func (t *tier) axpy() {
	t.begin("axpy", "y *float64, a float64, x *float64, n int", "is y += a x over n columns.")
	y, x, n := t.param("y"), t.param("x"), t.param("n")
	a := t.scalar("a")
	t.sweep(n, []reg.GPVirtual{y, x}, func(c columns) {
		v := c.load(at(y, 0))
		c.fmaMem(v, a, at(x, 0))
		c.store(v, at(y, 0))
	})
	t.end()
}

// scalar broadcasts a float64 parameter.
func (t *tier) scalar(name string) reg.VecVirtual {
	x := t.Load(t.Param(name), t.XMM())
	v := t.vector()
	t.VBROADCASTSD(x, v)
	return v
}

// axpys8 writes y += sum of l_r w_r over eight rows, in two chains.
func (t *tier) axpys8() {
	t.begin("axpys8", "y, w *float64, ldw int, l *float64, n int",
		"adds eight rows of w times l to y, over n columns.")
	y, w, l, n := t.param("y"), t.param("w"), t.param("l"), t.param("n")
	m := t.matrix(w, t.bytes(t.param("ldw")), rowCount)
	f := make([]reg.VecVirtual, rowCount)
	for r := range f {
		f[r] = t.broadcast(at(l, 8*r))
	}
	t.sweep(n, append(m.pointers(), y), func(c columns) {
		a := c.load(at(y, 0))
		b := c.mul(f[4], c.load(m.row(4, 0)))
		for r := range 4 {
			c.fmaMem(a, f[r], m.row(r, 0))
			if r > 0 {
				c.fmaMem(b, f[4+r], m.row(4+r, 0))
			}
		}
		c.add(a, b)
		c.store(a, at(y, 0))
	})
	t.end()
}

// rotate writes plane rotations of t with count rows of src.
func (t *tier) rotate(name string, count int) {
	t.begin(name, "t, dst, src *float64, ld int, cs *float64, n int",
		"carries t through rows of src into dst, over n columns.")
	carried, dst, src, cs, n := t.param("t"), t.param("dst"), t.param("src"), t.param("cs"), t.param("n")
	from := t.matrix(src, t.bytes(t.param("ld")), count)
	to := from
	to.base = dst
	cos, sin := make([]reg.VecVirtual, count), make([]reg.VecVirtual, count)
	for r := range count {
		cos[r], sin[r] = t.broadcast(at(cs, 16*r)), t.broadcast(at(cs, 16*r+8))
	}
	ahead := from
	ahead.base = t.GP64()
	t.LEAQ(operand.Mem{Base: src, Index: from.ld, Scale: uint8(count)}, ahead.base)
	t.sweep(n, []reg.GPVirtual{carried, src, dst, ahead.base}, func(c columns) {
		tv := c.load(at(carried, 0))
		for r := range count {
			w := c.load(from.row(r, 0))
			if c.whole() {
				// The rows after these are on pages of their own, which no hardware fetches
				// ahead. Nothing faults where there are none.
				t.PREFETCHT1(ahead.row(r, 0))
			}
			o, next := c.mul(sin[r], w), c.mul(cos[r], w)
			c.fnma(o, cos[r], tv)
			c.fma(next, sin[r], tv)
			c.store(o, to.row(r, 0))
			tv = next
		}
		c.store(tv, at(carried, 0))
	})
	t.end()
}

// rankOne writes rank-one updates of count rows of w, which z is carried through.
func (t *tier) rankOne(name string, count int) {
	t.begin(name, "z, w *float64, ld int, abg *float64, n int",
		"updates rows of w and carries z through them, over n columns.")
	carried, w, abg, n := t.param("z"), t.param("w"), t.param("abg"), t.param("n")
	m := t.matrix(w, t.bytes(t.param("ld")), count)
	f := make([]reg.VecVirtual, 3*count)
	for i := range f {
		f[i] = t.broadcast(at(abg, 8*i))
	}
	t.sweep(n, []reg.GPVirtual{carried, w}, func(c columns) {
		z := c.load(at(carried, 0))
		for r := range count {
			v := c.load(m.row(r, 0))
			o := c.mul(f[3*r+1], z)
			c.fma(o, f[3*r], v)
			c.fma(z, f[3*r+2], v)
			c.store(o, m.row(r, 0))
		}
		c.store(z, at(carried, 0))
	})
	t.end()
}

// multiply writes the product of two arrays, element by element.
func (t *tier) multiply() {
	t.begin("multiply", "dst, src *float64, n int", "is dst *= src over n elements.")
	dst, src, n := t.param("dst"), t.param("src"), t.param("n")
	t.sweep(n, []reg.GPVirtual{dst, src}, func(c columns) {
		c.store(c.mul(c.load(at(src, 0)), c.load(at(dst, 0))), at(dst, 0))
	})
	t.end()
}
