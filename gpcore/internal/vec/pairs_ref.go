package vec

import "math"

const (
	third = 1.0 / 3
	// farthest bounds q where exp(-sqrt(q)) is taken, so that no factor grows while
	// the exponential stands at its own bound.
	farthest = expLimit * expLimit
)

// row is a row of a panel. Loops over it take four lanes at a time, so that a processor has
// four chains of roundings to work on side by side.
type row [Lanes]float64

// fillRef defines the functions of a panel.
func (p *Pairs) fillRef(f function) {
	if p.Weights != nil {
		clear(p.Sum[:Lanes])
	}
	for k := range p.N {
		q, at := (*row)(p.Out[k*Lanes:]), p.Rows[k*p.D:(k+1)*p.D]
		if f == inner {
			q.products(at, p.Lanes)
		} else {
			q.squares(at, p.Lanes)
		}
		f.apply(q)
		q.scale(p.Variance)
		if p.Weights != nil {
			(*row)(p.Sum).add(p.Weights[k], q)
		}
	}
}

// squares sets q to the squared distances of a point and the lanes.
func (q *row) squares(point, lanes []float64) {
	*q = row{}
	for i, x := range point {
		v := (*row)(lanes[i*Lanes:])
		for j := 0; j < Lanes; j += 4 {
			t0, t1, t2, t3 := x-v[j], x-v[j+1], x-v[j+2], x-v[j+3]
			q[j] = fma(t0, t0, q[j])
			q[j+1] = fma(t1, t1, q[j+1])
			q[j+2] = fma(t2, t2, q[j+2])
			q[j+3] = fma(t3, t3, q[j+3])
		}
	}
}

// products sets q to the inner products of a point and the lanes.
func (q *row) products(point, lanes []float64) {
	*q = row{}
	for i, x := range point {
		q.add(x, (*row)(lanes[i*Lanes:]))
	}
}

// add adds a times x.
func (q *row) add(a float64, x *row) {
	for j := 0; j < Lanes; j += 4 {
		q[j] = fma(a, x[j], q[j])
		q[j+1] = fma(a, x[j+1], q[j+1])
		q[j+2] = fma(a, x[j+2], q[j+2])
		q[j+3] = fma(a, x[j+3], q[j+3])
	}
}

func (q *row) scale(a float64) {
	for j := 0; j < Lanes; j += 4 {
		q[j], q[j+1], q[j+2], q[j+3] = float64(q[j]*a), float64(q[j+1]*a), float64(q[j+2]*a), float64(q[j+3]*a)
	}
}

// apply replaces each q by the function of it with variance one.
func (f function) apply(q *row) {
	var low row
	switch f {
	case distances, inner:
		return
	case gaussian:
		for j, v := range q {
			q[j] = bounded(-v, exp2Limit)
		}
		powers(q, &low)
		return
	}
	var factor row
	for j, v := range q {
		if v > farthest { // NaN stays
			v = farthest
		}
		u := math.Sqrt(v)
		switch f {
		case matern52:
			factor[j] = fma(v, third, 1+u)
		case matern32:
			factor[j] = 1 + u
		}
		q[j], low[j] = inBinary(-u)
	}
	powers(q, &low)
	if f != exponential {
		q.times(&factor)
	}
}

func (q *row) times(x *row) {
	for j := 0; j < Lanes; j += 4 {
		q[j], q[j+1], q[j+2], q[j+3] = float64(q[j]*x[j]), float64(q[j+1]*x[j+1]), float64(q[j+2]*x[j+2]), float64(q[j+3]*x[j+3])
	}
}
