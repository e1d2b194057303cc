package loop

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/record"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/scripts/testsize"
)

// fullDisk limits the size of the files of this process, as a full disk does, until
// free is called. It needs no rights; the test must not run beside others.
func fullDisk(t *testing.T) (fill, free func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var had syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &had); err != nil {
		t.Fatal(err)
	}
	set := func(bytes uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: had.Max}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { set(had.Cur) })
	return func() { set(1) }, func() { set(had.Cur) }
}

// wantSound wants a journal in which every row is as it was written, and that replays
// with all steps concluded.
func wantSound(t *testing.T, path string, steps int) {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if d := r.Verify(); d != nil {
		t.Errorf("damage: %v", d)
	}
	if s, err := r.Status(); err != nil || s.Concluded != steps {
		t.Errorf("%+v, want %d steps: %v", s, steps, err)
	}
}

// TestFullDiskHoldsAndGoesOn fills the disk in each phase of a step, for ten minutes:
// the run is held, nothing new is aimed at without a record, it is told, and when
// there is room again the run ends as if nothing had been.
func TestFullDiskHoldsAndGoesOn(t *testing.T) {
	fill, free := fullDisk(t)
	const outage = 10 * time.Minute
	for i, name := range []string{"decision-durable", "intent-durable", "before-write", "after-write", "outcome-durable"} {
		for _, withControl := range []bool{false, true} {
			if withControl == (i%2 > 0) && !testsize.Whole() {
				continue
			}
			tr := patientTrial(t, 3, 6, 9)
			if withControl {
				c := tr.control(t, filepath.Join(t.TempDir(), "rig.control"))
				defer c.Close()
			}
			var full time.Time
			intended := 0
			tr.deps.Failpoint = func(at string) {
				if at == "intent-durable" && full.IsZero() {
					intended++
				}
				if at == name && len(tr.policy.seen) == 1 && full.IsZero() {
					full = tr.clock.Now()
					fill()
				}
			}
			tr.rig.aux = func() float64 { // every tick
				if !full.IsZero() && tr.clock.Now().Sub(full) > outage {
					free()
				}
				return 300
			}
			j, path := book(t, &tr.opt)
			tr.deps.Journal = j
			res, err := Run(context.Background(), tr.opt, tr.deps)
			free()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			tr.wantAllValid(t, 3, 6, 9)
			tr.wantNoJump(t, never)
			if tr.told("the record cannot be written, and nothing moves before it can") != 1 || tr.told("the record can be written again after 10m") != 1 ||
				!tr.said("held: record") || tr.said("fallen back") {
				t.Errorf("%s: events %+v", name, tr.events)
			}
			if len(tr.outcomes) != 3 || res.Elapsed < outage || res.Elapsed > outage+time.Minute {
				t.Errorf("%s: told of %d steps in %v", name, len(tr.outcomes), res.Elapsed)
			}
			for _, c := range tr.rig.calls("write") {
				if at := rigStart.Add(c.at); at.After(full) && at.Before(full.Add(outage)) && c.values["a"] > float64(3*intended)+1e-9 {
					t.Errorf("%s: %v was written at %v, and intended was no more than step %d", name, c.values, c.at, intended)
				}
			}
			wantSound(t, path, 3)
		}
	}
}

// TestFullDiskAtTheEnd: a run that ends while the disk is full says what it owes.
func TestFullDiskAtTheEnd(t *testing.T) {
	fill, free := fullDisk(t)
	ctx, cancel := context.WithCancel(context.Background())
	tr := patientTrial(t, 3, 6, 9)
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	tr.deps.Failpoint = func(name string) {
		if name == "intent-durable" && len(tr.policy.seen) == 1 {
			fill()
			cancel()
		}
	}
	_, err := tr.run(t, ctx)
	free()
	if !errors.Is(err, ErrJournal) || !errors.Is(err, disk.ErrIO) {
		t.Errorf("error %v", err)
	}
	if tr.rig.knobs["a"].target != 1 {
		t.Errorf("left at %v: bringing actuators to rest must not depend on a disk", tr.rig.knobs["a"].target)
	}
}

// TestDecisionThatIsNotRecorded: where outages are not waited out, a decision that the disk
// does not take ends the run, and there is no such step: what can be written afterwards
// says nothing of it, so the next process decides it anew and learns from it.
func TestDecisionThatIsNotRecorded(t *testing.T) {
	fill, free := fullDisk(t)
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 6, 9)
	tr.deps.Failpoint = func(name string) {
		if name == "outcome-durable" && len(tr.policy.seen) == 0 {
			fill()
		}
	}
	tr.deps.Watch.Event = func(e journal.Event) {
		if e.Kind == "fault" {
			free()
		}
	}
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(context.Background(), tr.opt, tr.deps); !errors.Is(err, disk.ErrIO) || !strings.Contains(err.Error(), "decision") {
		t.Fatalf("error %v", err)
	}
	wantSound(t, path, 1)
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.EventAbandoned {
			t.Errorf("of a step that is not there: %+v", e)
		}
	}
}

// TestStoryIsBounded: lines beyond the bound are lost and counted, records of steps
// are not.
func TestStoryIsBounded(t *testing.T) {
	fill, free := fullDisk(t)
	tr := patientTrial(t, 3, 6)
	tr.deps.Failpoint = func(name string) {
		if name == "intent-durable" && len(tr.policy.seen) == 1 {
			fill()
		}
	}
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	l, err := newLoop(tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	flooded := false
	tr.rig.aux = func() float64 {
		if tr.said("held: record") && !flooded {
			flooded = true
			for i := range 3 * record.StoryMax {
				l.event("info", "flood", fmt.Sprint(i))
			}
			if n := l.recorder.Due(); n > record.StoryMax+10 {
				t.Errorf("%d records wait", n)
			}
			free()
		}
		return 300
	}
	if _, err := l.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	tr.wantAllValid(t, 3, 6)
	wantSound(t, path, 2)
	if tr.told("lines of the story were not recorded") != 1 {
		t.Errorf("the loss was not told")
	}
}

// TestSlowDiskDelaysNoTick: one record takes half a minute. Ticks come meanwhile, the
// lease is refreshed, the run is held and says why, and goes on.
func TestSlowDiskDelaysNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trial{opt: options(plan.Live), policy: &script{proposals: proposeAll(4, 6, 8)}}
		tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
		tr.opt.Variables[0].Limits.Lease = 3 * time.Second
		tr.rig = newRig(worker.RealClock{}, "a")
		tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
		tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}}}
		tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
		ticks := 0
		tr.deps.Watch.Progress = func(control.Progress) { ticks++ }
		tr.deps.Journal, _ = book(t, &tr.opt)
		l, err := newLoop(tr.opt, tr.deps)
		if err != nil {
			t.Fatal(err)
		}
		l.deps.Failpoint = func(name string) {
			if name == "intent-durable" && len(tr.policy.seen) == 1 {
				l.pool.Post(laneJournal, func() any { time.Sleep(30 * time.Second); return nil })
				l.event("info", "test", "behind it")
			}
		}
		began := time.Now()
		if _, err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if want := int(took / tr.opt.Tick); took < 30*time.Second || ticks < want-5 {
			t.Errorf("%d ticks in %v", ticks, took)
		}
		writes := tr.rig.calls("write")
		for i := range writes[1:] {
			if gap := writes[i+1].at - writes[i].at; gap > time.Second+tr.opt.Tick {
				t.Errorf("%v between two writes: the lease of 3 s is refreshed at a third", gap)
			}
		}
		tr.wantAllValid(t, 4, 6, 8)
		if tr.told("a record takes longer than 5s: the run is held until") != 1 || !tr.said("held: record") || !tr.said("the hold is over") {
			t.Errorf("events %+v", tr.events)
		}
	})
}
