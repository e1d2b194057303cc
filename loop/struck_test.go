package loop

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// logChange records a change in a journal that no process has.
func logChange(t *testing.T, path string, c plan.Change) {
	t.Helper()
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := c.Facts()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Log(journal.Event{Level: "info", Kind: journal.EventChanged, Message: c.Words, Facts: facts, Step: c.From}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// nextAsRecorded is the decision after a journal's steps, as the program derives it when it
// makes the policy anew.
func nextAsRecorded(t *testing.T, path string, o plan.Options, spec policy.Spec) policy.Proposal {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	d := replay.Decisions{Options: o, Policy: p, Lenient: true, Brief: true}
	if _, err := d.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	q, err := p.Propose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// nextWithout is the decision of a policy that was asked for every step and never observed
// some of them: it knows nothing of strikes.
func nextWithout(t *testing.T, path string, o plan.Options, spec policy.Spec, never ...int) policy.Proposal {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Propose(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(never, s.Decision.Step) {
			continue
		}
		shots, err := r.Shots(s.Decision.Step)
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range o.Observations(plan.Concluded{Set: s.Decision.ControlSet, Requested: s.Decision.Requested, Outcome: s.Outcome, PerShot: o.PerShot(s.Decision.Applied), Shots: shots}) {
			if err := p.Observe(seen); err != nil {
				t.Fatal(err)
			}
		}
	}
	q, err := p.Propose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// sameDecision says that two decisions are one, to the last bit.
func sameDecision(a, b policy.Proposal) bool {
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	return a.Step == b.Step && a.ControlSet == b.ControlSet && a.Work == b.Work && slices.EqualFunc(a.X, b.X, same) && same(a.Why.Value, b.Why.Value)
}

// TestStruckAsNeverObserved: with steps struck the next decision is that of a policy that has
// never observed them, and with them counting again that of the run which always had them, to the
// last bit: with fixed hyperparameters past the step at which kept searches begin anew, with
// fits in the background, with priors that compete under a noise model, and with control sets
// that leave a variable random.
func TestStruckAsNeverObserved(t *testing.T) {
	fixed := oneKnobSpec()
	fixed.Budget = 0
	fixed.Model = policy.Model{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{0.3}, Outputscale: 9, NoiseSD: 0.2, Mean: -3, Capacity: 64}
	fit := oneKnobSpec()
	fit.Budget = 0
	priors := oneKnobSpec()
	priors.Kind, priors.Risk, priors.Budget = "rahbo", 0.3, 0
	priors.Model = policy.Model{Kernel: "se", Hyperparameters: "priors", Capacity: 64, Priors: []policy.Prior{{Kernel: "se", Lengthscale: []float64{0.2}, Outputscale: 9, NoiseSD: 0.2}, {Kernel: "se", Lengthscale: []float64{0.5}, Outputscale: 9, NoiseSD: 0.2}}}
	sets := replaySpec()
	sets.Budget = 0
	for _, c := range []struct {
		name  string
		spec  policy.Spec
		steps int
		never [][]int
	}{
		{"fixed", fixed, 53, [][]int{{3, 20, 53}}},
		{"fit", fit, 14, [][]int{{14}, {5, 9, 12}}},
		{"priors", priors, 11, [][]int{{11}, {1, 7}}},
		{"control sets", sets, 12, [][]int{{6, 11}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []int
			for n := range c.steps {
				all = append(all, n+1)
			}
			from, o, after := runOfSpec(t, c.spec, c.steps)
			for _, never := range append(c.never, all) {
				path := filepath.Join(t.TempDir(), "run.db")
				copyJournal(t, from, path)
				logChange(t, path, plan.Change{From: c.steps + 1, Words: "struck", Strike: never})
				struck := nextAsRecorded(t, path, o, c.spec)
				if want := nextWithout(t, path, o, c.spec, never...); !sameDecision(struck, want) {
					t.Errorf("steps %v struck: the next is %+v\nand by a policy that never observed them %+v", never, struck, want)
				}
				logChange(t, path, plan.Change{From: c.steps + 1, Words: "unstruck", Unstrike: never})
				again := nextAsRecorded(t, path, o, c.spec)
				if slices.ContainsFunc(again.X, func(x float64) bool { return !math.IsNaN(x) && !slices.Contains(after, x) }) {
					t.Errorf("steps %v struck and counting again: the next is %v, and the run that always had them went on with %v", never, again.X, after)
				}
				if len(never) < c.steps && sameDecision(struck, again) {
					t.Errorf("steps %v: striking them changes nothing", never)
				}
			}
		})
	}
}

// copyJournal copies a journal that is closed.
func copyJournal(t *testing.T, from, to string) {
	t.Helper()
	for _, part := range []string{"", "-wal"} {
		content, err := os.ReadFile(from + part)
		if err == nil {
			err = os.WriteFile(to+part, content, 0o600)
		}
		if err != nil && !(part != "" && errors.Is(err, fs.ErrNotExist)) {
			t.Fatal(err)
		}
	}
}

// runOfSpec gives the journal of a run of so many steps, and what it would have decided next.
func runOfSpec(t *testing.T, spec policy.Spec, steps int) (path string, o plan.Options, after []float64) {
	t.Helper()
	for _, n := range []int{steps, steps + 1} {
		path2, o2 := recordedBy(t, spec, n)
		if n == steps {
			path, o = path2, o2
			continue
		}
		r, err := journal.OpenReader(path2)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for s, err := range r.Steps() {
			if err != nil {
				t.Fatal(err)
			}
			after = s.Decision.Requested
		}
	}
	return path, o, after
}

// recordedBy runs a policy on a rig of one knob or two.
func recordedBy(t *testing.T, spec policy.Spec, steps int) (string, plan.Options) {
	t.Helper()
	tr := newTrial(t)
	tr.rig = newRig(tr.clock, "a", "b")
	tr.deps.Devices = []Device{{Name: "rig", Device: tr.rig}}
	draws, measured := 0, 0
	tr.rig.knobs["b"].natural = func() float64 { draws++; return math.Mod(float64(draws)*0.618, 10) }
	tr.rig.meter = func(at map[string]float64) float64 {
		measured++
		return -math.Pow(at["a"]-6, 2)/4 - math.Pow(at["b"]-4, 2)/30 + math.Sin(float64(measured))/5
	}
	tr.opt.Variables[0].Settle = 0
	tr.opt.Variables[0].Limits.SlewUp, tr.opt.Variables[0].Limits.SlewDown = 1000, 1000
	if len(spec.Variables) == 2 {
		b := variable("b")
		b.OnRelease = plan.Release
		tr.opt.Variables = append(tr.opt.Variables, b)
		tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0}, Cost: 1}, {Variables: []int{0, 1}, Cost: 5}}
	}
	tr.opt.Stop = plan.Stop{Steps: steps}
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path, tr.opt
}
