package policy

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestStepsLeaveLittleGarbage: in steady state a step, Propose, Observe and Recommend, makes
// few and small objects, whatever the model's capacity, with one control set and with seven. What a search or an expectation
// needs is kept, or taken from the processes: one that is made anew in a step takes a
// megabyte at this capacity.
func TestStepsLeaveLittleGarbage(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for kind, most := range map[string]struct{ objects, bytes uint64 }{"irgp-ucb": {100, 32 << 10}, "rahbo": {150, 48 << 10}, "ucb-cvs": {320, 100 << 10}, "costids": {540, 170 << 10}} {
		s := runningSpec(kind, 3)
		if kind == "ucb-cvs" || kind == "costids" {
			s = setsSpec(kind)
		}
		p, rng := grown(t, s, 100), rand.New(rand.NewPCG(4, 5))
		step := func() int {
			q, err := p.Propose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			tell(t, p, rng, q)
			if _, err := p.Recommend(); err != nil {
				t.Fatal(err)
			}
			return q.Step
		}
		for step()%RenewEvery != 5 { // the memory is taken: the next doubling is at 256 observations
		}
		const steps = 30
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range steps {
			step()
		}
		runtime.ReadMemStats(&after)
		objects, bytes := (after.Mallocs-before.Mallocs)/steps, (after.TotalAlloc-before.TotalAlloc)/steps
		t.Logf("%s: %d objects and %d bytes a step", kind, objects, bytes)
		if objects > most.objects || bytes > most.bytes {
			t.Errorf("%s: %d objects and %d bytes a step, at most %d and %d are allowed", kind, objects, bytes, most.objects, most.bytes)
		}
	}
}
