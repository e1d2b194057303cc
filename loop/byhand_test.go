package loop

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// TestStopMakesSafe: a stop brings every actuator to its safe value, whatever the file has
// for a fault and for the end, and wherever the run is; the answer says so by name.
func TestStopMakesSafe(t *testing.T) {
	for _, state := range []plan.RestState{plan.RestHold, plan.RestSafe, plan.RestOff} {
		for _, when := range []string{"running", "paused", "ending", "reading"} {
			t.Run(fmt.Sprintf("%s while %s", state, when), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tr, _ := liveTrial(t, func(tr *trial) {
						tr.opt.Variables[0].OnFault, tr.opt.Variables[0].Shutdown = state, state
						tr.rig.speed = 0.5 // ending takes its time
					})
					end := tr.begin(t)
					if when != "reading" {
						time.Sleep(20 * time.Second)
					}
					switch when {
					case "paused":
						ask(tr.deps.Panel, control.CommandPause)
					case "ending":
						ask(tr.deps.Panel, control.CommandEnd)
					}
					r := ask(tr.deps.Panel, control.CommandStop)
					over := when == "ending" && state != plan.RestSafe && r.Code == control.CodeEnding
					if !over && (!r.OK || !strings.Contains(r.Message, "a to 1 V")) {
						t.Errorf("answer %+v", r)
					}
					result, err := end()
					if over {
						return // it was at rest before
					}
					if !errors.Is(err, ErrSafety) || result.Reason != control.ReasonSafety || tr.rig.aim("a") != 1 || tr.rig.knobs["a"].released {
						t.Errorf("%+v, %v; left at %v", result, err, tr.rig.aim("a"))
					}
					if len(result.Rest) != 1 || result.Rest[0].State != plan.RestSafe || result.Rest[0].Err != nil {
						t.Errorf("at rest: %+v", result.Rest)
					}
				})
			})
		}
	}
}

// TestEndIsQuiet: an end brings every actuator to its shutdown state, and the answer says
// which, by name; the run is over and nothing is latched.
func TestEndIsQuiet(t *testing.T) {
	for state, words := range map[plan.RestState]string{plan.RestHold: "a stays where it is", plan.RestSafe: "a to 1 V", plan.RestOff: "a is let go"} {
		for _, paused := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				tr, path := liveTrial(t, func(tr *trial) { tr.opt.Variables[0].Shutdown = state })
				end := tr.begin(t)
				time.Sleep(20*time.Second + tr.opt.Tick/2) // between two ticks: a step that is under way moves at one
				if paused {
					ask(tr.deps.Panel, control.CommandPause)
					if s := tr.deps.Panel.Status(); s.PausedBy != `"anna" over mqtt` {
						t.Errorf("paused by %s", s.PausedBy)
					}
				}
				s := tr.deps.Panel.Status()
				at := tr.rig.aim("a")
				if s.Variables[0].OnEnd != strings.TrimPrefix(words, "a ") || s.Variables[0].OnStop != "to 1 V" {
					t.Errorf("before: %+v", s.Variables[0])
				}
				if r := ask(tr.deps.Panel, control.CommandEnd); !r.OK || r.Message != "the run ends: "+words {
					t.Errorf("answer %+v", r)
				}
				if state == plan.RestSafe {
					at = 1
				}
				result, err := end()
				if err != nil || result.Reason != control.ReasonEnd || tr.rig.aim("a") != at || tr.rig.knobs["a"].released != (state == plan.RestOff) {
					t.Errorf("%s: %+v, %v; left at %v, want %v", state, result, err, tr.rig.aim("a"), at)
				}
				if s := tr.deps.Panel.Status(); s.PausedBy != "" && !s.Paused || s.State != control.StateEnded {
					t.Errorf("after: %+v", s)
				}
				all := commandsOf(t, path)
				if c := all[len(all)-1]; c.Name != "end" || c.Answer == nil || !c.Answer.OK {
					t.Errorf("recorded %+v", all)
				}
			})
		}
	}
}

// TestEndOutlivesACrash: a run that a person has ended does so when the process dies before
// its actuators are at rest; one that was refused does not.
func TestEndOutlivesACrash(t *testing.T) {
	for _, ok := range []bool{true, false} {
		path, o := crash(t, "outcome-durable", 6)
		o.Stop = plan.Stop{Steps: 9}
		j, err := journal.Open(path, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Ordered(journal.Command{Name: control.CommandEnd}, journal.Answer{OK: ok, Code: control.CodeOK}), j.Close()); err != nil {
			t.Fatal(err)
		}
		_, result := resume(t, path, o, oneKnobSpec())
		if want := map[bool]string{true: control.ReasonEnd, false: control.ReasonSteps}[ok]; result.Reason != want || ok && result.Steps != 6 {
			t.Errorf("followed: %v; got %+v", ok, result)
		}
	}
}
