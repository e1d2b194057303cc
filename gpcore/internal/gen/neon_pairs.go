package main

// The registers of a panel's function, four vectors (eight lanes) side by side.
const (
	atQ      = v(0)  // q, later the exponent
	atP      = v(4)  // polynomial, low part of the exponent
	atU      = v(8)  // root of q, later the polynomial's other half
	atF      = v(12) // integer part, with the magic number
	atFactor = v(16)
	atSum    = v(20)
	atX      = v(24) // coordinate, weight
	atVar    = v(25)
	atMagic  = v(26)
	atLimit  = v(27)
	atLog    = v(28) // -log2(e), its low part, one, one third
	atLogLow = v(29)
	atOne    = v(30)
	atThird  = v(31)

	side = 4
)

const (
	panelArgs    = x(0)
	panelN       = x(1)
	panelRow     = x(2)
	panelLanes   = x(3)
	panelOut     = x(4)
	panelWeights = x(5)
	panelStep    = x(6)
	panelLane    = x(7)
	panelD       = x(8)
	panelShift   = x(9)
	panelPasses  = x(10)
	panelTable   = x(11)
)

// pairs writes the panel of one family in three passes over the rows.
func (a *neon) pairs(f family) {
	a.begin(f.name, "fills a panel; see "+title(f.name)+". n > 0, d > 0.", "", "a *pairArgs")
	a.op("MOVD $constants<>(SB), R%d", panelTable)
	a.field(panelWeights, argVariance)
	a.op("FMOVD R%d, F%d", panelWeights, atVar)
	a.duplicate(atVar, atVar, 0)
	if f.limit > 0 {
		a.constant(atMagic, panelTable, magicAt)
		a.constant(atLimit, panelTable, f.limit)
		a.constant(atLog, panelTable, negLog2EAt)
		a.constant(atLogLow, panelTable, negLog2ELowAt)
		a.constant(atOne, panelTable, oneAt)
		a.constant(atThird, panelTable, thirdAt)
	}
	a.field(panelStep, argStep)
	a.set(panelShift, 0)
	a.set(panelPasses, panelVectors/side)
	a.repeat(panelPasses, func() {
		a.rows(f)
		a.advance(panelShift, 16*side)
	})
	a.end()
}

// field loads a field; lane also moves it to the first lane of the pass.
func (a *neon) field(d x, i int) { a.op("MOVD %d(R%d), R%d", 8*i, panelArgs, d) }

func (a *neon) lane(d x, i int) {
	a.field(d, i)
	a.add(d, panelShift)
}

func (a *neon) rows(f family) {
	a.field(panelN, argN)
	a.field(panelRow, argRows)
	a.lane(panelLanes, argLanes)
	a.lane(panelOut, argOut)
	a.field(panelWeights, argWeights)
	for j := range v(side) {
		a.clear(atSum + j)
	}
	a.repeat(panelN, func() {
		a.accumulate(f)
		at := a.value(f)
		a.broadcast(atX, panelWeights)
		a.add(panelWeights, panelStep)
		for j := range v(side) {
			a.fmul(at+j, at+j, atVar)
			a.fma(atSum+j, at+j, atX)
		}
		a.storeTwo(at, panelOut, 0)
		a.storeTwo(at+2, panelOut, 32)
		a.advance(panelOut, rowBytes)
	})
	a.lane(panelLane, argSum)
	a.storeTwo(atSum, panelLane, 0)
	a.storeTwo(atSum+2, panelLane, 32)
}

// accumulate sets q over the coordinates of one row and advances it.
func (a *neon) accumulate(f family) {
	for j := range v(side) {
		a.clear(atQ + j)
	}
	a.move(panelLane, panelLanes)
	a.field(panelD, argD)
	a.repeat(panelD, func() {
		a.broadcast(atX, panelRow)
		a.advance(panelRow, 8)
		a.loadTwo(atP, panelLane, 0)
		a.loadTwo(atP+2, panelLane, 32)
		a.advance(panelLane, rowBytes)
		for j := range v(side) {
			if f.form == inner {
				a.fma(atQ+j, atP+j, atX)
				continue
			}
			a.fsub(atP+j, atX, atP+j)
			if f.form == negated {
				a.fnma(atQ+j, atP+j, atP+j)
			} else {
				a.fma(atQ+j, atP+j, atP+j)
			}
		}
	})
}

// value turns q into the function of it and returns where that stands.
func (a *neon) value(f family) v {
	if f.limit == 0 {
		return atQ
	}
	if f.form == negated {
		for j := range v(side) {
			a.fmax(atQ+j, atQ+j, atLimit)
		}
		return a.exp2(false)
	}
	for j := range v(side) {
		a.fmin(atQ+j, atQ+j, atLimit)
		a.fsqrt(atU+j, atQ+j)
		if f.factor != none {
			a.fadd(atFactor+j, atOne, atU+j)
		}
		if f.factor == quadratic {
			a.fma(atFactor+j, atQ+j, atThird)
		}
		a.fmul(atQ+j, atU+j, atLog)
		a.fneg(atP+j, atQ+j)
		a.fma(atP+j, atU+j, atLog)
		a.fma(atP+j, atU+j, atLogLow)
	}
	at := a.exp2(true)
	if f.factor != none {
		for j := range v(side) {
			a.fmul(at+j, at+j, atFactor+j)
		}
	}
	return at
}

// exp2 is 2^(q+p), or 2^q without a low part. The polynomial goes to and fro
// between two sets of registers, since a multiply-add overwrites what it adds to.
func (a *neon) exp2(low bool) v {
	for j := range v(side) {
		a.fadd(atF+j, atQ+j, atMagic)
		a.fsub(atU+j, atF+j, atMagic)
		a.fsub(atQ+j, atQ+j, atU+j)
		if low {
			a.fadd(atQ+j, atQ+j, atP+j)
		}
	}
	now, next := atP, atU
	for j := range v(side) {
		a.constant(now+j, panelTable, topAt)
	}
	for i := topAt - 1; i >= 0; i-- {
		for j := range v(side) {
			a.constant(next+j, panelTable, i)
			a.fma(next+j, now+j, atQ+j)
		}
		now, next = next, now
	}
	a.constant(atX, panelTable, biasAt)
	for j := range v(side) {
		a.addIntegers(atF+j, atX)
		a.shiftLeft(atF+j, 52)
		a.fmul(now+j, now+j, atF+j)
	}
	return now
}
