package loop

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestStepsTakeFewObjects: what a step of three shots takes from the heap around its decision, ticks included, is bounded,
// apart from the journal with its encoding and from the instrument with the maps of its readings.
func TestStepsTakeFewObjects(t *testing.T) {
	rate := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = rate }()
	runtime.MemProfileRate = 1
	sums, places := stepTakes(t)
	for range 2 { // what other tests have left running can only add to it
		if sums["loop"] > mostObjects {
			sums, places = stepTakes(t)
		}
	}
	t.Logf("objects a step: journal %.1f, instrument %.1f, loop %.1f", sums["journal"], sums["instrument"], sums["loop"])
	if sums["loop"] <= mostObjects {
		return
	}
	t.Errorf("the loop takes %.1f objects a step, at most %d are allowed; most of them in", sums["loop"], mostObjects)
	sorted := slices.SortedFunc(maps.Keys(places), func(a, b string) int { return cmp.Compare(places[b], places[a]) })
	for _, place := range sorted {
		if places[place] >= 1 && strings.HasPrefix(place, "loop: ") {
			t.Logf("%6.1f %s", places[place], place)
		}
	}
}

// stepTakes lists what a step takes, by whose it is and by place: what a longer run takes beyond a shorter one.
func stepTakes(t *testing.T) (sums, places map[string]float64) {
	const few, many = 30, 90
	short, long := takenBy(t, few), takenBy(t, many)
	sums, places = map[string]float64{}, map[string]float64{}
	for place, n := range long {
		each := (n - short[place]) / (many - few)
		who, _, _ := strings.Cut(place, ": ")
		sums[who] += each
		places[place] = each
	}
	return sums, places
}

// mostObjects is what a step of the test may take in the loop. What it takes (19): each of two writes three (itself, and
// the map of its setpoints, which is the driver's from then on), the intent three (with its map), decision, outcome of the
// actions and outcome of the step one each, the vectors of the decision, which variables are random, shots and their
// readings, mean setting, question to the policy, lesson and observation one each. A tick that asks nothing takes none, nor
// does a reading.
const mostObjects = 20

// takenBy lists how many objects a run of so many steps takes at each place.
func takenBy(t *testing.T, steps int) map[string]float64 {
	before := allObjects()
	tr := newTrial(t)
	tr.opt.Stop.Steps = steps
	values := make([]float64, steps)
	for i := range values {
		values[i] = 3 + float64(i%2)/4
	}
	tr.policy.proposals = proposeAll(values...)
	if _, err := tr.run(t, context.Background()); err != nil || len(tr.outcomes) != steps {
		t.Fatalf("%d steps of %d: %v", len(tr.outcomes), steps, err)
	}
	after := allObjects()
	for place, n := range before {
		after[place] -= n
	}
	return after
}

// allObjects counts what this process has taken so far, by whose it is and by function.
func allObjects() map[string]float64 {
	runtime.GC() // what was taken before the last collection but one is in the profile
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, _ := runtime.MemProfile(records, true)
	out := map[string]float64{}
	for _, r := range records[:n] {
		out[placeOf(r.Stack())] += float64(r.AllocObjects)
	}
	return out
}

// placeOf is whose an allocation is, and the function of the loop that it was for.
func placeOf(stack []uintptr) string {
	frames, who, place := runtime.CallersFrames(stack), "loop", ""
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.Contains(f.Function, "allObjects") {
			return "test: "
		}
		for _, part := range []string{"database/sql", "modernc.org/", "encoding/", "compress/", "/loop/journal", "/loop/trace", "/loop/plan.explain"} {
			if strings.Contains(f.Function, part) {
				who = "journal"
			}
		}
		for _, part := range []string{"(*rig)", "(*script)", "newTrial", "loop.proposeAll"} {
			if strings.Contains(f.Function, part) && who == "loop" {
				who = "instrument"
			}
		}
		if place == "" && strings.Contains(f.Function, "/loop") {
			place = f.Function
		}
	}
	return who + ": " + place
}
