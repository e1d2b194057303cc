package loop

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// wobbler is a rig whose aux channel differs from reading to reading and is silent
// now and then.
type wobbler struct {
	*rig
	count int
}

func (w *wobbler) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	out, err := w.rig.Read(ctx, channels)
	if _, asked := out.Values["aux"]; asked {
		w.count++
		out.Values["aux"] = 300 + float64(w.count*w.count%17)/7 + out.Values["a"]
		if w.count%5 == 0 {
			delete(out.Values, "aux")
		}
	}
	return out, err
}

// constrainedTrial bounds the aux sensor to [290, 305] K.
func constrainedTrial(t *testing.T) *trial {
	tr := newTrial(t)
	tr.deps.Devices[0].Device = &wobbler{rig: tr.rig}
	// Younger than a tick: a reading that did not come is missing in its shot.
	tr.opt.Sensors[1].MaxAge = tr.opt.Tick / 2
	tr.opt.Constraints = []plan.Constraint{{Sensor: 1, Low: 290, High: 305}}
	return tr
}

// TestConstraintIsLearntAsTheJournalHasIt: what the policy learns about a constraint is
// the mean of the shots' values in the journal, bit for bit, and a step that broke it
// is valid and reported.
func TestConstraintIsLearntAsTheJournalHasIt(t *testing.T) {
	tr := constrainedTrial(t)
	tr.policy.proposals = proposeAll(1, 9, 2)
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	res, err := Run(context.Background(), tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	sums, counts, missing := map[int]float64{}, map[int]float64{}, 0
	for _, s := range shotsOf(t, path, 3) {
		if math.IsNaN(s.Sensors[1]) {
			missing++
			continue
		}
		sums[s.Step] += s.Sensors[1]
		counts[s.Step]++
	}
	if missing == 0 {
		t.Error("no shot lacks the sensor: the test does not test what it says")
	}
	if len(tr.policy.seen) != 3 {
		t.Fatalf("%d observations, want 3", len(tr.policy.seen))
	}
	var broken []int
	for i, o := range tr.policy.seen {
		want := sums[i+1] / counts[i+1]
		if len(o.Constrained) != 1 || o.Constrained[0] != want || !o.Valid {
			t.Errorf("step %d: constrained %v, valid %v; the journal's shots say %v", i+1, o.Constrained, o.Valid, want)
		}
		if want > 305 {
			broken = append(broken, i+1)
		}
	}
	var told []int
	for _, e := range tr.events {
		if e.Kind == journal.EventConstraint {
			told = append(told, e.Step)
			if !strings.Contains(e.Message, "aux is ") || !strings.Contains(e.Message, "outside [290, 305]") {
				t.Errorf("told %q", e.Message)
			}
		}
	}
	if len(broken) != 1 || broken[0] != 2 || len(told) != 1 || told[0] != 2 || res.Broken != 1 {
		t.Errorf("steps %v broke the constraint, told of %v, counted %d; want step 2", broken, told, res.Broken)
	}
}

// shotsOf reads the shots of a journal's first steps back.
func shotsOf(t *testing.T, path string, steps int) []journal.Shot {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []journal.Shot
	for n := range steps {
		shots, err := r.Shots(n + 1)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, shots...)
	}
	return out
}

// TestConstraintOfEachShot: where a variable is random, each shot carries its own
// value, none where there was none.
func TestConstraintOfEachShot(t *testing.T) {
	tr := constrainedTrial(t)
	tr.opt.Variables[0].OnRelease = plan.Release
	b := variable("b")
	tr.rig.knobs["b"] = &knob{since: tr.clock.Now()}
	tr.opt.Variables = append(tr.opt.Variables, b)
	tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{1}, Cost: 1}}
	tr.policy.proposals = []policy.Proposal{{X: []float64{math.NaN(), 3}}}
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	shots := shotsOf(t, path, 1)
	if len(shots) != 3 || len(tr.policy.seen) != 3 {
		t.Fatalf("%d shots, %d observations; want 3 of each", len(shots), len(tr.policy.seen))
	}
	for i, o := range tr.policy.seen {
		want := shots[i].Sensors[1]
		if got := o.Constrained[0]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("shot %d: constrained %v, the journal says %v", i+1, got, want)
		}
	}
}

// TestWithoutConstraints: nothing is carried that nobody asked for.
func TestWithoutConstraints(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(1)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if c := tr.policy.seen[0].Constrained; c != nil {
		t.Errorf("constrained %v, want nil", c)
	}
	tr = newTrial(t)
	tr.opt.Constraints = []plan.Constraint{{Sensor: 2}}
	if _, err := tr.run(t, context.Background()); err == nil || !strings.Contains(err.Error(), "constraint on a sensor") {
		t.Errorf("error %v, want one about the sensor", err)
	}
}
