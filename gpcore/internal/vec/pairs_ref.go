package vec

import "math"

const (
	third = 1.0 / 3
	// farthest bounds q where exp(-sqrt(q)) is taken, so that no factor grows while
	// the exponential stands at its own bound.
	farthest = expLimit * expLimit
)

// fillRef defines the functions of a panel.
func (p *Pairs) fillRef(f function) {
	if p.Weights != nil {
		clear(p.Sum[:Lanes])
	}
	for k := range p.N {
		o := p.Out[k*Lanes : k*Lanes+Lanes]
		for j := range o {
			o[j] = float64(f.value(p.accumulate(f, k, j)) * p.Variance)
			if p.Weights != nil {
				p.Sum[j] = math.FMA(p.Weights[k], o[j], p.Sum[j])
			}
		}
	}
}

// accumulate is q of row k and lane j: the squared distance or the inner product.
func (p *Pairs) accumulate(f function, k, j int) float64 {
	q := 0.0
	for i := range p.D {
		row, lane := p.Rows[k*p.D+i], p.Lanes[i*Lanes+j]
		if f == inner {
			q = math.FMA(row, lane, q)
			continue
		}
		t := row - lane
		q = math.FMA(t, t, q)
	}
	return q
}

// value is the function of q with variance one.
func (f function) value(q float64) float64 {
	switch f {
	case gaussian:
		return Exp2(-q)
	case distances, inner:
		return q
	}
	q = min(q, farthest)
	u := math.Sqrt(q)
	e := Exp(-u)
	switch f {
	case matern52:
		return float64(e * math.FMA(q, third, 1+u))
	case matern32:
		return float64(e * (1 + u))
	}
	return e
}
