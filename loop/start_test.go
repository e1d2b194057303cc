package loop

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/safety"
)

// TestHoldReadsAndWaitsForResume: a run that nobody typed reads, writes nothing, refuses
// a resume while a permissive is not met, and begins with the next one. The wait is no
// time of the run.
func TestHoldReadsAndWaitsForResume(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 6)
	tr.opt.Start = plan.StartHold
	tr.opt.Safety.Permissives = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
	tr.deps.Panel = control.NewPanel("test")
	tr.deps.Control, _ = controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{})
	defer tr.deps.Control.Close()
	reads := 0
	tr.rig.aux = func() float64 {
		reads++
		switch reads {
		case 100, 700:
			tr.order(control.CommandResume)
		}
		if reads < 600 {
			return 310
		}
		return 300
	}
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	// The wait is known from when the first step is on record: a process may be killed then.
	tr.deps.Failpoint = func(name string) {
		if name != "decision-durable" || len(tr.outcomes) > 0 {
			return
		}
		if past := recalled(t, path, &tr.opt); past.Elapsed > 5*time.Second {
			t.Errorf("recalled %v in the middle of the first step", past.Elapsed)
		}
	}
	res, err := Run(context.Background(), tr.opt, tr.deps)
	if err != nil || res.Steps != 2 {
		t.Fatalf("result %+v, error %v", res, err)
	}
	writes := tr.rig.calls("write")
	if first := writes[0].at; first < 69*time.Second || first > 72*time.Second { // 700 reads, one each tick
		t.Errorf("first write at %v", first)
	}
	if res.Elapsed > 30*time.Second {
		t.Errorf("the run counts %v: the wait is no time of the run", res.Elapsed)
	}
	for _, words := range []string{"waiting: nothing is driven until resume", "resume asked for by test: permissive of aux", "resumed: the run begins"} {
		if !tr.said(words) {
			t.Errorf("nobody was told %q: %+v", words, tr.events)
		}
	}
	if past := recalled(t, path, &tr.opt); past.Elapsed > 30*time.Second || past.Elapsed < time.Second {
		t.Errorf("recalled %v", past.Elapsed)
	}
}

// recalled is what a resume would know of a run now.
func recalled(t *testing.T, path string, o *plan.Options) replay.Past {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	past, err := replay.Recall(o, r)
	if err != nil {
		t.Fatal(err)
	}
	return past
}

// TestRestartStorm: what starts itself four times in an hour comes up in hold the fourth
// time, though every one of the processes dies before it could say good-bye, and starts
// again when the hour is over.
func TestRestartStorm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rig.control")
	up := 10 * time.Minute
	start := func(mode plan.StartMode) (drove, waited bool, kept int) {
		t.Helper()
		tr := newTrial(t)
		tr.policy.proposals = proposeAll(3)
		tr.opt.Start = mode
		tr.deps.Machine = guard.Machine{BootID: "boot", Uptime: func() time.Duration { return up }}
		c := tr.control(t, path)
		defer c.Close()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		reads := 0
		tr.rig.aux = func() float64 {
			if reads++; reads == 1 {
				kept = len(c.State().Starts)
			}
			if reads == 100 {
				cancel()
			}
			return 300
		}
		if _, err := tr.run(t, ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return len(tr.rig.calls("write")) > 0, tr.said("3 automatic starts within the hour: this one drives nothing until resume"), kept
	}
	for n := range 3 {
		if drove, _, kept := start(plan.StartRun); !drove || kept != n+1 {
			t.Errorf("start %d: drove %v, %d starts were durable before anything was read", n+1, drove, kept)
		}
		up += time.Minute
	}
	if drove, waited, _ := start(plan.StartRun); drove || !waited {
		t.Errorf("fourth start: drove %v, said so %v", drove, waited)
	}
	if drove, _, _ := start(plan.StartNow); !drove {
		t.Error("a person's start was held")
	}
	up += 50 * time.Minute
	if drove, _, _ := start(plan.StartRun); drove {
		t.Error("the hour is not over: drove")
	}
	up += 10 * time.Minute
	if drove, _, _ := start(plan.StartRun); !drove {
		t.Error("the hour is over for the first of them: did not start")
	}
	if drove, _, _ := start(plan.StartHold); drove {
		t.Error("hold drove")
	}
}
