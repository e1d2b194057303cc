package examine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/policy"
)

// TestRehearsalHasEachKindOfDecision: the longest decisions of a run are among those that are timed: searches that begin
// anew, when a fit has come into force, and those that go where nothing was measured.
func TestRehearsalHasEachKindOfDecision(t *testing.T) {
	w := loaded(t, explorer)
	r, err := newRehearsal(w, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	r.most = time.Minute
	if err := r.learn(60, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.decide(timedDecisions); err != nil {
		t.Fatal(err)
	}
	if len(r.took) != timedDecisions || r.cut {
		t.Fatalf("%d decisions, want %d, none cut (%v)", len(r.took), timedDecisions, r.cut)
	}
	if n := r.count(func(p policy.Proposal) bool { return p.Fit != nil }); n == 0 {
		t.Error("no fit has come into force")
	}
	r.decided = nil
	if err := r.decideElsewhere(); err != nil {
		t.Fatal(err)
	}
	if r.count(elsewhere) != 1 {
		t.Errorf("after steps that repeat, the decision does not go where nothing was measured: %+v", r.decided[len(r.decided)-1].Why)
	}
}

// count says of how many timed decisions is true.
func (r *rehearsal) count(is func(policy.Proposal) bool) (n int) {
	for _, p := range r.decided {
		if is(p) {
			n++
		}
	}
	return n
}

// TestDecisionTimesAFullModel: decisions are timed with as many observations as the run brings.
func TestDecisionTimesAFullModel(t *testing.T) {
	d, err := Decision(loaded(t, explorer), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if d.Observations != 90 || d.Wanted != 90 || d.Full || !d.Complete {
		t.Errorf("timed %+v, want with 90 observations of a model that is not full then", d)
	}
	if d.Took <= 0 || d.Longest < d.Took || d.Early <= 0 || d.Units == 0 {
		t.Errorf("timed %+v", d)
	}
}

// TestWaitingDoesNotCount: a decision that waits for a fit has as much time after.
func TestWaitingDoesNotCount(t *testing.T) {
	now := time.Now()
	s := &stopwatch{Context: t.Context(), now: func() time.Time { return now }, begun: now, most: time.Second}
	resume := s.Pause()
	now = now.Add(time.Hour)
	resume()
	now = now.Add(900 * time.Millisecond)
	if s.Err() != nil || s.took() != 900*time.Millisecond {
		t.Errorf("after an hour's wait and 0.9 s it took %v: %v", s.took(), s.Err())
	}
	if now = now.Add(200 * time.Millisecond); s.Err() == nil {
		t.Errorf("it has not ended after %v of %v", s.took(), s.most)
	}
}

// TestSlowComputerEndsTheRehearsal: where the first decision is not done in time no other is tried, and that is said.
func TestSlowComputerEndsTheRehearsal(t *testing.T) {
	r, err := newRehearsal(loaded(t, explorer), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	r.most = time.Nanosecond
	d := describe.DecisionTime{Wanted: 90}
	if err := r.run(&d); err != nil {
		t.Fatal(err)
	}
	if d.Complete || d.Observations != firstObservations || d.Longest <= 0 || d.Longest != d.Early || !d.Cut() {
		t.Errorf("timed %+v, want one decision that was not done", d)
	}
}

// explorer is tuned by the default policy, which goes where nothing was measured when steps repeat.
const explorer = `schema = 1
name = "explorer"
objective = { sensor = "y" }
policy = { kind = "ei" }
stop = { steps = 90 }

[[sensor]]
name = "y"
unit = "g"
range = [-100.0, 100.0]
max_age = "1s"
device = "rig"
`

func loaded(t *testing.T, text string) *setup.Setup {
	t.Helper()
	for _, name := range []string{"a", "b", "c", "d"} {
		text += fmt.Sprintf(`
[[variable]]
name = %q
unit = "V"
range = [0.0, 10.0]
readback = { tolerance = 0.01 }
device = "rig"

[safety.variable.%s]
hard = [0.0, 10.0]
slew = 10.0
safe = 1.0
`, name, name)
	}
	text += "\n[[device]]\nname = \"rig\"\ndriver = \"exec\"\ncommand = [\"true\"]\n"
	file := filepath.Join(t.TempDir(), "explorer.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := setup.Load(file, &host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestBudgetBoundsTheObservations: a run that pays for few steps is timed with as few observations.
func TestBudgetBoundsTheObservations(t *testing.T) {
	w := loaded(t, explorer)
	w.Options.Stop.Steps = 0
	for _, c := range []struct {
		budget, cost float64
		read         bool
		want         int
	}{{0, 2, false, 512}, {80, 2, false, 40}, {80, 0, false, 512}, {80, 2, true, 512}, {1e9, 2, false, 512}, {3, 2, false, firstObservations}} {
		w.Spec.Budget, w.Spec.CostsRead = c.budget, c.read
		w.Spec.ControlSets = slices.Clone(w.Spec.ControlSets)
		w.Spec.ControlSets[0].Cost = c.cost
		if got := observations(w, 512); got != c.want {
			t.Errorf("%+v: timed with %d observations", c, got)
		}
	}
}
