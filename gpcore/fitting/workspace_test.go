package fitting

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// soil has a workspace hold nothing that is a number.
func (w *Workspace) soil() {
	for _, s := range [][]float64{w.noise, w.ones, w.resid, w.alpha, w.v, w.u, w.here, w.along, w.whitened} {
		for i := range s[:cap(s)] {
			s[:cap(s)][i] = math.NaN()
		}
	}
}

// TestWorkspaceChangesNoBit: a fit in the memory of others, of more and of fewer observations and coordinates, of other kernels,
// with other free parameters and after one that failed, is the one that it is in fresh memory, whatever that holds.
func TestWorkspaceChangesNoBit(t *testing.T) {
	var w Workspace
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, _ *rand.Rand) {
		singular := fitProblem(kernels.Matern52(1, []float64{0.3}), 12, 4)
		singular.Noise, singular.NoiseVariance = nil, make([]float64, 12)
		copy(singular.X, []float64{0.5, 0.5, 0.5})
		if _, err := w.Fit(context.Background(), singular); !errors.Is(err, ErrNoFit) {
			t.Fatalf("the same point three times without noise: %v", err)
		}
		for i, n := range []int{37, 130, 9, 61} {
			p := fitProblem(k, n, uint64(i))
			if p.Starts = 0; i == 2 {
				p.Noise, p.MeanSD = nil, 0
			}
			want, err := new(Workspace).Fit(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			w.soil()
			got, err := w.Fit(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := got.Kernel.Params(nil), want.Kernel.Params(nil); !slices.Equal(a, b) {
				t.Fatalf("%d observations: %v, want %v", n, a, b)
			}
			if got.Kernel, want.Kernel = nil, nil; got != want {
				t.Fatalf("%d observations: %+v, want %+v", n, got, want)
			}
		}
	})
}

// TestWorkspaceTakesNoMemory: a fit after one of as many observations allocates a small part of what its matrices take.
func TestWorkspaceTakesNoMemory(t *testing.T) {
	const n = 120
	p := fitProblem(kernels.Matern52(1, []float64{0.3, 0.5}), n, 1)
	p.Starts = 0
	var w Workspace
	var before, after runtime.MemStats
	for range 2 {
		runtime.ReadMemStats(&before)
		if _, err := w.Fit(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8*n*n*3/8 {
		t.Errorf("%d bytes, a matrix has %d", got, 8*n*n)
	}
}
