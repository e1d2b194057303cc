package model

import (
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// blockFill computes the covariances of up to 24 new observations for the factor.
type blockFill struct {
	block *factor.Block
	lane  []float64 // embedding of the new observations
	job   panels.Panel
}

// factorise fills the empty factor of c with y and noise at its first points.
func (m *Model) factorise(c *Core, y, noise []float64) error {
	c.Factor.Reserve(len(y))
	for n := 0; n < len(y); n += vec.Lanes {
		k := min(vec.Lanes, len(y)-n)
		if err := m.Extend(c, y[n:n+k], noise[n:n+k]); err != nil {
			return err
		}
	}
	c.Factor.FinishAlpha()
	return nil
}

// Extend adds the next len(y) <= 24 points of c to its factor. alpha is stale
// afterwards. On error the factor is as it was.
func (m *Model) Extend(c *Core, y, noise []float64) error {
	if m.fill == nil {
		m.fill = &blockFill{block: factor.NewBlock(c.Points.Cap)}
	}
	s, b, n, p := m.fill, m.fill.block, c.Factor.N, c.Points
	b.M, b.Y, b.Noise = len(y), y, noise
	s.lane = vec.Grown(s.lane, p.Width*vec.Lanes)
	for i := range vec.Lanes {
		c.Eval.Embed(c.Point, p.At(n+min(i, b.M-1)))
		for q, v := range c.Point {
			s.lane[q*vec.Lanes+i] = v
		}
	}
	s.job = panels.Panel{Rows: p.Rows, RowCap: p.Cap, Lane: s.lane, N: n, Out: b.Cross}
	c.Eval.Fill(&s.job)
	clear(b.Cross[n*vec.Lanes : vec.Up8(n)*vec.Lanes])
	if err := checkPanel(b.Cross[:n*vec.Lanes]); err != nil {
		return err
	}
	for i := range b.M {
		c.Eval.Embed(c.Point, p.At(n+i))
		b.Prior[i] = p.Prior[n+i]
		s.job = panels.Panel{Rows: c.Point, RowCap: 1, Lane: s.lane, N: 1, Out: b.Self[i*vec.Lanes : (i+1)*vec.Lanes]}
		c.Eval.Fill(&s.job)
		b.Self[i*vec.Lanes+i] = b.Prior[i]
	}
	if err := checkPanel(b.Self[:b.M*vec.Lanes]); err != nil {
		return err
	}
	if !c.Factor.AppendBlock(b) {
		return check.ErrNotPositiveDefinite
	}
	return nil
}

// zeroWeights are the weights with which a sum is zero where all is finite, else NaN.
var zeroWeights [8 * vec.Lanes]float64

// checkPanel refuses a panel of covariances that are not all finite.
func checkPanel(p []float64) error {
	sum := 0.0
	for rest := p; len(rest) > 0; {
		n := min(len(rest), len(zeroWeights))
		sum += vec.Dot(rest[:n], zeroWeights[:])
		rest = rest[n:]
	}
	if sum == 0 {
		return nil
	}
	for k, v := range p {
		if !check.IsFinite(v) {
			return &check.ValueError{What: check.NameCov, Index: k / vec.Lanes, Value: v}
		}
	}
	return nil
}
