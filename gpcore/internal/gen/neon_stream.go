package main

// neonColumns is how an element-wise kernel touches the columns at hand: two, or
// the last one. The other half of a register then computes with zeros in vain.
type neonColumns struct {
	*neon
	single bool
}

// take loads and moves on, or stays where a store to the same place follows.
func (c neonColumns) take(d v, p x) {
	c.peek(d, p)
	c.advance(p, 16)
}

func (c neonColumns) peek(d v, p x) {
	if c.single {
		c.loadOne(d, p, 0)
	} else {
		c.load(d, p, 0)
	}
}

// put stores and moves on.
func (c neonColumns) put(s v, p x) {
	if c.single {
		c.storeOne(s, p, 0)
	} else {
		c.store(s, p, 0)
	}
	c.advance(p, 16)
}

// sweep runs body over n columns, n >= 0; n is used up, count too.
func (a *neon) sweep(n, count x, body func(neonColumns)) {
	tail, done := a.label("tail"), a.label("done")
	a.op("LSR $1, R%d, R%d", n, count)
	a.op("CBZ R%d, %s", count, tail)
	a.repeat(count, func() { body(neonColumns{a, false}) })
	a.place(tail)
	a.op("TBZ $0, R%d, %s", n, done)
	body(neonColumns{a, true})
	a.place(done)
}

func (a *neon) axpy() {
	a.begin("axpy", "is y += a x over n columns.", "", "y *float64", "a float64", "x *float64", "n int")
	const y, from, n, count = x(0), x(2), x(3), x(4)
	a.sweep(n, count, func(c neonColumns) {
		c.take(0, from)
		c.peek(1, y)
		c.fma(1, 0, 31)
		c.put(1, y)
	})
	a.end()
}

func (a *neon) multiply() {
	a.begin("multiply", "is dst *= src over n elements.", "", "dst *float64", "src *float64", "n int")
	const dst, src, n, count = x(0), x(1), x(2), x(3)
	a.sweep(n, count, func(c neonColumns) {
		c.take(0, src)
		c.peek(1, dst)
		c.fmul(1, 1, 0)
		c.put(1, dst)
	})
	a.end()
}

// pointers sets count registers from d on to rows that stand ld bytes apart.
func (a *neon) pointers(d, base, ld x, count int) {
	a.move(d, base)
	for r := range x(count - 1) {
		a.op("ADD R%d, R%d, R%d", ld, d+r, d+r+1)
	}
}

func (a *neon) axpys8() {
	a.begin("axpys8", "adds eight rows of w times l to y, over n columns.", "",
		"y *float64", "w *float64", "ldw int", "l *float64", "n int")
	const y, w, ld, l, n, count, row = x(0), x(1), x(2), x(3), x(4), x(5), x(6)
	a.bytes(ld)
	a.pointers(row, w, ld, rowCount)
	for r := range rowCount {
		a.broadcast(v(16+r), l)
		a.advance(l, 8)
	}
	a.sweep(n, count, func(c neonColumns) {
		for r := range rowCount {
			c.take(v(r), row+x(r))
		}
		c.peek(8, y)
		c.fmul(9, 4, 20)
		for r := range v(4) {
			c.fma(8, r, 16+r)
			if r > 0 {
				c.fma(9, 4+r, 20+r)
			}
		}
		c.fadd(8, 8, 9)
		c.put(8, y)
	})
	a.end()
}

func (a *neon) rotate(name string, rows int) {
	a.begin(name, "carries t through rows of src into dst, over n columns.", "",
		"t *float64", "dst *float64", "src *float64", "ld int", "cs *float64", "n int")
	const carried, dst, src, ld, cs, n, count, from, to = x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(11)
	a.bytes(ld)
	a.pointers(from, src, ld, rows)
	a.pointers(to, dst, ld, rows)
	for i := range 2 * rows {
		a.broadcast(v(16+i), cs)
		a.advance(cs, 8)
	}
	a.sweep(n, count, func(c neonColumns) {
		c.peek(0, carried)
		for r := range rows {
			cos, sin := v(16+2*r), v(17+2*r)
			now, next := v(r%2), v((r+1)%2)
			c.take(2, from+x(r))
			c.fmul(3, sin, 2)
			c.fmul(next, cos, 2)
			c.fnma(3, cos, now)
			c.fma(next, sin, now)
			c.put(3, to+x(r))
		}
		c.put(v(rows%2), carried)
	})
	a.end()
}

func (a *neon) rankOne(name string, rows int) {
	a.begin(name, "updates rows of w and carries z through them, over n columns.", "",
		"z *float64", "w *float64", "ld int", "abg *float64", "n int")
	const carried, w, ld, abg, n, count, row = x(0), x(1), x(2), x(3), x(4), x(5), x(6)
	a.bytes(ld)
	a.pointers(row, w, ld, rows)
	for i := range 3 * rows {
		a.broadcast(v(16+i), abg)
		a.advance(abg, 8)
	}
	a.sweep(n, count, func(c neonColumns) {
		c.peek(0, carried)
		for r := range rows {
			f := v(16 + 3*r)
			c.peek(1, row+x(r))
			c.fmul(2, f+1, 0)
			c.fma(2, f, 1)
			c.fma(0, f+2, 1)
			c.put(2, row+x(r))
		}
		c.put(0, carried)
	})
	a.end()
}
