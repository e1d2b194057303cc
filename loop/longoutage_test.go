package loop

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
)

// longOutage is a run whose disk is full for outage in the middle of its second step, with
// a sensor that never says the same twice. It gives the most records that waited, the
// bytes of the tape among them, and what the heap has grown by at the end of the outage.
func longOutage(t *testing.T, outage time.Duration, most int) (tr *trial, path string, due, owed int, grown int64) {
	t.Helper()
	fill, free := fullDisk(t)
	tr = patientTrial(t, 3, 6, 9)
	var l *Loop
	var began time.Time
	var before runtime.MemStats
	tr.deps.Failpoint = func(name string) {
		if name == "intent-durable" && len(tr.policy.seen) == 1 && began.IsZero() {
			began = tr.clock.Now()
			l.guard.BoundTrace(most)
			runtime.GC()
			runtime.ReadMemStats(&before)
			fill()
		}
	}
	rng, freed := rand.New(rand.NewPCG(1, 3)), false
	tr.rig.aux = func() float64 {
		if !began.IsZero() && !freed {
			due = max(due, l.recorder.Due())
			owed = max(owed, l.guard.Untraced())
			if tr.clock.Now().Sub(began) > outage {
				var after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&after)
				grown, freed = int64(after.HeapAlloc)-int64(before.HeapAlloc), true
				free()
			}
			tr.rig.log = nil // the test's own
		}
		return 300 + rng.NormFloat64()
	}
	tr.deps.Journal, path = book(t, &tr.opt)
	l, err := newLoop(tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if tr.told("the record can be written again") != 1 || !tr.said("held: record") || !tr.said("the hold is over") {
		t.Errorf("events %+v", tr.events)
	}
	tr.wantAllValid(t, 3, 6, 9)
	wantSound(t, path, 3)
	return tr, path, due, owed, grown
}

// TestLongOutageKeepsTheTape: through an hour in which nothing can be written the run is
// held, samples are not collected, and what waits is a piece of the tape a minute. All of
// it is recorded afterwards, and every verdict is derived.
func TestLongOutageKeepsTheTape(t *testing.T) {
	_, path, due, owed, grown := longOutage(t, time.Hour, trace.WaitingMax)
	t.Logf("%d records waited, %d kB of tape, the heap grew by %d kB", due, owed>>10, grown>>10)
	if due > 80 || owed > trace.WaitingMax/10 || grown > 8<<20 {
		t.Errorf("%d records and %d bytes of tape waited, the heap grew by %d bytes", due, owed, grown)
	}
	if v := verdictsOf(t, path, 0); v.First != nil || v.Ticks < 36_000 {
		t.Errorf("verdicts %+v", v)
	}
}

// TestTapeThatWaitsIsBounded: where too much of it waits the tape ends, which is told
// once; what is there is derived, and the run goes on.
func TestTapeThatWaitsIsBounded(t *testing.T) {
	const most = 20_000
	tr, path, due, owed, _ := longOutage(t, 20*time.Minute, most)
	if due > 30 || owed == 0 || owed > most || tr.told("is not recorded from here on until the next start") != 1 {
		t.Errorf("%d records and %d bytes of tape waited; events %+v", due, owed, tr.events)
	}
	if v := verdictsOf(t, path, 0); v.First != nil || v.Ticks < 600 || v.Ticks > 12_000 {
		t.Errorf("verdicts %+v", v)
	}
}

// TestHungControlState: a control state that takes ten minutes to be written is not queued
// behind; the newest one follows it, and a stop's safe value waits for neither. A run that
// ends meanwhile says that what it latched is not on the disk.
func TestHungControlState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var posted atomic.Int32
		var hangs atomic.Bool
		tr, _ := liveTrial(t, func(tr *trial) {
			tr.deps.Panel.MakeReachable()
			tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
			var err error
			if tr.deps.Control, err = controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{}); err != nil {
				t.Fatal(err)
			}
			tr.deps.Disk = func(what string) {
				if what == "control state" {
					if posted.Add(1); hangs.Load() {
						time.Sleep(5 * time.Minute)
					}
				}
			}
		})
		defer tr.deps.Control.Close()
		l, err := newLoop(tr.opt, tr.deps)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { _, err := l.run(context.Background()); done <- err }()
		time.Sleep(5 * time.Second)
		posted.Store(0)
		hangs.Store(true)
		for range 20 { // each is a change of what is kept
			tr.deps.Panel.Remember(&controlstate.CommandMemory{})
			time.Sleep(10 * time.Second)
		}
		stopped := time.Now()
		ask(tr.deps.Panel, control.CommandStop)
		for tr.rig.aim("a") != 1 {
			time.Sleep(10 * time.Millisecond)
			if time.Since(stopped) > time.Minute {
				t.Fatal("a stop waits for the disk")
			}
		}
		if err := <-done; !errors.Is(err, ErrSafety) || !errors.Is(err, ErrUnkept) || !errors.Is(err, ErrJournal) {
			t.Errorf("error %v; the stop is not on the disk, and it must be said", err)
		}
		hangs.Store(false)
		time.Sleep(time.Hour)          // until the worker has ended
		if n := posted.Load(); n > 4 { // before and after each of two
			t.Errorf("%d times the disk was waited for, want two control states", n)
		}
	})
}
