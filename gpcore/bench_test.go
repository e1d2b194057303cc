package gpcore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Run with
//
//	go test ./gpcore/... -bench 'Replace|Append|Noise|Predict|Decide' -benchmem
//
// Data are three-dimensional, the kernel is a squared exponential with lengthscale
// 0.3, noise 0.01. Each operation leaves the process as full as it was.

var benchSizes = []int{64, 128, 256, 512, 1024, 2048}

// full is a process at capacity n, and points to feed it with.
func full(b *testing.B, k kernels.Kernel, n int) (*gpcore.GP, [][]float64) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	g := gpcore.New(k, n)
	x, y, noise := make([]float64, 0, n*k.Dim()), make([]float64, n), vec.Constant(n, 0.01)
	for i := range n {
		x = append(x, gptest.Point(rng, k.Dim())...)
		y[i] = math.Sin(3*x[i*k.Dim()]) + 0.1*rng.NormFloat64()
	}
	if err := g.Load(x, y, noise); err != nil {
		b.Fatal(err)
	}
	fresh := make([][]float64, 256)
	for i := range fresh {
		fresh[i] = gptest.Point(rng, k.Dim())
	}
	return g, fresh
}

func forSizes(b *testing.B, run func(b *testing.B, g *gpcore.GP, x [][]float64)) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			g, x := full(b, gptest.Cube(), n)
			run(b, g, x)
		})
	}
}

// Replacing the oldest is the worst case: every row is rotated.
func BenchmarkReplace(b *testing.B) {
	forSizes(b, func(b *testing.B, g *gpcore.GP, x [][]float64) {
		for i := 0; b.Loop(); i++ {
			if err := g.Replace(0, x[i%len(x)], 1, 0.01); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Removing the last observation costs O(n) and is part of each round.
func BenchmarkAppend(b *testing.B) {
	forSizes(b, func(b *testing.B, g *gpcore.GP, x [][]float64) {
		_ = g.Remove(g.Len() - 1)
		for i := 0; b.Loop(); i++ {
			if err := g.Append(x[i%len(x)], 1, 0.01); err != nil {
				b.Fatal(err)
			}
			_ = g.Remove(g.Len() - 1)
		}
	})
}

// Changing the noise of the oldest is the worst case: every row changes.
func BenchmarkNoise(b *testing.B) {
	forSizes(b, func(b *testing.B, g *gpcore.GP, _ [][]float64) {
		for i := 0; b.Loop(); i++ {
			if err := g.SetNoise(0, 0.01+0.001*float64(i%2)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// All noises at once, exactly.
func BenchmarkNoises(b *testing.B) {
	forSizes(b, func(b *testing.B, g *gpcore.GP, _ [][]float64) {
		noise := vec.Constant(g.Len(), 0.011)
		_ = g.SetNoises(noise)
		for b.Loop() {
			if err := g.SetNoises(noise); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func perPoint(b *testing.B, points int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(points), "ns/point")
}

func flat(x [][]float64, m int) []float64 {
	var s []float64
	for i := range m {
		s = append(s, x[i%len(x)]...)
	}
	return s
}

func BenchmarkPredict(b *testing.B) {
	for _, m := range []int{1, 240} {
		for _, n := range benchSizes {
			b.Run(fmt.Sprintf("points=%d/n=%d", m, n), func(b *testing.B) {
				g, x := full(b, gptest.Cube(), n)
				at, mean, variance := flat(x, m), make([]float64, m), make([]float64, m)
				for b.Loop() {
					g.Predict(mean, variance, at)
				}
				perPoint(b, m)
			})
		}
	}
}

func BenchmarkPredictMatern(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("points=240/n=%d", n), func(b *testing.B) {
			g, x := full(b, kernels.Matern52(1, []float64{0.3, 0.3, 0.3}), n)
			at, mean, variance := flat(x, 240), make([]float64, 240), make([]float64, 240)
			for b.Loop() {
				g.Predict(mean, variance, at)
			}
			perPoint(b, 240)
		})
	}
}

func BenchmarkPredictGrad(b *testing.B) {
	forSizes(b, func(b *testing.B, g *gpcore.GP, x [][]float64) {
		dm, dv := make([]float64, 3), make([]float64, 3)
		for i := 0; b.Loop(); i++ {
			g.PredictGrad(x[i%len(x)], dm, dv)
		}
	})
}

func BenchmarkPredictGrads(b *testing.B) {
	forSizes(b, func(b *testing.B, g *gpcore.GP, x [][]float64) {
		const m = 24
		r := g.Reader()
		mean, variance, dm, dv := make([]float64, m), make([]float64, m), make([]float64, 3*m), make([]float64, 3*m)
		at := flat(x, m)
		for b.Loop() {
			r.PredictGrads(mean, variance, dm, dv, at)
		}
		perPoint(b, m)
	})
}
