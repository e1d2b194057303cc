package main

const panelVectors = laneCount / 2

// tile writes an 8 x 24 product as six blocks of 4 x 8: accumulators in v0 to v15,
// of b in v16 to v19 (v24 to v27 for the second of two rows), of w in v20 to v23.
func (a *neon) tile(name string, f tileForm) {
	target, effect := "out", "stores"
	if f.squares {
		target, effect = "sum", "adds the squares of"
	}
	a.begin(name, effect+" an 8 x 24 tile product; k > 0.", "",
		target+" *float64", "w *float64", "ldw int", "b *float64", "k int")
	const out, w, ld, b, down, across = x(0), x(1), x(2), x(3), x(5), x(6)
	a.bytes(ld)
	a.set(down, 2)
	a.repeat(down, func() {
		a.set(across, 3)
		a.repeat(across, func() {
			for r := range 4 * 4 {
				a.clear(v(r))
			}
			if f.transposed {
				a.blockT()
			} else {
				a.block()
			}
			a.finishBlock(f)
			a.advance(b, rowBytes/3)
			a.advance(out, rowBytes/3)
		})
		a.retreat(b, rowBytes)
		if f.squares {
			a.retreat(out, rowBytes)
		} else {
			a.advance(out, 3*rowBytes)
		}
		if f.transposed {
			a.advance(w, 32)
		} else {
			a.op("ADD R%d<<2, R%d, R%d", ld, w, w)
		}
	})
	a.end()
}

// block multiplies two columns of w at a time, then the last one.
func (a *neon) block() {
	const w, ld, b, k, cursor, count, row = x(1), x(2), x(3), x(4), x(7), x(8), x(9)
	single, done := a.label("single"), a.label("done")
	a.move(cursor, b)
	a.move(row, w)
	for r := range x(3) {
		a.op("ADD R%d, R%d, R%d", ld, row+r, row+r+1)
	}
	a.op("LSR $1, R%d, R%d", k, count)
	a.op("CBZ R%d, %s", count, single)
	a.repeat(count, func() {
		for r := range 4 {
			a.op("FMOVQ.P 16(R%d), F%d", int(row)+r, 20+r)
		}
		a.loadTwo(16, cursor, 0)
		a.loadTwo(18, cursor, 32)
		a.loadTwo(24, cursor, rowBytes)
		a.loadTwo(26, cursor, rowBytes+32)
		a.advance(cursor, 2*rowBytes)
		a.multiplyBlock(16, 0)
		a.multiplyBlock(24, 1)
	})
	a.place(single)
	a.op("TBZ $0, R%d, %s", k, done)
	for r := range 4 {
		a.loadOne(v(20+r), row+x(r), 0)
	}
	a.loadTwo(16, cursor, 0)
	a.loadTwo(18, cursor, 32)
	a.multiplyBlock(16, 0)
	a.place(done)
}

// multiplyBlock adds the products of element i of four registers of w and four
// registers of b.
func (a *neon) multiplyBlock(b v, i int) {
	for r := range 4 {
		for j := range v(4) {
			a.fmaElement(v(4*r)+j, b+j, v(20+r), i)
		}
	}
}

// blockT takes a row of w and a row of b at a time.
func (a *neon) blockT() {
	const w, ld, b, k, cursor, count, row = x(1), x(2), x(3), x(4), x(7), x(8), x(9)
	a.move(cursor, b)
	a.move(row, w)
	a.move(count, k)
	a.repeat(count, func() {
		a.loadTwo(20, row, 0)
		a.loadTwo(16, cursor, 0)
		a.loadTwo(18, cursor, 32)
		a.add(row, ld)
		a.advance(cursor, rowBytes)
		for r := range 4 {
			for j := range v(4) {
				a.fmaElement(v(4*r)+j, 16+j, v(20+r/2), r%2)
			}
		}
	})
}

func (a *neon) finishBlock(f tileForm) {
	const out = x(0)
	if !f.squares {
		for r := range 4 {
			a.storeTwo(v(4*r), out, 0)
			a.storeTwo(v(4*r+2), out, 32)
			a.advance(out, rowBytes)
		}
		a.retreat(out, 4*rowBytes)
		return
	}
	a.loadTwo(16, out, 0)
	a.loadTwo(18, out, 32)
	for r := range 4 {
		for j := range v(4) {
			a.fma(16+j, v(4*r)+j, v(4*r)+j)
		}
	}
	a.storeTwo(16, out, 0)
	a.storeTwo(18, out, 32)
}

// loadPanel and storePanel move a row of a panel.
func (a *neon) loadPanel(d v, p x) {
	for j := 0; j < panelVectors; j += 2 {
		a.loadTwo(d+v(j), p, 16*j)
	}
}

func (a *neon) storePanel(s v, p x) {
	for j := 0; j < panelVectors; j += 2 {
		a.storeTwo(s+v(j), p, 16*j)
	}
}

func (a *neon) combine() {
	a.begin("combine", "sums n rows of a panel with weights; n > 0.", "",
		"sum *float64", "weights *float64", "panel *float64", "n int")
	const sum, weights, panel, n = x(0), x(1), x(2), x(3)
	for j := range v(panelVectors) {
		a.clear(j)
	}
	a.repeat(n, func() {
		a.broadcast(12, weights)
		a.loadPanel(13, panel)
		a.advance(weights, 8)
		a.advance(panel, rowBytes)
		for j := range v(panelVectors) {
			a.fma(j, 13+j, 12)
		}
	})
	a.storePanel(0, sum)
	a.end()
}

func (a *neon) addSquares() {
	a.begin("addSquares", "adds the squares of n rows of a panel to 24 sums; n > 0.", "",
		"sum *float64", "panel *float64", "n int")
	const sum, panel, n = x(0), x(1), x(2)
	a.loadPanel(0, sum)
	a.repeat(n, func() {
		a.loadPanel(12, panel)
		a.advance(panel, rowBytes)
		for j := range v(panelVectors) {
			a.fma(j, 12+j, 12+j)
		}
	})
	a.storePanel(0, sum)
	a.end()
}

func (a *neon) moments() {
	a.begin("moments", "adds s*(lane-row) over n rows to 24 sums; n > 0.", "",
		"to *float64", "s *float64", "lane *float64", "row *float64", "stride int", "n int")
	const to, s, lane, row, stride, n = x(0), x(1), x(2), x(3), x(4), x(5)
	a.bytes(stride)
	a.loadPanel(0, to)
	a.loadPanel(12, lane)
	a.repeat(n, func() {
		a.broadcast(24, row)
		a.add(row, stride)
		for j := 0; j < panelVectors; j += 2 {
			d := v(28 - j%4)
			a.loadTwo(d, s, 16*j)
			for i := range v(2) {
				a.fsub(30+i, 12+v(j)+i, 24)
				a.fma(v(j)+i, d+i, 30+i)
			}
		}
		a.advance(s, rowBytes)
	})
	a.storePanel(0, to)
	a.end()
}
