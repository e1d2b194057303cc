package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
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
	argWaiting // 24 words
)

// family is one function of the covariance panel.
type family struct {
	name   string
	limit  int // place of the bound of q, 0 without one
	form   form
	factor factor
}

// form is what q accumulates.
type form int

const (
	distance form = iota // (row-lane)^2
	negated              // -(row-lane)^2
	inner                // row*lane
)

// factor is what exp(-u), u the root of q, is multiplied by.
type factor int

const (
	none      factor = iota
	linear           // 1+u
	quadratic        // 1+u+q/3
)

var families = []family{
	{"gaussian", exp2LimitAt, negated, none},
	{"matern52", farthestAt, distance, quadratic},
	{"matern32", farthestAt, distance, linear},
	{"exponential", farthestAt, distance, none},
	{"distances", 0, distance, none},
	{"inner", 0, inner, none},
}

// pairs writes the panel of one family: for every row the lanes side by side.
func (t *tier) pairs(f family) {
	t.begin(f.name, "a *pairArgs", "fills a panel; see "+title(f.name)+". n > 0, d > 0.")
	p := &panel{tier: t, family: f, args: t.param("a"), count: laneCount / t.width()}
	n := p.field(argN)
	p.row, p.lanes, p.out = p.field(argRows), p.field(argLanes), p.field(argOut)
	p.weights, p.sums = p.field(argWeights), p.field(argSum)
	if f.limit > 0 {
		p.e = t.newExponential(f.limit, at(p.args, 8*argWaiting))
	}
	if f.limit == 0 || t.wide {
		p.sum = t.vectors(p.count)
		t.clear(p.sum...)
		t.repeat(n, p.fillRow)
		p.storeSums(p.sum)
	} else {
		zero := t.vector()
		t.clear(zero)
		p.storeSums(slices.Repeat([]reg.VecVirtual{zero}, p.count))
		t.repeat(n, p.fillRow)
	}
	t.end()
}

// panel is the state of a panel function.
type panel struct {
	*tier
	family
	count                 int // vectors in a row
	e                     exponential
	args, row, lanes, out reg.GPVirtual
	weights, sums         reg.GPVirtual
	sum                   []reg.VecVirtual // nil: in memory, where registers are short
}

func (p *panel) storeSums(v []reg.VecVirtual) {
	for j := range v {
		p.VMOVUPD(v[j], at(p.sums, j*p.size()))
	}
}

func (p *panel) field(i int) reg.GPVirtual {
	v := p.GP64()
	p.MOVQ(at(p.args, 8*i), v)
	return v
}

// fillRow fills one row and moves on.
func (p *panel) fillRow() {
	v := p.accumulate()
	var factors []operand.Op
	if p.limit > 0 {
		var r []reduced
		for j := range v {
			s, f := p.prepare(v[j], j)
			r, factors = append(r, s), append(factors, f)
		}
		v = p.e.polynomial(r)
	}
	variance, weight := p.broadcast(at(p.args, 8*argVariance)), p.broadcast(at(p.weights, 0))
	for j := range v {
		if p.factor != none {
			p.VMULPD(factors[j], v[j], v[j])
		}
		p.VMULPD(variance, v[j], v[j])
		p.VMOVUPD(v[j], at(p.out, j*p.size()))
		p.add(j, weight, v[j])
	}
	p.ADDQ(at(p.args, 8*argStep), p.weights)
	p.advance(p.out, rowBytes)
}

// add adds weight*v to the sum of vector j.
func (p *panel) add(j int, weight, v reg.VecVirtual) {
	if p.sum != nil {
		p.VFMADD231PD(v, weight, p.sum[j])
		return
	}
	p.VFMADD213PD(at(p.sums, j*p.size()), weight, v)
	p.VMOVUPD(v, at(p.sums, j*p.size()))
}

// accumulate runs over the coordinates of one row and advances it.
func (p *panel) accumulate() []reg.VecVirtual {
	q := p.vectors(p.count)
	p.tier.clear(q...)
	lane, d := p.copyOf(p.lanes), p.field(argD)
	p.repeat(d, func() {
		x := p.broadcast(at(p.row, 0))
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
		p.advance(p.row, 8)
		p.advance(lane, rowBytes)
	})
	return q
}

// prepare turns q, vector j of a row, into the argument of the exponential and its
// factor, nil for one. In both bounds a NaN is the second source and stays.
func (p *panel) prepare(q reg.VecVirtual, j int) (reduced, operand.Op) {
	if p.form == negated {
		p.VMAXPD(q, p.e.limit, q)
		return p.e.reduce(q, j), nil
	}
	u := p.vector()
	p.VMINPD(q, p.e.limit, q)
	p.VSQRTPD(q, u)
	f := p.multiplier(q, u, j)
	return p.e.reduceNegative(u, j), f
}

// multiplier is the factor of vector j: in a register at 512 bits, else in the
// output, which is not written yet.
func (p *panel) multiplier(q, u reg.VecVirtual, j int) operand.Op {
	if p.factor == none {
		return nil
	}
	t, m := p.vector(), at(p.out, j*p.size())
	p.addConstant(oneAt, u, t)
	if p.factor == quadratic {
		p.fmaConstant(t, q, thirdAt)
	}
	if p.wide {
		return t
	}
	p.VMOVUPD(t, m)
	return m
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
