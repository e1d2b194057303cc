package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time of the calling thread.
func threadTime(tb testing.TB) time.Duration { return clockTime(tb, unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime is that of all threads: fits in the background count.
func processTime(tb testing.TB) time.Duration { return clockTime(tb, unix.CLOCK_PROCESS_CPUTIME_ID) }

func clockTime(tb testing.TB, clock int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// besideSpec is that of a kind in three variables whose model is full with n observations.
func besideSpec(kind string, n int) Spec {
	s := runningSpec(kind, 3)
	switch kind {
	case "ei":
		s.Confidence, s.VarianceModel = "", ""
	case "ucb-cvs":
		s = setsSpec(kind)
	}
	s.Model.Capacity = n
	return s
}

// BenchmarkBeside is the part of scripts/compare that goes through the policy: a step, that is Propose, Observe and
// Recommend, in three variables where the model is full with n observations; of "ucb-cvs" with all seven control sets. Its figure is the mean processor time of
// all threads. The first step, which computes what the others keep, does not count. "fits" fits hyperparameters as often
// as the default, "steps" not at all.
func BenchmarkBeside(b *testing.B) {
	for _, kind := range []string{"irgp-ucb", "ei", "rahbo", "ucb-cvs"} {
		for name, every := range map[string]int{"steps": math.MaxInt, "fits": 0} {
			for _, n := range []int{100, 500} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", kind, name, n), func(b *testing.B) {
					s := besideSpec(kind, n)
					s.Model.RefitEvery = every
					p, rng := grown(b, s, n), rand.New(rand.NewPCG(4, 5))
					step(b, p, rng)
					begun, steps := processTime(b), 0
					for b.Loop() {
						step(b, p, rng)
						steps++
					}
					b.ReportMetric(0, "ns/op") // of the wall's clock
					b.ReportMetric(1e6*(processTime(b)-begun).Seconds()/float64(steps), "us")
				})
			}
		}
	}
}
