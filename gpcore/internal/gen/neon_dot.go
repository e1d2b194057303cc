package main

import "fmt"

// The partial sums of row r are in v(4r) to v(4r+3), x in v16 to v19.

func (a *neon) dot() {
	a.begin("dot", "is the dot product of n elements.", "sum float64", "x *float64", "y *float64", "n int")
	const from, row, n, rest = x(0), x(1), x(2), x(3)
	a.partials(dotRows{from, row, n, rest, 1})
	a.totals(0, 0)
	a.op("FMOVD F0, sum+24(FP)")
	a.end()
}

func (a *neon) dots8() {
	a.begin("dots8", "is the dot products of eight rows of w with x, over n columns.", "",
		"l *float64", "w *float64", "ldw int", "x *float64", "n int")
	const l, w, ld, from, n, quads, cursor, count, rest, row = x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9)
	a.bytes(ld)
	a.set(quads, 2)
	a.repeat(quads, func() {
		a.move(cursor, from)
		a.move(count, n)
		a.pointers(row, w, ld, 4)
		a.partials(dotRows{cursor, row, count, rest, 4})
		a.totals(0, 4)
		a.totals(8, 12)
		a.store(0, l, 0)
		a.store(8, l, 16)
		a.advance(l, 32)
		a.op("ADD R%d<<2, R%d, R%d", ld, w, w)
	})
	a.end()
}

// dotRows are the registers of some dot products: pointers to x and to the rows,
// the number of columns and of those left over.
type dotRows struct {
	x, row, n, rest x
	rows            int
}

func (a *neon) partials(d dotRows) {
	for i := range v(4 * d.rows) {
		a.clear(i)
	}
	tail, done := a.label("tail"), a.label("done")
	a.op("AND $7, R%d, R%d", d.n, d.rest)
	a.op("LSR $3, R%d, R%d", d.n, d.n)
	a.op("CBZ R%d, %s", d.n, tail)
	a.repeat(d.n, func() {
		a.loadTwo(16, d.x, 0)
		a.loadTwo(18, d.x, 32)
		a.advance(d.x, 64)
		for r := range d.rows {
			p := d.row + x(r)
			a.loadTwo(20, p, 0)
			a.loadTwo(22, p, 32)
			a.advance(p, 64)
			for h := range v(4) {
				a.fma(v(4*r)+h, 16+h, 20+h)
			}
		}
	})
	a.place(tail)
	for h := range 4 {
		a.tailPair(d, h, done)
	}
	a.place(done)
}

// tailPair takes two more columns, or the last one, into the h-th register. The
// high half of the register keeps even the sign of its zero.
func (a *neon) tailPair(d dotRows, h int, done string) {
	pair := fmt.Sprintf("%spair%d", done, h)
	next := fmt.Sprintf("%snext%d", done, h)
	a.op("CBZ R%d, %s", d.rest, done)
	a.op("CMP $2, R%d", d.rest)
	a.op("BGE %s", pair)
	a.loadOne(16, d.x, 0)
	for r := range d.rows {
		a.loadOne(20, d.row+x(r), 0)
		a.copy(21, v(4*r+h))
		a.fma(21, 16, 20)
		a.op("VMOV V%d.D[0], V%d.D[0]", 21, v(4*r+h))
	}
	a.op("B %s", done)
	a.place(pair)
	if h < 3 {
		a.load(16, d.x, 0)
		a.advance(d.x, 16)
		for r := range d.rows {
			a.load(20, d.row+x(r), 0)
			a.advance(d.row+x(r), 16)
			a.fma(v(4*r+h), 16, 20)
		}
	}
	a.op("SUB $2, R%d, R%d", d.rest, d.rest)
	a.place(next)
}

// totals adds the partial sums of two rows, which start at p and q, into the two
// elements of p.
func (a *neon) totals(p, q v) {
	a.faddPairs(p, p, p+1)
	a.faddPairs(p+2, p+2, p+3)
	a.faddPairs(p, p, p+2)
	if q != p {
		a.faddPairs(q, q, q+1)
		a.faddPairs(q+2, q+2, q+3)
		a.faddPairs(q, q, q+2)
	}
	a.faddPairs(p, p, q)
}
