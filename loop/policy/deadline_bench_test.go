package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time of the calling thread.
func threadTime(tb testing.TB) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// BenchmarkDeadline measures the processor time of decisions that a deadline of 50 ms bounds, each
// on one thread after an observation: its median, its quantile 0.999 and the share that was
// cut. -benchtime 10000x gives that quantile a meaning; a few decisions show what costs too much
// outside of units of work.
func BenchmarkDeadline(b *testing.B) {
	const deadline = 50 * time.Millisecond
	for _, kind := range []string{"irgp-ucb", "rahbo", "costids", "mes", "ucb-cvs"} {
		for _, d := range []int{3, 5, 10} {
			for _, n := range []int{100, 500, 1000} {
				b.Run(fmt.Sprintf("%s/d=%d/n=%d", kind, d, n), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					s := runningSpec(kind, d)
					if kind == "costids" || kind == "ucb-cvs" { // a few sets beside the full one
						s.ControlSets = append(sets(d, []float64{1, 1}, []int{0}, []int{1, 2}), full(d)...)
						s.ControlSets[2].Cost, s.Schedule = 5, ""
						if kind == "ucb-cvs" {
							s.Schedule = "etc-ada"
						} else {
							s.Rho = 2
						}
					}
					p, rng := grown(b, s, n), rand.New(rand.NewPCG(4, 5))
					var took []time.Duration
					cut := 0
					for b.Loop() {
						ctx, cancel := context.WithTimeout(context.Background(), deadline)
						begun := threadTime(b)
						q, err := p.Propose(ctx)
						took = append(took, threadTime(b)-begun)
						cancel()
						if err != nil {
							b.Fatal(err)
						}
						if q.Cut {
							cut++
						}
						tell(b, p, rng, q)
					}
					slices.Sort(took)
					at := func(quantile float64) float64 {
						return float64(took[min(int(quantile*float64(len(took))), len(took)-1)]) / float64(time.Millisecond)
					}
					b.ReportMetric(at(0.5), "p50-ms")
					b.ReportMetric(at(0.999), "p99.9-ms")
					b.ReportMetric(float64(cut)/float64(len(took)), "cut")
				})
			}
		}
	}
}
