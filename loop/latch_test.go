package loop

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/safety"
	"github.com/labtuner/tuner/scripts/testsize"
)

// doseTrial doses with knob a, 5 V at most at once.
func doseTrial(t *testing.T, path string) *trial {
	tr := newTrial(t)
	tr.opt.Safety.Doses = []safety.DoseLimits{{Variable: 0, PerDose: 5, Hour: 8, MinInterval: time.Second}}
	tr.opt.Safety.HoldMax = 2 * time.Second
	tr.control(t, path)
	return tr
}

// TestDoseIsBookedBeforeItIsGiven: at the first write towards a dose the control
// state on the disk has it, and the budget holds over a restart.
func TestDoseIsBookedBeforeItIsGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rig.control")
	tr := doseTrial(t, path)
	tr.policy.proposals = proposeAll(4)
	tr.rig.fault = func(op string) error {
		if total := tr.deps.Control.State().Doses["a"].Total; op == "write" && total != 4 {
			t.Errorf("written with %v booked", total)
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	s := tr.deps.Control.State().Doses["a"]
	if s.Total != 4 || s.Open || len(tr.rig.calls("write")) == 0 {
		t.Errorf("booked %+v", s)
	}
	if err := tr.deps.Control.Close(); err != nil {
		t.Fatal(err)
	}
	again := doseTrial(t, path)
	defer again.deps.Control.Close()
	again.policy.proposals = proposeAll(4.5)
	_, err := again.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "budget of a") || len(again.rig.calls("write")) > 1 {
		t.Errorf("4 + 4.5 in an hour of at most 8: %v, %d writes", err, len(again.rig.calls("write")))
	}
}

// TestCrashDuringADoseMustBeLookedAt ends the process between the booking and the
// outcome.
func TestCrashDuringADoseMustBeLookedAt(t *testing.T) {
	testsize.OneGoroutine(t)
	path := filepath.Join(t.TempDir(), "rig.control")
	tr := doseTrial(t, path)
	tr.policy.proposals = proposeAll(4)
	type crash struct{}
	tr.deps.Failpoint = func(name string) {
		if name == "after-write" {
			panic(crash{})
		}
	}
	func() {
		defer func() {
			if _, ok := recover().(crash); !ok {
				t.Error("no crash")
			}
		}()
		_, err := tr.run(t, context.Background())
		t.Errorf("ended with %v", err)
	}()
	if err := tr.deps.Control.Close(); err != nil {
		t.Fatal(err)
	}
	again := doseTrial(t, path)
	defer again.deps.Control.Close()
	again.policy.proposals = proposeAll(1)
	if _, err := again.run(t, context.Background()); !errors.Is(err, guard.ErrLatched) || !strings.Contains(err.Error(), "unknown-dose of a") {
		t.Errorf("error %v", err)
	}
}

// TestLatchOutlivesADiskThatHangs: the control state of a trip is still being written when
// the run has ended. The next process finds it latched all the same.
func TestLatchOutlivesADiskThatHangs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rig.control")
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		tr, _ := liveTrial(t, func(tr *trial) {
			tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
			began := time.Now()
			tr.rig.aux = func() float64 {
				if time.Since(began) > 5*time.Second {
					return 310
				}
				return 300
			}
			tr.deps.Disk = func(what string) {
				if what == "control state" && time.Since(began) > 4*time.Second {
					<-hangs
				}
			}
			tr.control(t, path)
		})
		end := tr.begin(t)
		if _, err := end(); !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "interlock of aux") {
			t.Errorf("the interlock is open: %v", err)
		}
		s, err := controlstate.Peek(path)
		if held := guard.Latched(s); err != nil || held == nil || !strings.Contains(held.Error(), "latched last") {
			t.Errorf("the next process finds %+v, %v: %v", s, err, held)
		}
		close(hangs)
		synctest.Wait()
		if s, err = controlstate.Peek(path); err != nil || len(s.Latched) != 1 || s.Latched[0].Of != "aux" {
			t.Errorf("after the write that came late it finds %+v, %v", s, err)
		}
		if err := tr.deps.Control.Close(); err != nil {
			t.Error(err)
		}
	})
}
