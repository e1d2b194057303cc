package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestStepsLeaveLittleGarbage: in steady state a step, Propose, Observe and Recommend, takes next to nothing from the
// heap, with one control set and with seven, and with a constraint; where each step has another time or region, it takes a
// few dozen objects. What a decision works with is taken from the memory of its policy's calls, and what leaves with proposals comes from blocks, of which one is made in
// 64 steps. One object of a step is this test's. Schedule
// auto asks for the recommendation in each decision too, so that it takes twice as many of those blocks.
func TestStepsLeaveLittleGarbage(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for kind, most := range map[string]garbage{
		"irgp-ucb": {1, 1 << 10}, "rgp-ucb": {1, 1 << 10}, "gp-ucb": {1, 1 << 10}, "rahbo": {1, 1 << 10}, "ucb-cvs": {1, 1 << 10}, "ucb-cvs auto": {1, 2 << 10}, "costids": {1, 1 << 10},
		"ei": {1, 1 << 10}, "pims": {1, 1 << 10}, "ts": {1, 1 << 10}, "mes": {1, 1 << 10}, "hp-gp-ts": {2, 1 << 10}, "map-gp-ts": {2, 1 << 10}, "pe-gp-ts": {1, 1 << 10},
		"pe-gp-ucb": {1, 1 << 10}, "pbgi": {1, 1 << 10}, "jes": {1, 1 << 10},
		"constraint": {1, 1 << 10},
		"drift":      {38, 6 << 10}, "track": {38, 6 << 10}, "timescales": {90, 14 << 10}, // expectations anew, because time goes on
		"trust": {68, 192 << 10}, // searches anew
	} {
		if got := garbageOf(t, garbageSpec(kind)); got.objects > most.objects || got.bytes > most.bytes {
			t.Errorf("%s: %d objects and %d bytes a step, at most %d and %d are allowed", kind, got.objects, got.bytes, most.objects, most.bytes)
		} else {
			t.Logf("%s: %d objects and %d bytes a step", kind, got.objects, got.bytes)
		}
	}
}

// garbage is what a step takes from the heap.
type garbage struct{ objects, bytes uint64 }

// garbageSpec is that of a run of a kind in three variables, or of gp-ucb with what else it may have.
func garbageSpec(kind string) Spec {
	if kind == "ucb-cvs" || kind == "ucb-cvs auto" || kind == "costids" {
		return setsSpec(kind)
	}
	s := runningSpec("gp-ucb", 3)
	switch kind {
	case "constraint":
		s = pressed(s, math.Inf(-1), 0.25)
	case "drift":
		s.Drift.Timescale = []float64{200}
	case "timescales":
		s.Model.Hyperparameters, s.Drift.Timescale = "priors", []float64{50, 200}
	case "track":
		s.Kind, s.Drift.Hold, s.Drift.Detect = "track", 0.1, true
	case "trust":
		s.Region = regionTrust
	default:
		s = runningSpec(kind, 3)
	}
	if kind != "rahbo" && kind != "irgp-ucb" && s.Kind != "track" {
		s.Confidence, s.VarianceModel = "", ""
	}
	switch kind {
	case "hp-gp-ts", "map-gp-ts", "pe-gp-ts", "pe-gp-ucb":
		s.Model.Hyperparameters = "priors"
	}
	return s
}

// garbageOf measures steps in which no search is renewed, with a model that is full.
func garbageOf(t *testing.T, s Spec) garbage {
	s.Model.Capacity = 100
	p, rng := grown(t, s, s.Model.Capacity), rand.New(rand.NewPCG(4, 5))
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
	for step()%RenewEvery != 55 { // the memory is taken, and no search is renewed in the next forty
	}
	least := garbage{math.MaxUint64, math.MaxUint64}
	for range 2 { // a list may still grow in one of them
		const steps = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range steps {
			step()
		}
		runtime.ReadMemStats(&after)
		least.objects = min(least.objects, (after.Mallocs-before.Mallocs)/steps)
		least.bytes = min(least.bytes, (after.TotalAlloc-before.TotalAlloc)/steps)
	}
	return least
}
