package gpcore_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// The distribution of the time of a step at capacity: the oldest observation is
// replaced, which is the most work a replacement can be and always the same. In turn
// with it, work that is constant by construction: dot products within the first-level
// cache, as many as take about as long. Its spread is what the machine and its other
// tenants add to anything. The number of steps is the -benchtime:
//
//	go test ./gpcore -run '^$' -bench Latency -benchtime 20000x      the size for every day
//	go test ./gpcore -run '^$' -bench Latency -benchtime 1000000x    at night
//
// spread is p99.9 - p50 of the step over that of the constant work.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{256, 512, 1024, 2048} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			g, x := full(b, gptest.Cube(), n)
			rng := rand.New(rand.NewPCG(5, uint64(n)))
			step := func() {
				if err := g.Replace(0, x[rng.IntN(len(x))], rng.NormFloat64(), 0.01); err != nil {
					b.Fatal(err)
				}
			}
			measureLatency(b, step)
		})
	}
}

// constantWork returns dot products that take about as long as the step.
func constantWork(step func()) func() {
	const size = 512 // 8 rows and a vector: 36 KiB less what the pad does not touch
	w, x, l := make([]float64, 8*size), make([]float64, size), make([]float64, vec.Rows)
	dots := func() { vec.Dots8(l, w, size, x) }
	usual := func(f func()) float64 {
		t := make([]time.Duration, 301)
		for i := range t {
			start := time.Now()
			f()
			t[i] = time.Since(start)
		}
		slices.Sort(t)
		return t[len(t)/2].Seconds()
	}
	hundred := usual(func() {
		for range 100 {
			dots()
		}
	})
	rounds := max(int(100*usual(step)/hundred), 1)
	return func() {
		for range rounds {
			dots()
		}
	}
}

func measureLatency(b *testing.B, step func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	constant := constantWork(step)
	steps, constants := make([]time.Duration, b.N), make([]time.Duration, b.N)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		step()
		steps[i] = time.Since(start)
		start = time.Now()
		constant()
		constants[i] = time.Since(start)
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	slices.Sort(steps)
	slices.Sort(constants)
	at := func(t []time.Duration, p float64) float64 {
		return 1e6 * t[min(int(p*float64(len(t))), len(t)-1)].Seconds()
	}
	for _, q := range []struct {
		name string
		p    float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}} {
		b.ReportMetric(at(steps, q.p), "us-"+q.name)
		b.ReportMetric(at(constants, q.p), "us-"+q.name+"-constant")
	}
	spread := func(t []time.Duration) float64 { return at(t, 0.999) - at(t, 0.5) }
	b.ReportMetric(spread(steps)/spread(constants), "spread")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs), "mallocs")
	b.ReportMetric(0, "ns/op") // of both
}
