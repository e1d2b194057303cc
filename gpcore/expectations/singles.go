package expectations

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// Fewer points than a panel costs are solved for one by one, but together (model.View.SolveFew).

// gaussianSingles adds m < model.BatchMin pairs of points and nodes of a squared exponential.
func (e *Expected) gaussianSingles(i int, nodes *quadrature.Nodes, base, m int) {
	s, r := e.s, e.s.readers[i]
	r.SolveFew(s.full, m)
	for l := range m {
		k, u, q := r.Few(l)
		s.mean[l], s.variance[l] = vec.Dot(k, r.Model.Factor.Alpha), max(r.Prior[0]-q, 0)
		vec.Multiply(u, k)
		s.sum[l] = vec.Dot(u, s.ones)
	}
	for _, o := range s.open {
		e.singleSlopes(o, i, nodes, base, m)
	}
}

// singleSlopes adds to an output what gaussianSingles has prepared.
func (e *Expected) singleSlopes(o *output, i int, nodes *quadrature.Nodes, base, m int) {
	s, r, f, q, n := e.s, e.s.readers[i], o.separables[i], len(nodes.Weight), o.separables[i].n
	for l := range m {
		k, u, _ := r.Few(l)
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
