package expectations

import (
	"errors"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// Further is what a term adds for observations that a process might have besides its own, each of them by
// itself: the sum over k of Of(k, mu_k, sigma_k), with the moments of the process that has seen observation
// k as well. They are those of the process changed by a term of rank one,
//
//	c_k(x)     = cov(f(x), f(x_k)) = k(x, x_k) - k(x, X) K^-1 k(X, x_k)
//	mu_k(x)    = mu(x) + c_k(x) (y_k - mu(x_k))/v_k,   v_k = cov(f(x_k), f(x_k)) + noise
//	sigma_k(x) = sqrt(sigma(x)^2 - c_k(x)^2/v_k),
//
// so that all of them cost O(n) a point, beside the O(n^2) of the process. The zero value is ready for Observe.
type Further struct {
	Of func(k int, mu, sigma float64) (value, byMu, bySigma float64)

	count      int
	weights    []float64 // K^-1 k(X, x_k) for each k, n each
	gain       []float64 // (y_k - mu(x_k))/v_k
	variance   []float64 // v_k
	rows       []float64 // the points x_k, embedded
	mean, prod []float64 // scratch
}

// MostFurther observations are the most that a Further has.
const MostFurther = vec.Lanes

// Observe takes the values y at the rows of x, with this noise variance, in place of what was observed before. It holds until the process
// changes. O(n^2).
func (f *Further) Observe(g *gpcore.GP, x, y []float64, noise float64) error {
	if len(y) == 0 || len(y) > MostFurther || len(x) != len(y)*g.Dim() {
		return errors.New("gpcore: further observations need 1 to 24 values with a point each")
	}
	view, n := g.Model().OwnView(), g.Len()
	view.Sync()
	view.Load(x, len(y))
	view.Covariances()
	panel := vec.Up8(n) * vec.Lanes
	f.prod, f.mean = vec.Grown(f.prod, 2*panel), append(f.mean[:0], view.Sum[:]...)
	w, u := f.prod[:panel], f.prod[panel:]
	view.Model.Factor.MulW(w, view.B, n)
	view.Model.Factor.MulWT(u, w, n)
	var squares [vec.Lanes]float64
	vec.SumSquares(squares[:], w, n)
	f.rows = view.LaneRows(f.rows)
	f.count, f.weights, f.gain, f.variance = len(y), vec.Grown(f.weights, len(y)*n), vec.Grown(f.gain, len(y)), vec.Grown(f.variance, len(y))
	for k := range y {
		f.variance[k] = max(view.Prior[k]-squares[k], 0) + noise
		f.gain[k] = (y[k] - f.mean[k]) / f.variance[k]
		for i := range n {
			f.weights[k*n+i] = u[i*vec.Lanes+k]
		}
	}
	return nil
}

// covariances sets dst, 24 for each k, to c_k at the lanes of a view that has their covariances.
func (f *Further) covariances(dst []float64, r *model.View) {
	n := r.Model.Factor.N
	r.FillRows(dst, f.rows, f.count)
	var sum [vec.Lanes]float64
	for k := range f.count {
		vec.Combine(sum[:], f.weights[k*n:(k+1)*n], r.B)
		for l, v := range sum {
			dst[k*vec.Lanes+l] -= v
		}
	}
}

// moments are those of a process at a point, before and after its data.
type moments struct{ mu, variance, prior float64 }

// add is w times the sum at lane l. It adds to the output's derivatives.
func (f *Further) add(o *output, l int, at moments, w float64) (sum float64) {
	for k := range f.count {
		c := o.further[k*vec.Lanes+l]
		sd := deviation(at.variance-c*c/f.variance[k], at.prior)
		value, byMu, bySigma := f.Of(k, at.mu+c*f.gain[k], sd)
		sum += value
		o.byMu[l] += w * byMu
		o.byVar[l] += w * bySigma / (2 * sd)
		o.byFurther[k*vec.Lanes+l] = w * (byMu*f.gain[k] - bySigma*c/(sd*f.variance[k]))
	}
	return w * sum
}

// weigh adds to weights of the data, n x 24, what the derivatives by c_k come to.
func (f *Further) weigh(weights, byFurther []float64, n int) {
	for k := range f.count {
		by := byFurther[k*vec.Lanes : (k+1)*vec.Lanes]
		for j, a := range f.weights[k*n : (k+1)*n] {
			row := weights[j*vec.Lanes : (j+1)*vec.Lanes]
			for l, v := range by {
				row[l] -= float64(a * v)
			}
		}
	}
}

// slopes adds to e (width x 24) the derivatives by the embeddings of the lanes of the sum over k of
// byFurther_k k(x_k, lane).
func (f *Further) slopes(e, byFurther []float64, r *model.View) {
	r.RowSlopes(f.rows, f.count, byFurther, e)
}

// further reports whether term i has further observations in an open output.
func (e *Expected) further(i int) bool {
	for _, o := range e.s.open {
		if o.terms[i].Further != nil {
			return true
		}
	}
	return false
}

// furtherCovariances prepares those of term i for a panel of the view.
func (e *Expected) furtherCovariances(i int) {
	for _, o := range e.s.open {
		if f := o.terms[i].Further; f != nil {
			o.further, o.byFurther = vec.Grown(o.further, f.count*vec.Lanes), vec.Grown(o.byFurther, f.count*vec.Lanes)
			f.covariances(o.further, e.s.readers[i])
		}
	}
}

// furtherValues adds m pairs of points and nodes, from pair base on, in one panel, however few they are.
func (e *Expected) furtherValues(i int, nodes *quadrature.Nodes, base, m int, slopes bool) {
	if slopes {
		e.panelGradients(i, nodes, base, m)
		return
	}
	s, r, q := e.s, e.s.readers[i], len(nodes.Weight)
	r.Sync()
	r.Load(s.full, m)
	r.Covariances()
	r.Model.Factor.Squares(s.q[:], r.B)
	for l := range m {
		s.mean[l], s.variance[l] = r.Sum[l], max(r.Prior[l]-s.q[l], 0)
	}
	e.furtherCovariances(i)
	for _, o := range s.open {
		for l := range m {
			o.dst[(base+l)/q] += e.evaluateTerm(o, i, l, nodes.Weight[(base+l)%q])
		}
	}
}

// function is w times the term's functions at lane l. It sets the output's derivatives.
func (t *Term) function(o *output, l int, at moments, w float64) (sum float64) {
	o.byMu[l], o.byVar[l] = 0, 0
	if t.Of != nil {
		sd := deviation(at.variance, at.prior)
		v, byMu, bySigma := t.Of(at.mu, sd)
		o.byMu[l], o.byVar[l], sum = w*byMu, w*bySigma/(2*sd), w*v
	}
	if t.Further != nil {
		sum += t.Further.add(o, l, at, w)
	}
	return sum
}
