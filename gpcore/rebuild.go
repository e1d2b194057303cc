package gpcore

import (
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// rebuild is a factorisation in progress beside the process's own: a core with
// another kernel or other noises that follows every change of the observations.
// Its factor covers the first to.Factor.N of them.
type rebuild struct {
	to    *model.Core // nil: no rebuild
	noise []float64
	self  *model.View
	err   error // why the rebuild cannot be finished
}

// StartRebuild begins a refactorisation with kernel k and, where not nil, other
// noise variances (Len elements) that [GP.Rebuild] carries out a few rows at a time.
// Meanwhile the process works on with the old ones, and observations may come,
// go and change. A rebuild already in progress is abandoned. Allocates O(Cap), at
// the first use O(Cap^2). It returns ErrShape or a *ValueError.
func (g *GP) StartRebuild(k kernels.Kernel, noiseVariance []float64) error {
	n := g.m.Factor.N
	if k.Dim() != g.m.Points.D || (noiseVariance != nil && len(noiseVariance) != n) {
		return ErrShape
	}
	if noiseVariance == nil {
		noiseVariance = g.m.Factor.Noise[:n]
	}
	if err := check.Noises(noiseVariance); err != nil {
		return err
	}
	g.CancelRebuild()
	r := rebuild{to: g.m.Shadow(k), noise: make([]float64, g.m.Points.Cap), self: model.NewView(g.m)}
	copy(r.noise, noiseVariance)
	r.self.SetKernel(k, g.m.Version+1)
	g.rebuild = r
	return nil
}

// Rebuild factorises up to rows further observations, in blocks of 24, and when
// all are in puts the new factor in place: done is true, and readers follow at
// their next use. Each 24 rows cost 48 n^2 operations and allocate nothing; so
// that it ends, rows must exceed the observations replaced between calls. Without
// a rebuild it does nothing and returns true. On ErrNotPositiveDefinite or a
// *ValueError the rebuild is abandoned and the process is as it was.
func (g *GP) Rebuild(rows int) (done bool, err error) {
	r := &g.rebuild
	if r.to == nil {
		return true, nil
	}
	n := g.m.Factor.N
	for rows > 0 && r.to.Factor.N < n && r.err == nil {
		at := r.to.Factor.N
		m := min(rows, vec.Lanes, n-at)
		r.err = g.m.Extend(r.to, g.m.Factor.Y[at:at+m], r.noise[at:at+m])
		rows -= m
	}
	if r.err != nil {
		err := r.err
		g.CancelRebuild()
		return false, err
	}
	if r.to.Factor.N < n {
		return false, nil
	}
	r.to.Factor.SetTargets(g.m.Factor.Y[:n])
	to, self := r.to, r.self
	g.rebuild = rebuild{}
	g.m.ReplaceKernel(to, self)
	return true, nil
}

// Rebuilding says how many of the observations a rebuild in progress has
// factorised. Without one both are zero.
func (g *GP) Rebuilding() (done, total int) {
	if g.rebuild.to == nil {
		return 0, 0
	}
	return g.rebuild.to.Factor.N, g.m.Factor.N
}

// CancelRebuild ends a rebuild without effect.
func (g *GP) CancelRebuild() { g.rebuild = rebuild{} }

// appended follows the observation that was just appended to g.
func (r *rebuild) appended(g *GP, x []float64, noise float64) {
	if r.to == nil {
		return
	}
	i := g.m.Factor.N - 1
	r.to.Eval.Embed(r.to.Point, x)
	r.to.Points.Set(i, x, r.to.Point, r.to.Eval.Prior(r.to.Point))
	r.noise[i] = noise
}

// removed follows the removal of observation i of n.
func (r *rebuild) removed(i, n int) {
	if r.to == nil {
		return
	}
	if i < r.to.Factor.N {
		c := r.to.Removal()
		r.to.Factor.Remove(&c, i)
	}
	r.to.Points.Remove(i, n)
	copy(r.noise[i:n-1], r.noise[i+1:n])
}

// noiseSet follows a change of noise. Where the new factor cannot, the next call of
// Rebuild says so.
func (r *rebuild) noiseSet(i int, noise float64) {
	if r.to == nil {
		return
	}
	r.noise[i] = noise
	if i < r.to.Factor.N && r.err == nil {
		r.err = r.to.SetNoise(i, noise)
	}
}
