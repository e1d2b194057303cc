package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time of the calling thread.
func threadTime(tb testing.TB) time.Duration { return clockTime(tb, unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime is that of all threads.
func processTime(tb testing.TB) time.Duration { return clockTime(tb, unix.CLOCK_PROCESS_CPUTIME_ID) }

func clockTime(tb testing.TB, clock int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// processorDeadline is a context that ends when the calling thread has taken so much processor
// time, however busy the computer is.
type processorDeadline struct {
	context.Context
	tb  testing.TB
	end time.Duration
}

func (c processorDeadline) Err() error {
	if threadTime(c.tb) > c.end {
		return context.DeadlineExceeded
	}
	return nil
}

// deadlineSpec is the specification of a kind that a cell of BenchmarkDeadline is of.
func deadlineSpec(kind string, d int) Spec {
	name, model, _ := strings.Cut(kind, "-with-")
	s := runningSpec(name, d)
	switch {
	case model != "":
		s.Model.Hyperparameters = model
	case name == "costids" || name == "ucb-cvs": // a few sets beside the full one
		s.ControlSets = append(sets(d, []float64{1, 1}, []int{0}, []int{1, 2}), full(d)...)
		s.ControlSets[2].Cost, s.Schedule = 5, ""
		if name == "ucb-cvs" {
			s.Schedule = "etc-ada"
		} else {
			s.Rho = 2
		}
	}
	return s
}

// BenchmarkDeadline measures the processor time of decisions that may take 50 ms of it, each
// on one thread after an observation: its median, its quantile 0.999, the greatest, and the share of decisions that was
// cut. -benchtime 10000x gives the quantile a meaning; a few decisions show what costs too much within a unit of work or
// outside of them.
func BenchmarkDeadline(b *testing.B) {
	const deadline = 50 * time.Millisecond
	for _, kind := range []string{"irgp-ucb", "rahbo", "rahbo-with-priors", "ucb-cvs", "costids", "mes", "hp-gp-ts"} {
		for _, d := range []int{3, 5, 10, 20, 40} {
			for _, n := range []int{100, 500, 1024} {
				b.Run(fmt.Sprintf("%s/d=%d/n=%d", kind, d, n), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					p, rng := grown(b, deadlineSpec(kind, d), n), rand.New(rand.NewPCG(4, 5))
					var took []time.Duration
					cut := 0
					for b.Loop() {
						begun := threadTime(b)
						q, err := p.Propose(processorDeadline{context.Background(), b, begun + deadline})
						took = append(took, threadTime(b)-begun)
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
					b.ReportMetric(0, "ns/op") // of the observations too
					b.ReportMetric(at(0.5), "p50-ms")
					b.ReportMetric(at(0.999), "p99.9-ms")
					b.ReportMetric(at(1), "max-ms")
					b.ReportMetric(float64(cut)/float64(len(took)), "cut")
				})
			}
		}
	}
}
