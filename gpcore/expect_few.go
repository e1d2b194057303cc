package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// few points or less are solved for one by one, because a panel costs as much as few of
// them; but together, so that the factor passes through the caches once.

// solveMany is [factor.solve] for m vectors that lie one after the other, up24(cap)
// apart; q[i] is the squared norm of W k_i.
func (f *factor) solveMany(q, k, l, u []float64, m, stride int) {
	for i := range m {
		clear(u[i*stride : i*stride+up8(f.n)])
	}
	for r := 0; r < f.n; r += vec.Rows {
		for i := range m {
			at := i * stride
			f.fold(r, k[at:at+stride], l[at:at+stride], u[at:at+stride])
		}
	}
	for i := range m {
		v := l[i*stride : i*stride+f.n]
		q[i] = vec.Dot(v, v)
	}
}

// gaussianFew adds m < few pairs of points and nodes of a squared exponential.
func (e *Expected) gaussianFew(i int, nodes *Nodes, base, m int, dst, grad []float64) {
	s, r, f, q := e.s, e.s.readers[i], e.facets[i], len(nodes.Weight)
	fac, n, stride := r.g.f, f.n, len(s.b)/lanes
	r.follow()
	for l := range m {
		r.single(s.full[l*e.d:(l+1)*e.d], false)
		copy(s.b[l*stride:(l+1)*stride], r.k)
	}
	fac.solveMany(r.q[:], s.b, s.v, s.u, m, stride)
	for l := range m {
		k, u := s.b[l*stride:l*stride+n], s.u[l*stride:l*stride+n]
		at := (base + l) / q
		s.mean[l], s.vari[l] = vec.Dot(k, fac.alpha), max(r.prior[0]-r.q[l], 0)
		dst[at] += e.weigh(i, l, nodes.Weight[(base+l)%q])
		vec.Multiply(u, k)
		sum := vec.Dot(u, s.ones)
		for j, c := range f.scale {
			z := s.full[l*e.d+e.in.Controlled[j]] * c
			v := 4 * math.Ln2 * s.byVar[l] * (z*sum - vec.Dot(u, f.columns[j*n:(j+1)*n]))
			if s.byMu[l] != 0 { // without a closed form: mean is alpha
				v -= 2 * math.Ln2 * s.byMu[l] * (z*s.mean[l] - vec.Dot(k, f.meanRows[j*n:(j+1)*n]))
			}
			grad[at*f.dc+j] += c * v
		}
	}
}
