package main

import (
	"github.com/mmcloughlin/avo/reg"
)

// Places of the fields of vec.pairArgs, in words.
const (
	argN = iota
	argD
	argRows
	argLanes
	argOut
	argVariance
	argWeights
	argStep
	argSum
)

// family is one function of the covariance panel.
type family struct {
	name  string
	limit int // place of the exponential's bound, 0 without one
	side  int // vectors side by side at 256 bits
	form  form
	value func(e exponential, q []reg.VecVirtual) []reg.VecVirtual
}

// form is what q accumulates.
type form int

const (
	distance form = iota // (row-lane)^2
	negated              // -(row-lane)^2
	inner                // row*lane
)

var families = []family{
	{"gaussian", exp2LimitAt, 3, negated, gaussian},
	{"matern52", expLimitAt, 2, distance, matern52},
	{"matern32", expLimitAt, 2, distance, matern32},
	{"exponential", expLimitAt, 3, distance, exponentialOf},
	{"distances", 0, 6, distance, same},
	{"inner", 0, 6, inner, same},
}

func same(_ exponential, q []reg.VecVirtual) []reg.VecVirtual { return q }

func gaussian(e exponential, q []reg.VecVirtual) []reg.VecVirtual {
	for _, v := range q {
		e.VMAXPD(v, e.limit, v)
	}
	return e.exp2(q, nil)
}

func roots(e exponential, q []reg.VecVirtual) []reg.VecVirtual {
	u := e.vectors(len(q))
	for j, v := range q {
		e.VSQRTPD(v, u[j])
	}
	return u
}

func exponentialOf(e exponential, q []reg.VecVirtual) []reg.VecVirtual {
	return e.expNegative(roots(e, q))
}

// times is exp(-u) * f.
func times(e exponential, u, f []reg.VecVirtual) []reg.VecVirtual {
	v := e.expNegative(u)
	for j := range v {
		e.VMULPD(f[j], v[j], v[j])
	}
	return v
}

func matern32(e exponential, q []reg.VecVirtual) []reg.VecVirtual {
	u := roots(e, q)
	f := make([]reg.VecVirtual, len(u))
	for j := range u {
		f[j] = e.addConstant(oneAt, u[j])
	}
	return times(e, u, f)
}

func matern52(e exponential, q []reg.VecVirtual) []reg.VecVirtual {
	u := roots(e, q)
	f := make([]reg.VecVirtual, len(u))
	for j := range u {
		f[j] = e.addConstant(oneAt, u[j])
		e.fmaConstant(f[j], q[j], thirdAt)
	}
	return times(e, u, f)
}

// pairs writes the panel of one family: for every row the lanes side by side, in
// as many passes over the rows as the registers need.
func (t *tier) pairs(f family) {
	t.begin(f.name, "a *pairArgs", "fills a panel; see "+title(f.name)+". n > 0, d > 0.")
	a := t.param("a")
	side := f.side
	if t.wide {
		side = laneCount / t.width()
	}
	passes := laneCount / t.width() / side
	variance := t.broadcast(at(a, 8*argVariance))
	var e exponential
	if f.limit > 0 {
		e = t.newExponential(f.limit)
	}
	p := panelPass{tier: t, family: f, e: e, a: a, side: side, variance: variance}
	if passes == 1 {
		p.emit()
		t.end()
		return
	}
	p.shift = t.GP64()
	t.XORQ(p.shift, p.shift)
	count := t.constant(passes)
	t.repeat(count, func() {
		p.emit()
		t.advance(p.shift, side*t.size())
	})
	t.end()
}

// panelPass is one pass over the rows for some of the lanes.
type panelPass struct {
	*tier
	family
	e        exponential
	a        reg.GPVirtual
	side     int
	shift    reg.GPVirtual // bytes to the first lane, nil for none
	variance reg.VecVirtual
}

// field loads a field; lane also moves it to the first lane of the pass.
func (p panelPass) field(i int) reg.GPVirtual {
	v := p.GP64()
	p.MOVQ(at(p.a, 8*i), v)
	return v
}

func (p panelPass) lane(i int) reg.GPVirtual {
	v := p.field(i)
	if p.shift != nil {
		p.ADDQ(p.shift, v)
	}
	return v
}

func (p panelPass) emit() {
	n, row, lanes, out, weights := p.field(argN), p.field(argRows), p.lane(argLanes), p.lane(argOut), p.field(argWeights)
	sum := p.vectors(p.side)
	p.tier.clear(sum...)
	x := p.vector()
	p.repeat(n, func() {
		v := p.value(p.e, p.accumulate(x, row, lanes))
		p.VBROADCASTSD(at(weights, 0), x)
		for j := range v {
			p.VMULPD(p.variance, v[j], v[j])
			p.VMOVUPD(v[j], at(out, j*p.size()))
			p.VFMADD231PD(v[j], x, sum[j])
		}
		p.advance(out, rowBytes)
		p.ADDQ(at(p.a, 8*argStep), weights)
	})
	to := p.lane(argSum)
	for j := range sum {
		p.VMOVUPD(sum[j], at(to, j*p.size()))
	}
}

// accumulate runs over the coordinates of one row and advances it.
func (p panelPass) accumulate(x reg.VecVirtual, row, lanes reg.GPVirtual) []reg.VecVirtual {
	q := p.vectors(p.side)
	p.tier.clear(q...)
	lane, d := p.copyOf(lanes), p.field(argD)
	p.repeat(d, func() {
		p.VBROADCASTSD(at(row, 0), x)
		for j := range q {
			from := at(lane, j*p.size())
			if p.form == inner {
				p.VFMADD231PD(from, x, q[j])
				continue
			}
			t := p.vector()
			p.VSUBPD(from, x, t)
			if p.form == negated {
				p.VFNMADD231PD(t, t, q[j])
			} else {
				p.VFMADD231PD(t, t, q[j])
			}
		}
		p.advance(row, 8)
		p.advance(lane, rowBytes)
	})
	return q
}

// moments writes weighted differences of lanes and rows for one coordinate.
func (t *tier) moments() {
	t.begin("moments", "to, s, lane, row *float64, stride, n int",
		"adds s*(lane-row) over n rows to 24 sums; n > 0.")
	to, s, lane, row, n := t.param("to"), t.param("s"), t.param("lane"), t.param("row"), t.param("n")
	stride := t.bytes(t.param("stride"))
	count := laneCount / t.width()
	sum, l, x := t.vectors(count), t.vectors(count), t.vector()
	for j := range sum {
		t.VMOVUPD(at(to, j*t.size()), sum[j])
		t.VMOVUPD(at(lane, j*t.size()), l[j])
	}
	t.repeat(n, func() {
		t.VBROADCASTSD(at(row, 0), x)
		for j := range sum {
			v := t.vector()
			t.VSUBPD(x, l[j], v)
			t.VFMADD231PD(at(s, j*t.size()), v, sum[j])
		}
		t.ADDQ(stride, row)
		t.advance(s, rowBytes)
	})
	for j := range sum {
		t.VMOVUPD(sum[j], at(to, j*t.size()))
	}
	t.end()
}
