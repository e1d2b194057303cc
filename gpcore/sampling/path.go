package sampling

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// ErrNoSpectrum says that a kernel from outside this package has no known spectrum.
var ErrNoSpectrum = errors.New("gpcore: this kernel has no known spectrum; draw with DrawJoint instead")

// Path is one draw of the whole function from the posterior (Wilson et al. 2021):
// a prior draw made of random Fourier features plus the correction that the data ask for,
//
//	f(x) = f_0(x) + sum over i of v_i k(x, X_i),   v = K^-1 (y - f_0(X) - e).
//
// The correction is exact; f_0 has the kernel's covariance up to an error of order
// 1/sqrt(features). A path does not follow later changes of the process. It is not
// safe for concurrent use.
type Path struct {
	*drawn
	compiled version // what the evaluator is for
	eval     panels.Compiled

	point, lane, b, e, x, wave, g, each []float64
	sum                                 [vec.Lanes]float64
	job                                 panels.Panel
}

// drawn is what a path has in common with its forks.
type drawn struct {
	d        int
	kernel   version
	points   *model.Points
	n        int
	v        []float64
	features []panels.Feature
	omega    []float64 // of all features
	w        []float64 // two normals a feature, over sqrt(features)
	// w1 cos t + w2 sin t = radius cos(t - phase)
	radius, phase []float64
	// waves are the features where joined: none has a linear factor, which differs from point to point;
	// slopes are their derivatives by their arguments, and omegas their frequencies, a row a coordinate.
	joined        bool
	waves, slopes vec.Waves
	omegas        []float64

	atPoints   []float64 // scratch
	correction correction
}

// version is a kernel of a process, with room for so many observations.
type version struct {
	of     *model.Model
	number uint64
	kernel kernels.Kernel
	room   int
}

func versionOf(m *model.Model) version { return version{m, m.Version, m.Kernel, max(m.Room(), 1)} }

// same reports whether an evaluator for v is one for o.
func (v *version) same(o *version) bool {
	return v.of == o.of && v.number == o.number && v.room == o.room
}

// NewPath draws a path of g made of the given number of features; 1000 are usual. O(n^2 +
// features*n*d); allocates O(n + features*d). It panics unless features is positive, and
// returns ErrNoSpectrum for kernels from outside this package.
func NewPath(g *gpcore.GP, rng *rand.Rand, features int) (*Path, error) {
	if features <= 0 {
		panic("gpcore: a path needs at least one feature")
	}
	p := &Path{drawn: &drawn{features: make([]panels.Feature, features), w: make([]float64, 2*features), radius: make([]float64, features), phase: make([]float64, features)}}
	if err := p.Redraw(g, rng); err != nil {
		return nil, err
	}
	return p, nil
}

// Redraw makes p the path that [NewPath] would draw, with as many features, in the memory that it has. Forks of p
// are then for Follow only.
func (p *Path) Redraw(g *gpcore.GP, rng *rand.Rand) error {
	m := g.Model()
	p.drawn.kernel, p.d, p.n = versionOf(m), m.Points.D, m.Factor.N
	p.fit()
	width := p.eval.Width
	if !p.points.Suit(p.d, p.drawn.kernel.room, p.eval) {
		p.points = model.NewPoints(p.d, p.drawn.kernel.room, p.eval)
	}
	copy(p.points.X, m.Points.X[:p.n*p.d])
	p.points.Embed(p.eval, p.n)
	p.omega = vec.Grown(p.omega, len(p.features)*width)
	clear(p.omega)
	for i := range p.features {
		w := &p.features[i]
		w.Amplitude, w.Omega, w.Linear = 1/math.Sqrt(float64(len(p.features))), p.omega[i*width:(i+1)*width], w.Linear[:0]
		panels.SampleFeature(p.eval.Evaluator, w, rng, i)
		if math.IsNaN(w.Amplitude) {
			return ErrNoSpectrum
		}
		p.w[2*i], p.w[2*i+1] = rng.NormFloat64(), rng.NormFloat64()
		p.radius[i], p.phase[i] = math.Hypot(p.w[2*i], p.w[2*i+1]), math.Atan2(p.w[2*i+1], p.w[2*i])
	}
	p.join()
	p.atPoints = vec.Grown(p.atPoints, p.n)
	for i := 0; i < p.n; i += vec.Lanes {
		m := min(vec.Lanes, p.n-i)
		p.load(p.points.X[i*p.d:], m)
		p.priors(p.atPoints[i : i+m])
	}
	p.v = append(p.v[:0], p.correction.draw(rng, m.Factor, p.atPoints)...)
	return nil
}

// join makes waves of the features.
func (p *drawn) join() {
	w, s := &p.waves, &p.slopes
	w.Omega, w.N, w.D = p.omega, len(p.features), len(p.omega)/len(p.features)
	w.Shift, w.Weight, s.Shift = w.Shift[:0], w.Weight[:0], s.Shift[:0]
	for i := range p.features {
		if p.joined = len(p.features[i].Linear) == 0; !p.joined {
			return
		}
		w.Shift, w.Weight = append(w.Shift, -p.phase[i]), append(w.Weight, float64(p.features[i].Amplitude*p.radius[i]))
	}
	w.Prepare()
	s.Omega, s.Weight, s.N, s.D = p.omega, w.Weight, w.N, w.D
	for _, v := range w.Shift { // -sin t = cos(t + pi/2)
		s.Shift = append(s.Shift, v+math.Pi/2)
	}
	s.Prepare()
	p.omegas = vec.Grown(p.omegas, len(p.omega))
	for i := range w.N {
		for q := range w.D {
			p.omegas[q*w.N+i] = p.omega[i*w.D+q]
		}
	}
}

// fit makes the evaluator and the scratch for the kernel and the observations of what was drawn.
func (p *Path) fit() {
	k := &p.drawn.kernel
	if !p.compiled.same(k) {
		p.compiled, p.eval = *k, panels.Compile(k.kernel, k.room)
		width := p.eval.Width
		p.point, p.lane = vec.Grown(p.point, width), vec.Grown(p.lane, width*vec.Lanes)
		p.b, p.e, p.x = vec.Grown(p.b, vec.Up24(k.room)*vec.Lanes), vec.Grown(p.e, width*vec.Lanes), vec.Grown(p.x, p.d*vec.Lanes)
		p.wave = vec.Grown(p.wave, len(p.features))
	}
	clear(p.b[p.n*vec.Lanes : vec.Up24(p.n)*vec.Lanes]) // whole tiles are read
}

// Fork is the same function with its own scratch, for another goroutine.
func (p *Path) Fork() *Path {
	f := &Path{drawn: p.drawn}
	f.fit()
	return f
}

// Follow makes a fork of any path one of o.
func (p *Path) Follow(o *Path) {
	p.drawn = o.drawn
	p.fit()
}

// priors sets dst to f_0 at the points that were loaded.
func (p *Path) priors(dst []float64) {
	if p.joined {
		var sum [vec.Lanes]float64
		p.waves.Sum(sum[:], p.lane)
		copy(dst, sum[:])
		return
	}
	for i := range dst {
		for q := range p.point {
			p.point[q] = p.lane[q*vec.Lanes+i]
		}
		dst[i] = p.prior(p.point)
	}
}

// prior is f_0 at an embedded point.
func (p *Path) prior(e []float64) float64 {
	for i := range p.features {
		t := -p.phase[i]
		for q, v := range p.features[i].Omega { // few: a call takes longer
			t += float64(v * e[q])
		}
		p.wave[i] = t
	}
	vec.Cos(p.wave)
	s := 0.0
	for i, c := range p.wave {
		w := &p.features[i]
		a := w.Amplitude * p.radius[i]
		for _, q := range w.Linear {
			a *= e[q]
		}
		s += float64(a * c)
	}
	return s
}

// priorGradient sets g (one value per embedded coordinate) to the derivatives of f_0.
func (p *Path) priorGradient(g, e []float64) {
	clear(g)
	for i := range p.features {
		w := &p.features[i]
		a := w.Amplitude
		for _, q := range w.Linear {
			a *= e[q]
		}
		sin, cos := math.Sincos(vec.Dot(w.Omega, e))
		value := p.w[2*i]*cos + p.w[2*i+1]*sin
		vec.Axpy(g, a*(p.w[2*i+1]*cos-p.w[2*i]*sin), w.Omega)
		for j, q := range w.Linear {
			others := w.Amplitude
			for k, o := range w.Linear {
				if k != j {
					others *= e[o]
				}
			}
			g[q] += others * value
		}
	}
}

// load embeds m points as lanes and sets up the job; the lanes left over repeat the
// last point.
func (p *Path) load(x []float64, m int) {
	for i := range vec.Lanes {
		if i < m {
			p.eval.Embed(p.point, x[i*p.d:(i+1)*p.d])
		}
		for q, v := range p.point {
			p.lane[q*vec.Lanes+i] = v
		}
	}
	p.job = panels.Panel{Rows: p.points.Rows, RowCap: p.points.Cap, Lane: p.lane, N: p.n, Out: p.b, Weights: p.v, Sum: p.sum[:]}
}

// Values sets dst[j] to the function at point j; x is m x d row-major. O(n +
// features*d) a point.
func (p *Path) Values(dst, x []float64) {
	if len(x) != len(dst)*p.d {
		panic("gpcore: Values needs d coordinates for each value")
	}
	for j := 0; j < len(dst); j += vec.Lanes {
		p.panel(dst[j:min(j+vec.Lanes, len(dst))], x[j*p.d:])
	}
}

// panel sets dst to the function at up to 24 points.
func (p *Path) panel(dst, x []float64) {
	p.load(x, len(dst))
	p.eval.Fill(&p.job)
	p.priors(dst)
	for i := range dst {
		dst[i] = p.sum[i] + dst[i]
	}
}

// Gradients is Values that also sets row j of grad to the derivatives at point j. O(n +
// features*d) a point.
func (p *Path) Gradients(dst, grad, x []float64) {
	if len(grad) != len(x) || len(x) != len(dst)*p.d {
		panic("gpcore: Gradients needs d coordinates and derivatives for each value")
	}
	for j := 0; j < len(dst); j += vec.Lanes {
		m := min(vec.Lanes, len(dst)-j)
		p.panel(dst[j:j+m], x[j*p.d:])
		p.slopesOfLanes(m)
		for l := range m {
			for i := range p.d {
				grad[(j+l)*p.d+i] = p.x[i*vec.Lanes+l]
			}
		}
	}
}

// slopesOfLanes sets x (d x 24) to the derivatives at the m points of the last panel.
func (p *Path) slopesOfLanes(m int) {
	// The covariances have been used; their memory now holds the weights, for all lanes the same.
	for i, v := range p.v {
		for l := range vec.Lanes {
			p.b[i*vec.Lanes+l] = v
		}
	}
	clear(p.e)
	clear(p.x)
	p.eval.LaneGradient(&p.job, p.b, p.e)
	p.addPriorSlopes(m)
	p.eval.Pullback(p.x, p.e, p.lane)
}

// addPriorSlopes adds the derivatives of f_0 by the embeddings of the lanes.
func (p *Path) addPriorSlopes(m int) {
	if p.joined {
		p.each = vec.Grown(p.each, p.slopes.N*vec.Lanes)
		p.slopes.Each(p.each, p.lane)
		var sum [vec.Lanes]float64
		for q := range p.slopes.D {
			vec.Combine(sum[:], p.omegas[q*p.slopes.N:(q+1)*p.slopes.N], p.each)
			vec.Axpy(p.e[q*vec.Lanes:(q+1)*vec.Lanes], 1, sum[:])
		}
		return
	}
	p.g = vec.Grown(p.g, len(p.point))
	for l := range m {
		for q := range p.point {
			p.point[q] = p.lane[q*vec.Lanes+l]
		}
		p.priorGradient(p.g, p.point)
		for q, v := range p.g {
			p.e[q*vec.Lanes+l] += v
		}
	}
}

// correction turns a draw of the prior into one of the posterior (Matheron's rule). It
// holds scratch.
type correction struct{ k, l, u []float64 }

// draw returns K^-1 (y - prior - e) with e drawn from the noise, where prior are the
// values of a prior draw at the observations. The result is valid until the next draw.
func (c *correction) draw(rng *rand.Rand, f *factor.Factor, prior []float64) []float64 {
	size := vec.Up8(f.N)
	c.k, c.l, c.u = vec.Grown(c.k, size), vec.Grown(c.l, size), vec.Grown(c.u, size)
	for i := range f.N {
		c.k[i] = f.Y[i] - prior[i] - math.Sqrt(f.Noise[i])*rng.NormFloat64()
	}
	clear(c.k[f.N:])
	f.Solve(c.k, c.l, c.u)
	return c.u[:f.N]
}
