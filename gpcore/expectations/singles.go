package expectations

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// few points or less are solved for one by one, because a panel costs as much as few of
// them; but together, so that the factor passes through the caches once.

// gaussianSingles adds m < few pairs of points and nodes of a squared exponential.
func (e *Expected) gaussianSingles(i int, nodes *quadrature.Nodes, base, m int) {
	s, r, f := e.s, e.s.readers[i], e.separables[i]
	fac, n, stride := r.Model.Factor, f.n, len(s.b)/vec.Lanes
	r.Sync()
	for l := range m {
		r.Single(s.full[l*e.d:(l+1)*e.d], false)
		copy(s.b[l*stride:(l+1)*stride], r.K)
	}
	fac.SolveMany(s.q[:], s.b, s.v, s.u, m, stride)
	for l := range m {
		k, u := s.b[l*stride:l*stride+n], s.u[l*stride:l*stride+n]
		s.mean[l], s.variance[l] = vec.Dot(k, fac.Alpha), max(r.Prior[0]-s.q[l], 0)
		vec.Multiply(u, k)
		s.sum[l] = vec.Dot(u, s.ones)
	}
	for _, o := range s.open {
		e.singleSlopes(o, i, nodes, base, m)
	}
}

// singleSlopes adds to an output what gaussianSingles has prepared.
func (e *Expected) singleSlopes(o *output, i int, nodes *quadrature.Nodes, base, m int) {
	s, f, q, n, stride := e.s, o.separables[i], len(nodes.Weight), o.separables[i].n, len(e.s.b)/vec.Lanes
	for l := range m {
		k, u := s.b[l*stride:l*stride+n], s.u[l*stride:l*stride+n]
		at := (base + l) / q
		o.dst[at] += e.evaluateTerm(o, i, l, nodes.Weight[(base+l)%q])
		for j, c := range f.scale {
			z := s.full[l*e.d+e.in.Controlled[j]] * c
			v := 4 * math.Ln2 * o.byVar[l] * (z*s.sum[l] - vec.Dot(u, f.columns[j*n:(j+1)*n]))
			if o.byMu[l] != 0 { // without a closed form: mean is alpha
				v -= 2 * math.Ln2 * o.byMu[l] * (z*s.mean[l] - vec.Dot(k, f.meanRows[j*n:(j+1)*n]))
			}
			o.grad[at*f.dc+j] += c * v
		}
	}
}
