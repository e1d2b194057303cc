package policy

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/labtuner/tuner/gpcore"
)

// maxWorkers bounds the memory of the readers.
const maxWorkers = 8

// chunk is how many points of all variables make one job: two panels of gpcore.
const chunk = 48

// worker has what one goroutine needs to evaluate acquisitions.
type worker struct {
	f, v                *gpcore.Reader // v nil where the noise is constant
	x                   []float64      // chunk x d
	mean, variance      [chunk]float64
	noiseMean, noiseVar [chunk]float64
	dMean, dVar         []float64 // chunk x d
}

// pool spreads independent jobs over the processor's cores. Who does a job has no
// influence on its result, so neither has the number of cores.
type pool struct {
	workers []*worker
	f, v    *gpcore.GP // what the readers read
}

// newPool makes one worker for each core that the process may use.
func newPool(m *model) *pool {
	p := &pool{f: m.f}
	if m.v != nil {
		p.v = m.v.gp
	}
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		w := &worker{f: m.f.Reader(), x: make([]float64, chunk*m.dims)}
		w.dMean, w.dVar = make([]float64, chunk*m.dims), make([]float64, chunk*m.dims)
		if m.v != nil {
			w.v = m.v.gp.Reader()
		}
		p.workers = append(p.workers, w)
	}
	return p
}

// serves says that the pool still fits the model and the processor; a nil pool does
// not.
func (p *pool) serves(m *model) bool {
	return p != nil && p.f == m.f && (m.v == nil) == (p.v == nil) && (m.v == nil || p.v == m.v.gp) &&
		len(p.workers) == min(runtime.GOMAXPROCS(0), maxWorkers)
}

// each calls job(w, i) for i = 0 ... n-1, each once, and returns when all are done.
func (p *pool) each(n int, job func(w *worker, i int)) {
	if len(p.workers) == 1 || n == 1 {
		for i := range n {
			job(p.workers[0], i)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for _, w := range p.workers[:min(n, len(p.workers))] {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				job(w, i)
			}
		})
	}
	wait.Wait()
}
