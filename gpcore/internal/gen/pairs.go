package main

import (
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
	p := panel{tier: t, family: f, args: t.param("a")}
	n, row := p.field(argN), p.field(argRows)
	p.lanes, p.out = p.field(argLanes), p.field(argOut)
	weights, sums := p.field(argWeights), p.field(argSum)
	if f.limit > 0 {
		p.e = t.newExponential(f.limit, at(p.args, 8*argWaiting))
	}
	// At 256 bits the exponential leaves no registers for the sums.
	crowded := f.limit > 0 && !t.wide
	count := laneCount / t.width()
	sum := t.vectors(count)
	t.clear(sum...)
	if crowded {
		for j := range sum {
			t.VMOVUPD(sum[0], at(sums, j*t.size()))
		}
	}
	t.repeat(n, func() {
		v := p.value(p.accumulate(row, count))
		variance, weight := t.broadcast(at(p.args, 8*argVariance)), t.broadcast(at(weights, 0))
		for j := range v {
			t.VMULPD(variance, v[j], v[j])
			t.VMOVUPD(v[j], at(p.out, j*t.size()))
			if crowded {
				t.VFMADD213PD(at(sums, j*t.size()), weight, v[j])
				t.VMOVUPD(v[j], at(sums, j*t.size()))
			} else {
				t.VFMADD231PD(v[j], weight, sum[j])
			}
		}
		t.advance(p.out, rowBytes)
		t.ADDQ(at(p.args, 8*argStep), weights)
	})
	if !crowded {
		for j := range sum {
			t.VMOVUPD(sum[j], at(sums, j*t.size()))
		}
	}
	t.end()
}

// panel is the state of a panel function.
type panel struct {
	*tier
	family
	e                exponential
	args, lanes, out reg.GPVirtual
}

func (p panel) field(i int) reg.GPVirtual {
	v := p.GP64()
	p.MOVQ(at(p.args, 8*i), v)
	return v
}

// accumulate runs over the coordinates of one row and advances it.
func (p panel) accumulate(row reg.GPVirtual, count int) []reg.VecVirtual {
	q := p.vectors(count)
	p.tier.clear(q...)
	lane, d := p.copyOf(p.lanes), p.field(argD)
	p.repeat(d, func() {
		x := p.broadcast(at(row, 0))
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

// value turns q into the function of it, with variance one.
func (p panel) value(q []reg.VecVirtual) []reg.VecVirtual {
	if p.limit == 0 {
		return q
	}
	if p.form == negated {
		return p.e.exp2(q)
	}
	f, factors := make([]operand.Op, len(q)), make([]operand.Op, len(q))
	for j, v := range q {
		u := p.vector()
		p.VMINPD(v, p.e.limit, v) // a NaN is the second source and stays
		p.VSQRTPD(v, u)
		factors[j] = p.multiplier(v, u, j)
		f[j] = p.e.negative(u, j)
		q[j] = u
	}
	v := p.e.polynomial(q, f)
	if p.factor != none {
		for j := range v {
			p.VMULPD(factors[j], v[j], v[j])
		}
	}
	return v
}

// multiplier is the factor of vector j: in a register at 512 bits, else in the
// output, which is not written yet.
func (p panel) multiplier(q, u reg.VecVirtual, j int) operand.Op {
	if p.factor == none {
		return nil
	}
	t := p.vector()
	p.addConstant(oneAt, u, t)
	if p.factor == quadratic {
		p.fmaConstant(t, q, thirdAt)
	}
	if p.wide {
		return t
	}
	m := at(p.out, j*p.size())
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
