package journal_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
)

// shotsAndOutcome are the records of the demo script's first step that belong together.
func shotsAndOutcome(j *Journal) error {
	return errors.Join(journaltest.Perform(j, 4), journaltest.Perform(j, 5), journaltest.Perform(j, 6))
}

// What is recorded together is there as if it had been recorded one by one, or not at all, and
// then it can be recorded again.
func TestTogether(t *testing.T) {
	path, j := journaltest.Demo(t, 4)
	before := mustDump(t, path)
	stray := errors.New("stray")
	if err := j.Together("a step", func() error { return errors.Join(shotsAndOutcome(j), stray) }); !errors.Is(err, stray) {
		t.Fatal(err)
	}
	other, err := NewStranger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := errors.Join(other.Exec("BEGIN IMMEDIATE"), j.Exec("PRAGMA busy_timeout = 1")); err != nil {
		t.Fatal(err)
	}
	together := func() error { return j.Together("a step", func() error { return shotsAndOutcome(j) }) }
	if err := together(); !errors.Is(err, store.ErrBusy) {
		t.Fatalf("while another program writes: %v", err)
	}
	if got := mustDump(t, path); got != before {
		t.Fatalf("something is left of a failure: %s", journaltest.FirstDifference(got, before))
	}
	if err := errors.Join(other.Exec("ROLLBACK"), together()); err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, 7, 20)
	whole, _ := journaltest.Demo(t, 20)
	if got, want := mustDump(t, path), mustDump(t, whole); got != want {
		t.Errorf("recorded together: %s", journaltest.FirstDifference(got, want))
	}
}

// Several actions are intended and resolved together, as often as one by one.
func TestActionsTogether(t *testing.T) {
	_, j := journaltest.Demo(t, 1)
	intend := func() (first, second int64, err error) {
		err = j.Together("actions", func() error {
			var e1, e2 error
			first, e1 = j.Intend(Action{Step: 1, Device: "a", Kind: "move"})
			second, e2 = j.Intend(Action{Step: 1, Device: "b", Kind: "move"})
			return errors.Join(e1, e2)
		})
		return first, second, err
	}
	first, second, err := intend()
	if err != nil || first != 1 || second != 2 {
		t.Fatal(first, second, err)
	}
	for _, state := range []ActionState{Sent, Confirmed} {
		err := j.Together("what became of them", func() error {
			return errors.Join(j.Resolve(first, state, nil, "", Stamp{}), j.Resolve(second, state, nil, "", Stamp{}),
				j.Resolve(first, state, nil, "again", Stamp{}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	actions, err := journaltest.MustRead(t, j.Path()).Actions(1)
	if err != nil || len(actions) != 2 || len(actions[0].Resolutions) != 4 || len(actions[1].Resolutions) != 2 {
		t.Errorf("%+v, %v", actions, err)
	}
}

// What would be committed by itself is refused among what is recorded together, and nothing of it is left.
func TestTogetherHoldsNoDecision(t *testing.T) {
	for _, opts := range []Options{{}, {Repeatable: true}} {
		path := filepath.Join(t.TempDir(), "run.db")
		j, err := Create(path, journaltest.DemoRun(), opts)
		if err != nil {
			t.Fatal(err)
		}
		for what, record := range map[string]func() error{
			"a decision": func() error { return journaltest.Perform(j, 0) },
			"the end":    func() error { return j.Finish("interrupted", []byte("{}"), Stamp{}) },
		} {
			err := j.Together(what, func() error { return errors.Join(j.Log(Event{Level: "info"}), record()) })
			if err == nil || !strings.Contains(err.Error(), "recorded by themselves") {
				t.Errorf("%s: %v", what, err)
			}
		}
		journaltest.PerformFrom(t, j, 0, 5)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := performed(journaltest.MustRead(t, path)); err != nil || n != 5 {
			t.Errorf("the file holds %d records, want 5: %v", n, err)
		}
	}
}

// A run that can be repeated is committed once a step, and holds in the end what another does.
func TestRepeatable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "simulated.db")
	j, err := Create(path, journaltest.DemoRun(), Options{Repeatable: true})
	if err != nil {
		t.Fatal(err)
	}
	const steps = 3
	for i := range steps * journaltest.OpsPerStep {
		if err := journaltest.Perform(j, i); err != nil {
			t.Fatal(err)
		}
		// What a decision finds is committed beside its step, whole: also where that comes between two queries of a count, which is
		// then repeated.
		most := i / journaltest.OpsPerStep * journaltest.OpsPerStep
		whole := func(n int) bool { return n == most || n == max(most-journaltest.OpsPerStep, 0) }
		n, err := performed(journaltest.MustRead(t, path))
		if err == nil && !whole(n) {
			n, err = performed(journaltest.MustRead(t, path))
		}
		if err != nil || !whole(n) {
			t.Fatalf("after record %d the file holds %d, want %d or those of a step less: %v", i, n, most, err)
		}
	}
	stray := errors.New("stray")
	if err := j.Together("nothing", func() error { return errors.Join(journaltest.Perform(j, journaltest.OpsPerStep-1), stray) }); !errors.Is(err, stray) {
		t.Fatal(err)
	}
	tape := []byte("tape")
	if err := j.Tape(tape, 1, Stamp{}); err != nil {
		t.Fatal(err)
	}
	copy(tape, "else") // it is the caller's again
	other, err := NewStranger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := errors.Join(other.Exec("BEGIN IMMEDIATE"), j.Exec("PRAGMA busy_timeout = 1")); err != nil {
		t.Fatal(err)
	}
	next := steps * journaltest.OpsPerStep
	if err := journaltest.Perform(j, next); err != nil { // the commit of the step before is under way
		t.Fatal(err)
	}
	if err := j.Settle(); !errors.Is(err, store.ErrBusy) {
		t.Fatalf("while another program writes: %v", err)
	}
	if err := errors.Join(other.Exec("ROLLBACK"), journaltest.Perform(j, next+1), j.Settle()); err != nil { // nothing of the step before is lost
		t.Fatal(err)
	}
	if n, err := performed(journaltest.MustRead(t, path)); err != nil || n != next+2 {
		t.Fatalf("settled, the file holds %d records, want %d: %v", n, next+2, err)
	}
	if err := errors.Join(j.Finish("interrupted", []byte("{}"), Stamp{}), j.Close()); err != nil {
		t.Fatal(err)
	}

	whole, plain := journaltest.Demo(t, next)
	if err := errors.Join(plain.Tape([]byte("tape"), 1, Stamp{}), journaltest.Perform(plain, next), journaltest.Perform(plain, next+1), plain.Finish("interrupted", []byte("{}"), Stamp{}), plain.Close()); err != nil {
		t.Fatal(err)
	}
	if got, want := mustDump(t, path), mustDump(t, whole); got != want {
		t.Errorf("committed by steps: %s", journaltest.FirstDifference(got, want))
	}
	for p, err := range journaltest.MustRead(t, path).Tapes() {
		if err != nil || string(p.Data) != "tape" {
			t.Errorf("the tape is %q: %v", p.Data, err)
		}
	}
}

// What is gathered when the run ends without a result is committed by Close.
func TestRepeatableClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "simulated.db")
	j, err := Create(path, journaltest.DemoRun(), Options{Repeatable: true})
	if err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, 0, 5)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := performed(journaltest.MustRead(t, path)); err != nil || n != 5 {
		t.Errorf("the file holds %d records, want 5: %v", n, err)
	}
}
