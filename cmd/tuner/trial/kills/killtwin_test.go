package kills

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// expectation is what must be decided next by any process that is given the journal as it
// was after a kill.
type expectation struct {
	step int
	policy.Proposal
}

// examine looks at a copy of what the process left, and lets another process go on there.
func (c *campaign) examine() {
	c.t.Helper()
	twin := c.t.TempDir()
	defer os.RemoveAll(twin) // a thousand of them are not kept until the test's end
	if err := c.copyRun(twin); err != nil {
		c.t.Fatal(err)
	}
	derived := c.derive(twin)
	c.runAndKill(twin, "decision-durable@1", 2*time.Minute)
	next := 1 // a journal without a step is begun anew
	if derived != nil {
		next = derived.step
	}
	d, ok := c.decided(twin, next)
	if !ok {
		c.t.Fatalf("the process on a copy did not decide step %d", next)
	}
	c.tally.twins++
	if derived != nil {
		c.tally.derived++
		sameProposal(c.t, d, derived.Proposal)
	}
	c.expected = append(c.expected, expectation{next, policy.Proposal{ControlSet: d.ControlSet, X: d.Requested, Work: d.Work, Initial: d.Initial}})
}

// derive checks the journal of a folder, and gives what its record alone derives as the
// next proposal; nil where it has no step.
func (c *campaign) derive(dir string) *expectation {
	c.t.Helper()
	r, err := journal.OpenReader(filepath.Join(dir, "kill.db"))
	if errors.Is(err, fs.ErrNotExist) && len(c.acknowledged) == 0 {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	if d := r.Verify(); d != nil {
		c.t.Errorf("damage: %v", d)
	}
	last := c.checkSteps(r)
	if last == 0 {
		return nil
	}
	p, err := policy.New(c.w.Spec)
	if err != nil {
		c.t.Fatal(err)
	}
	replay := replay.Decisions{Options: c.w.Options, Policy: p, Version: policy.DecisionsVersion}
	if done, err := replay.Run(context.Background(), r); err != nil || done.First != nil {
		c.t.Fatalf("what was recorded does not derive: %+v, %v", done.First, err)
	}
	next, err := p.Propose(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	return &expectation{last + 1, next}
}

// decided gives the decision of a step on record.
func (c *campaign) decided(dir string, step int) (d journal.Decision, ok bool) {
	c.t.Helper()
	r, err := journal.OpenReader(filepath.Join(dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	for s, err := range r.Steps() {
		if err != nil {
			c.t.Fatal(err)
		}
		if s.Decision.Step == step {
			return s.Decision, true
		}
	}
	return d, false
}

// copyRun copies what a process finds in its folder, but for what SQLite makes anew.
func (c *campaign) copyRun(to string) error {
	for _, name := range []string{"kill.toml", "kill.db", "kill.db-wal", "kill.control-a", "kill.control-b", "kill.control-latched", c.log} {
		content, err := os.ReadFile(filepath.Join(c.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// meet compares a decision of the run with what was expected of it.
func (c *campaign) meet(d journal.Decision) {
	c.t.Helper()
	c.expected = slices.DeleteFunc(c.expected, func(e expectation) bool {
		if e.step != d.Step {
			return false
		}
		c.tally.compared++
		sameProposal(c.t, d, e.Proposal)
		return true
	})
}

// settle lets the run itself decide once more, which the last kills have kept it from.
func (c *campaign) settle() {
	c.t.Helper()
	c.runAndKill(c.dir, "decision-durable@1", 2*time.Minute)
	r, err := journal.OpenReader(filepath.Join(c.dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	if c.checkSteps(r); len(c.expected) > 0 {
		c.t.Errorf("after %d kills the run has not decided what came next: %+v", len(c.expected), c.expected)
	}
}

// sameProposal compares to the last bit.
func sameProposal(t *testing.T, d journal.Decision, p policy.Proposal) {
	t.Helper()
	same := func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}
	if d.ControlSet != p.ControlSet || d.Initial != p.Initial || d.Work != p.Work || !slices.EqualFunc(d.Requested, p.X, same) {
		t.Errorf("step %d: decided %v with control set %d after %d units; another process proposes %v, %d, %d",
			d.Step, d.Requested, d.ControlSet, d.Work, p.X, p.ControlSet, p.Work)
	}
}

// awaitChildren returns when no child writes to a log any more: a child outlives the
// tuner that was killed by as long as it takes to do what it was told.
func awaitChildren(t *testing.T, log string) {
	t.Helper()
	f, err := os.Open(log)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_EX), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
