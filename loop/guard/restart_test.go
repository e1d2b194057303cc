package guard

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// stateFile is a control state that was written before.
func stateFile(t *testing.T, s controlstate.State) *controlstate.File {
	t.Helper()
	file, err := controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if err := file.Write(s); err != nil {
		t.Fatal(err)
	}
	return file
}

// begin makes a guard over a control state.
func begin(o *plan.Options, file *controlstate.File, m Machine) (*Guard, error) {
	clock := &hands{noon}
	o.Tick = time.Second
	return New(Options{Plan: o, Start: clock.now, Clock: clock, Control: file, Machine: m, Commands: (*control.Panel)(nil), Readings: still{}}, worker.NewVirtual())
}

// TestWhatIsLatchedKeepsALiveRunFromStarting: a shadow run drives nothing and starts.
func TestWhatIsLatchedKeepsALiveRunFromStarting(t *testing.T) {
	latched := controlstate.State{Mode: "tripped", Latched: []controlstate.Cause{{Rule: safety.RuleInterlock}}}
	for mode, want := range map[plan.Mode]error{plan.Live: ErrLatched, plan.Shadow: nil} {
		if _, err := begin(&plan.Options{Mode: mode}, stateFile(t, latched), Machine{}); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", mode, err, want)
		}
	}
}

// TestShadowKeepsItsOwnTime: what a live run has written is nothing to a shadow run, nor does it
// add to it.
func TestShadowKeepsItsOwnTime(t *testing.T) {
	before := controlstate.State{At: time.Hour, BootID: "x", Uptime: time.Hour}
	m := Machine{BootID: "x", Uptime: func() time.Duration { return 90 * time.Minute }}
	for mode, want := range map[plan.Mode]time.Duration{plan.Live: 90 * time.Minute, plan.Shadow: 0} {
		file := stateFile(t, before)
		generation := file.State().Generation
		g, err := begin(&plan.Options{Mode: mode, Start: plan.StartRun}, file, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Time(noon); got != want {
			t.Errorf("%v: the time begins at %v, want %v", mode, got, want)
		}
		if wrote := file.State().Generation != generation; wrote != (mode == plan.Live) {
			t.Errorf("%v: the start was counted: %v", mode, wrote)
		}
	}
}

// TestStartsOfAnHour: a run that starts by itself does so a few times in an hour, whatever else
// is in the control state; then it waits for a person. A file that says hold waits at once.
func TestStartsOfAnHour(t *testing.T) {
	const at = 10 * time.Hour
	within := make([]time.Duration, plan.StartsMax)
	for i := range within {
		within[i] = at - time.Duration(i+1)*time.Minute
	}
	for name, c := range map[string]struct {
		start         plan.StartMode
		before        []time.Duration
		waits, counts bool
	}{
		"the first":                {plan.StartRun, nil, false, true},
		"one too many":             {plan.StartRun, within, true, false},
		"those of the hour before": {plan.StartRun, []time.Duration{0, 1, 2, at - time.Hour}, false, true},
		"the file holds":           {plan.StartHold, nil, true, false},
		"begun by a person":        {"", within, false, false},
	} {
		file := stateFile(t, controlstate.State{At: at, Starts: c.before})
		g, err := begin(&plan.Options{Mode: plan.Live, Start: c.start}, file, Machine{})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Waits() != ""; got != c.waits {
			t.Errorf("%s: waits %q", name, g.Waits())
		}
		if kept := file.State().Starts; c.counts != (len(kept) > 0 && kept[len(kept)-1] == at) {
			t.Errorf("%s: starts on disk %v", name, kept)
		}
	}
}

// TestControlFilesAreToldOnce: that they cannot be saved, and that they can again, once each;
// files that are well are not told of.
func TestControlFilesAreToldOnce(t *testing.T) {
	var f controlFiles
	for i, c := range []struct {
		saw  seen
		said int
	}{{seen{}, 0}, {seen{}, 0}, {seen{err: errors.New("gone")}, 1}, {seen{err: errors.New("gone")}, 0}, {seen{}, 1}, {seen{}, 0}, {seen{found: "was moved"}, 1}} {
		if events := f.saw(c.saw); len(events) != c.said {
			t.Errorf("look %d: %v, want %d", i, events, c.said)
		}
		if held := c.saw.err != nil; (f.held != "") != held {
			t.Errorf("look %d: held for %q", i, f.held)
		}
	}
	k := saver{opt: &Options{}}
	for i, c := range []struct {
		err  error
		said int
	}{{nil, 0}, {errors.New("full"), 1}, {errors.New("full"), 0}, {nil, 1}, {nil, 0}} {
		if events := k.took(written{err: c.err}, true); len(events) != c.said {
			t.Errorf("writing %d: %v, want %d", i, events, c.said)
		}
	}
}

// asked is a transport that wants something remembered.
type asked struct{ *control.Panel }

func (asked) TakeUnsaved() bool { return true }

// TestKeepingIsTrue: it lasts from the order to write until the disk has answered. What a
// transport wants remembered is written saveSoon after the state before, not earlier.
func TestKeepingIsTrue(t *testing.T) {
	file, clock, pool := stateFile(t, controlstate.State{}), &hands{noon}, worker.NewVirtual()
	g, err := New(Options{Plan: &plan.Options{Mode: plan.Live, Tick: time.Second}, Start: noon, Clock: clock, Control: file, Commands: asked{}}, pool)
	if err != nil {
		t.Fatal(err)
	}
	g.Save()
	if !g.Saving() || !g.Owes() {
		t.Error("a state is being written")
	}
	for _, r := range pool.Take() {
		g.Handle(r.Value)
	}
	if g.Saving() || g.Owes() {
		t.Error("it is written")
	}
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{saveSoon - 1, false}, {saveSoon, true}} {
		if g.SaveTime(noon.Add(c.after)); g.Saving() != c.want {
			t.Errorf("%v after the one before: writes %v", c.after, g.Saving())
		}
	}
}

// TestWayTime: a way may take its time-out, the dwell before it, twice the ramp, and for a dose
// the wait for the one before, by whichever rule is longer.
func TestWayTime(t *testing.T) {
	knob := plan.Variable{Name: "knob", Timeout: 7 * time.Second, High: 10, Limits: safety.VariableLimits{High: 10, SlewUp: 2, SlewDown: 1, Dwell: 3 * time.Second}}
	dose := plan.Variable{Name: "dose", Dose: true, Timeout: time.Second, High: 1, Limits: safety.VariableLimits{High: 1}}
	b := bounds{plan: &plan.Options{Variables: []plan.Variable{knob, dose}}, limits: safety.Limits{
		Variables: []safety.VariableLimits{knob.Limits, dose.Limits},
		Doses:     []safety.DoseLimits{{Variable: 1, MinInterval: 20 * time.Second}},
		Responses: []safety.ResponseLimits{{Variable: 1, Within: 30 * time.Second}, {Variable: 0, Within: time.Hour}}}}
	for i, want := range []time.Duration{7*time.Second + 3*time.Second + 20*time.Second, 31 * time.Second} {
		if got := b.WayTime(i); got != want {
			t.Errorf("variable %d: %v, want %v", i, got, want)
		}
	}
}

// nowhere has a reading that nobody has made.
type nowhere struct{ still }

func (n nowhere) Variable(int) plan.Reading { return plan.Reading{Value: n.value} }

// TestOnlyWhatWasReadStandsOutside: a number that was never read puts nothing outside.
func TestOnlyWhatWasReadStandsOutside(t *testing.T) {
	v := plan.Variable{Name: "knob", Actuated: true, Tolerance: 0.1, High: 10, Limits: safety.VariableLimits{High: 10}}
	w := explainer{plan: &plan.Options{Variables: []plan.Variable{v}}, limits: &safety.Limits{Variables: []safety.VariableLimits{v.Limits}}}
	for _, c := range []struct {
		readings Readings
		want     bool
	}{{still{12}, true}, {still{10.05}, false}, {nowhere{still{12}}, false}} {
		w.readings = c.readings
		if got := w.standsOutside(0); got != c.want {
			t.Errorf("%+v: %v", c.readings, got)
		}
	}
}

// TestGrantEndsWithItsProcess: proposals are numbered anew, so what was granted to one of an
// earlier process says nothing of one of this. What was charged stays.
func TestGrantEndsWithItsProcess(t *testing.T) {
	granted := safety.DoseState{Granted: true, Proposal: 1, Dest: 5, Dosed: true, Total: 5}
	o := &plan.Options{Mode: plan.Live, Variables: []plan.Variable{{Name: "acid", Actuated: true, High: 10, OnFault: plan.RestHold, Shutdown: plan.RestHold, Limits: safety.VariableLimits{High: 10, SlewUp: 10, SlewDown: 10}}}}
	o.Safety.Doses = []safety.DoseLimits{{Variable: 0, PerDose: 5, Hour: 20, Run: 100}}
	g, err := begin(o, stateFile(t, controlstate.State{Doses: map[string]safety.DoseState{"acid": granted}}), Machine{})
	if err != nil {
		t.Fatal(err)
	}
	if d := g.state.Dose[0]; d.Granted || d.Total != 5 {
		t.Errorf("granted %v, charged %v; want a new grant and the 5 of before", d.Granted, d.Total)
	}
}

// TestResetCountsADoseFromItsEnd: a dose during which the process died may have run until then;
// the interval to the next one counts from there, and its amount stays on the books.
func TestResetCountsADoseFromItsEnd(t *testing.T) {
	s := controlstate.State{At: time.Hour, Mode: "tripped", Doses: map[string]safety.DoseState{
		"feed": {Open: true, Handed: true, Dosed: true, Number: 3, Amount: 2, LastAt: time.Minute, Total: 7, Used: 7}}}
	d := Reset(s).Doses["feed"]
	if d.Open || d.Unknown || d.LastAt != time.Hour || d.Total != 7 {
		t.Errorf("open %v, unknown %v, last at %v, %v in all; want over, from %v on, 7", d.Open, d.Unknown, d.LastAt, d.Total, s.At)
	}
}
