package simulator

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/scripts/testsize"
)

// honest are the instrument's faults that show, or that leave what is read true. The
// others (a pulse that reads too high, an actuator that lies about where it stands) put
// wrong data into the record, and a run that believes them must recommend otherwise.
var honest = []string{"dropout:energy", "dropout:coolant", "dropout:a", "stale:energy", "stuck:a", "stuck:b", "lost", "slow:a", "nan", "garbage", "power-cycle", "clock-jump"}

// TestFaultsChangeNothingInTheEnd plays the same problem with faults and without. When
// they have been over for a while, both recommend the same: nothing of what was cut,
// killed, delayed or repeated has stayed in what is believed.
func TestFaultsChangeNothingInTheEnd(t *testing.T) {
	const tick = 10 * time.Second
	long := time.Duration(testsize.Of(3, 10)) * time.Hour
	calm := long / 2
	for seed := *simSeed; seed < *simSeed+1; seed++ {
		problem := func(faults bool) func(*world) {
			return func(w *world) {
				rng := newRand(seed, 3)
				w.pace, w.kind, w.long, w.faults = newPace(tick, rng), "gp-ucb", long, nil
				if faults {
					w.faults = slices.DeleteFunc(schedule(rng, w.pace, long-calm), func(f fault) bool {
						return f.kind == plantFault && !slices.Contains(honest, f.plant())
					})
				}
			}
		}
		without, with := happen(t, seed, long, problem(false)), happen(t, seed, long, problem(true))
		if t.Failed() {
			return
		}
		a, b := without.found, with.found
		if a == nil || b == nil {
			t.Fatalf("seed %d: recommended %v without faults, %v with", seed, a, b)
		}
		t.Logf("seed %d: after %d steps without faults %v (%.3f, SD %.3f), after %d steps with %d faults %v (%.3f, SD %.3f)", seed,
			without.witness.counts.steps, a.Values, a.Mean, a.SD, with.witness.counts.steps, len(with.faults), b.Values, b.Mean, b.SD)
		// The runs see other shots, so they agree as far as each is sure: two standard
		// deviations of either, and no further apart than half of the model's lengthscale,
		// 3 V, within which it tells settings from each other only by noise.
		if d := math.Abs(float64(a.Mean - b.Mean)); d > 2*math.Hypot(float64(a.SD), float64(b.SD))+0.1 {
			t.Errorf("seed %d: the recommended settings are believed to bring %v and %v", seed, a.Mean, b.Mean)
		}
		for i := range a.Values {
			if d := math.Abs(float64(a.Values[i] - b.Values[i])); d > 1.5 {
				t.Errorf("seed %d: %s is recommended at %v and %v", seed, knobs[i], a.Values[i], b.Values[i])
			}
		}
	}
}
