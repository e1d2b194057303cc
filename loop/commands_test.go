package loop

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// TestTripIsResetAndResumed: with a person who can reset it a tripped run stays, tells what keeps
// it, and goes on after reset and resume; each is refused while the interlock is open.
func TestTripIsResetAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Bool
		tr, _ := liveTrial(t, func(tr *trial) {
			tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
			tr.rig.aux = func() float64 {
				if open.Load() {
					return 310
				}
				return 300
			}
			tr.deps.Panel.MakeReachable()
			var err error
			if tr.deps.Control, err = controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{}); err != nil {
				t.Fatal(err)
			}
		})
		defer tr.deps.Control.Close()
		p := tr.deps.Panel
		end := tr.begin(t)
		time.Sleep(5 * time.Second)
		open.Store(true)
		time.Sleep(time.Second)
		s := p.Status()
		if s.State != "tripped" || len(s.FirstOut) != 1 || s.FirstOut[0].Rule != "interlock" || s.FirstOut[0].Of != "aux" || !s.FirstOut[0].Latched {
			t.Fatalf("the interlock is open: %s, %+v", s.State, s.FirstOut)
		}
		refused := func(command, code string) {
			t.Helper()
			if r := ask(p, command); r.OK || r.Code != code || !strings.Contains(r.Message, "interlock of aux") {
				t.Errorf("%s: %+v; want %s and which interlock", command, r, code)
			}
		}
		refused(control.CommandResume, control.CodeLatched)
		refused(control.CommandReset, control.CodeConditions)
		open.Store(false)
		time.Sleep(time.Second)
		refused(control.CommandResume, control.CodeLatched)
		if at := tr.rig.aim("a"); at != 1 {
			t.Errorf("tripped with the knob's target at %v", at)
		}
		if r := ask(p, control.CommandReset); !r.OK || r.Status.State != "disarmed" {
			t.Errorf("reset: %+v", r)
		}
		steps := p.Status().Steps
		time.Sleep(10 * time.Second)
		if n := p.Status().Steps; n != steps || len(tr.deps.Control.State().Latched) > 0 {
			t.Errorf("a reset starts nothing: %d steps, %d before; latched %v", n, steps, tr.deps.Control.State().Latched)
		}
		open.Store(true)
		time.Sleep(time.Second)
		refused(control.CommandResume, control.CodeConditions)
		if s := p.Status(); s.State != "disarmed" {
			t.Errorf("a refused resume left it %s", s.State)
		} else if s.For < 10 || s.Phase != "waiting for resume" {
			t.Errorf("reset 11 s ago, it is disarmed for %v s and %s", s.For, s.Phase)
		}
		open.Store(false)
		time.Sleep(time.Second)
		if r := ask(p, control.CommandResume); !r.OK {
			t.Errorf("resume: %+v", r)
		}
		time.Sleep(20 * time.Second)
		if s := p.Status(); s.State != "running" || s.Steps <= steps {
			t.Errorf("resumed: %s, %d steps, %d before", s.State, s.Steps, steps)
		}
		ask(p, control.CommandStop)
		if _, err := end(); !errors.Is(err, ErrSafety) {
			t.Errorf("error %v", err)
		}
	})
}

// TestResumeNamesTheSensor: a hold is left when its cause has gone, not before, and a
// resume that is refused does not end a pause.
func TestResumeNamesTheSensor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent atomic.Bool
		tr, _ := liveTrial(t, func(tr *trial) {
			tr.rig.aux = func() float64 {
				if silent.Load() {
					return math.NaN()
				}
				return 300
			}
			tr.deps.Panel.MakeReachable()
		})
		p := tr.deps.Panel
		end := tr.begin(t)
		time.Sleep(5 * time.Second)
		silent.Store(true)
		time.Sleep(3 * time.Second)
		if r := ask(p, control.CommandPause); !r.OK || !strings.Contains(r.Message, "held already") {
			t.Errorf("pause while held: %+v", r)
		}
		if r := ask(p, control.CommandResume); r.OK || r.Code != control.CodeConditions || !strings.Contains(r.Message, "sensor aux has given nothing") {
			t.Errorf("resume: %+v", r)
		}
		silent.Store(false)
		time.Sleep(3 * time.Second)
		if s := p.Status(); s.State != "held" || !s.Paused {
			t.Errorf("%s, paused %v: a refused resume must leave the pause", s.State, s.Paused)
		}
		if r := ask(p, control.CommandResume); !r.OK || r.Status.State != "running" {
			t.Errorf("resume: %+v", r)
		}
		silent.Store(true)
		time.Sleep(40 * time.Second)
		if s := p.Status(); s.State != "fallen back" {
			t.Errorf("state %s", s.State)
		}
		if r := ask(p, control.CommandPause); r.OK || r.Code != control.CodeMode {
			t.Errorf("pause after the fallback: %+v", r)
		}
		// A stop ends the run from here, too.
		ask(p, control.CommandStop)
		if _, err := end(); !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "stopped") {
			t.Errorf("error %v", err)
		}
	})
}

// TestShadowTakesAStop: nothing is driven in a dry run; a stop ends it all the same.
func TestShadowTakesAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := liveTrial(t, func(tr *trial) { tr.opt.Mode = plan.Shadow })
		end := tr.begin(t)
		time.Sleep(5 * time.Second)
		if r := ask(tr.deps.Panel, control.CommandPause); r.Code != control.CodeDryRun || !r.Status.DryRun {
			t.Errorf("pause: %+v", r)
		}
		if r := ask(tr.deps.Panel, control.CommandStop); !r.OK {
			t.Errorf("stop: %+v", r)
		}
		if _, err := end(); !errors.Is(err, ErrSafety) {
			t.Errorf("error %v", err)
		}
	})
}

func TestArguments(t *testing.T) {
	p := control.NewPanel("s")
	for args, want := range map[string]string{
		`{"reason":"x","speed":2}`: `unknown field "speed"`, `[1]`: "cannot unmarshal", `{} {}`: "more than one value", `{"reason":"x"`: "unexpected EOF",
		`{"reason":"` + strings.Repeat("x", 201) + `"}`: "201 bytes",
	} {
		if r := p.Do(context.Background(), control.Request{Command: control.CommandPause, Args: json.RawMessage(args)}); r.Code != control.CodeArgs || !strings.Contains(r.Message, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}

// TestCommandsAreRemembered: what a transport wants remembered is in the control state
// within a second or two, and a run whose transport has said nothing keeps what was there.
func TestCommandsAreRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rig.control")
	first := &controlstate.CommandMemory{Answers: []controlstate.CommandID{{Transaction: "t1", Command: "pause", Code: "ok"}},
		Seqs: []controlstate.CommandSeq{{Key: "anna", Session: "s", Seq: 7}}}
	for _, remember := range []*controlstate.CommandMemory{first, nil} {
		synctest.Test(t, func(t *testing.T) {
			tr, _ := liveTrial(t, func(*trial) {})
			state := tr.control(t, path)
			defer state.Close()
			end := tr.begin(t)
			time.Sleep(5 * time.Second)
			if remember != nil {
				tr.deps.Panel.Remember(remember)
			}
			time.Sleep(2 * time.Second)
			again := ask(tr.deps.Panel, control.CommandStop)
			if _, err := end(); !errors.Is(err, ErrSafety) || !again.OK {
				t.Errorf("error %v, %+v", err, again)
			}
		})
		c, err := controlstate.Open(path, disk.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.State().Commands; got == nil || len(got.Answers) != 1 || got.Answers[0] != first.Answers[0] || got.Seqs[0] != first.Seqs[0] {
			t.Errorf("kept %+v", got)
		}
		if err := c.Write(guard.Reset(c.State())); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A trip that this process cannot be trusted after says what it needs.
func TestResetAfterTheWatchdogNeedsANewStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := liveTrial(t, func(tr *trial) { tr.deps.Panel.MakeReachable() })
		p, stood := tr.deps.Panel, false
		tr.deps.Watch.Step = func(journal.Decision, journal.Outcome) {
			if !stood {
				stood = true
				time.Sleep(time.Minute) // the loop's goroutine stands
			}
		}
		end := tr.begin(t)
		time.Sleep(2 * time.Minute)
		if s := p.Status(); s.State != "tripped" || !slices.ContainsFunc(s.Causes, func(c control.Cause) bool { return c.Rule == "watchdog" && c.Latched }) {
			t.Errorf("the loop has stood for a minute: %s, %+v", s.State, s.FirstOut)
		}
		if r := ask(p, control.CommandReset); r.OK || r.Code != control.CodeLatched || !strings.Contains(r.Message, "new start of the program") {
			t.Errorf("reset: %+v", r)
		}
		ask(p, control.CommandStop)
		if _, err := end(); !errors.Is(err, ErrSafety) {
			t.Errorf("the run ended with %v", err)
		}
	})
}
