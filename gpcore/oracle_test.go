package gpcore_test

import (
	"math"
	"math/big"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// oracle is the posterior of a process's data by a Cholesky factorisation in 160
// bits. Covariances are taken in float64 as the process takes them (by its own
// panels), so that the difference is the error of the linear algebra alone.
type oracle struct {
	n  int
	l  [][]*big.Float
	vy []*big.Float // L^-1 y
}

const oracleBits = 160

func bigFloat(v float64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetFloat64(v) }

// gram is the covariance of the data by the process's own panels.
func gram(g *gpcore.GP) [][]float64 {
	n, d := g.Len(), g.Dim()
	r := model.NewView(g.Model())
	k := make([][]float64, n)
	for i := range k {
		k[i] = make([]float64, n)
	}
	for c := 0; c < n; c += vec.Lanes {
		m := min(vec.Lanes, n-c)
		r.Load(g.Model().Points.X[c*d:], m)
		r.Covariances()
		for i := range n {
			copy(k[i][c:c+m], r.B[i*vec.Lanes:])
		}
	}
	for i := range k {
		k[i][i] = g.Kernel().Variance(g.X(i))
		for j := range i {
			k[j][i] = k[i][j]
		}
	}
	return k
}

// newOracle returns nil where the covariances, as rounded, are not positive
// definite.
func newOracle(g *gpcore.GP) *oracle {
	n := g.Len()
	k := gram(g)
	o := &oracle{n: n, l: make([][]*big.Float, n)}
	t := new(big.Float).SetPrec(oracleBits)
	for i := range n {
		o.l[i] = make([]*big.Float, i+1)
		for j := range i + 1 {
			s := bigFloat(k[i][j])
			if i == j {
				s.Add(s, bigFloat(g.NoiseVariance(i)))
			}
			for p := range j {
				s.Sub(s, t.Mul(o.l[i][p], o.l[j][p]))
			}
			if i == j && s.Sign() <= 0 {
				return nil
			}
			if i == j {
				s.Sqrt(s)
			} else {
				s.Quo(s, o.l[j][j])
			}
			o.l[i][j] = s
		}
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = g.Target(i)
	}
	o.vy = o.solve(y)
	return o
}

// solve is L^-1 b.
func (o *oracle) solve(b []float64) []*big.Float {
	v := make([]*big.Float, o.n)
	t := new(big.Float).SetPrec(oracleBits)
	for i := range v {
		s := bigFloat(b[i])
		for p := range i {
			s.Sub(s, t.Mul(o.l[i][p], v[p]))
		}
		v[i] = s.Quo(s, o.l[i][i])
	}
	return v
}

// predict is the posterior at each point.
func (o *oracle) predict(g *gpcore.GP, x []float64) (mean, variance []float64) {
	d := g.Dim()
	r := model.NewView(g.Model())
	t := new(big.Float).SetPrec(oracleBits)
	k := make([]float64, o.n)
	for ; len(x) > 0; x = x[d:] {
		r.Load(x[:d], 1)
		r.Covariances()
		for i := range k {
			k[i] = r.B[i*vec.Lanes]
		}
		v := o.solve(k)
		m, q := bigFloat(0), bigFloat(r.Prior[0])
		for i := range v {
			m.Add(m, t.Mul(v[i], o.vy[i]))
			q.Sub(q, t.Mul(v[i], v[i]))
		}
		a, _ := m.Float64()
		b, _ := q.Float64()
		mean, variance = append(mean, a), append(variance, b)
	}
	return mean, variance
}

// worst is the largest error of the process at the points x: of the mean
// absolute, of the variance relative to itself.
func (o *oracle) worst(g *gpcore.GP, x []float64) (mean, variance float64) {
	m := len(x) / g.Dim()
	gm, gv := make([]float64, m), make([]float64, m)
	g.Predict(gm, gv, x)
	wm, wv := o.predict(g, x)
	for j := range m {
		mean = max(mean, math.Abs(gm[j]-wm[j]))
		variance = max(variance, math.Abs(gv[j]-wv[j])/wv[j])
	}
	return mean, variance
}
