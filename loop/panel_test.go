package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
)

// order puts a command into the panel as Do does, and returns without its answer: in
// virtual time the loop's goroutine is the test's.
func (tr *trial) order(command string) *control.Order {
	return tr.deps.Panel.Post(control.Request{Command: command, Transport: "test"})
}

// commands reads back what the journal has.
func commandsOf(t *testing.T, path string) (list []journal.CommandRecord) {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for c, err := range r.Commands() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// liveTrial is a run of the rig in real time (a bubble's) with a panel.
func liveTrial(t *testing.T, prepare func(*trial)) (tr *trial, path string) {
	tr = &trial{opt: options(plan.Live), policy: &script{}}
	tr.rig = newRig(worker.RealClock{}, "a")
	tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		return policy.Proposal{X: []float64{float64(2 + len(tr.policy.seen)%5)}}, nil
	}
	tr.opt.Stop = plan.Stop{}
	tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}}, Panel: control.NewPanel("s-1")}
	prepare(tr)
	tr.deps.Journal, path = book(t, &tr.opt)
	return tr, path
}

// begin runs the trial on a goroutine of its own; the function waits for its end.
func (tr *trial) begin(t *testing.T) (end func() (Result, error)) {
	var res Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = Run(context.Background(), tr.opt, tr.deps)
	}()
	return func() (Result, error) { <-done; return res, err }
}

// aim is where a knob was sent last.
func (r *rig) aim(name string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.knobs[name].target
}

func ask(p *control.Panel, command string) control.Response {
	return p.Do(context.Background(), control.Request{Command: command, Who: "anna", Transport: "mqtt", Transaction: "t-" + command})
}

// TestPanelCommands drives a run through every command, and finds each in the journal.
func TestPanelCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path := liveTrial(t, func(tr *trial) {
			tr.policy.found = policy.Recommendation{X: []float64{5}, Estimate: policy.Estimate{Mean: 50, SD: 1, LowerBound: 48, NoiseSD: math.NaN()}}
		})
		p := tr.deps.Panel
		if s := p.Status(); s.Session != "s-1" || s.State != "starting" {
			t.Errorf("before the run: %+v", s)
		}
		end := tr.begin(t)
		time.Sleep(30 * time.Second)
		if s := p.Status(); s.State != "running" || s.Steps < 3 || s.Recommended == nil || s.Recommended.Bound != 48 || s.Outcome == nil {
			t.Errorf("while it runs: %+v", s)
		}
		want := []struct{ command, code, state string }{
			{"status", control.CodeOK, "running"}, {"resume", control.CodeOK, "running"}, {"reset", control.CodeOK, "running"},
			{"pause", control.CodeOK, "held"}, {"pause", control.CodeOK, "held"}, {"set-best", control.CodeMode, "held"}, {"resume", control.CodeOK, "running"},
			{"dance", control.CodeUnknown, "running"}, {"set-best", control.CodeOK, "running"},
		}
		for _, w := range want {
			r := ask(p, w.command)
			if r.Code != w.code || r.OK != (w.code == control.CodeOK) || r.Status.State != w.state || r.Message == "" {
				t.Errorf("%s: %q (%s), %s; want %q and %s", w.command, r.Code, r.Message, r.Status.State, w.code, w.state)
			}
		}
		res, err := end()
		if err != nil || res.Reason != "set-best" || math.Abs(tr.rig.aim("a")-5) > 1e-9 {
			t.Errorf("result %+v, %v, left at %v", res, err, tr.rig.aim("a"))
		}
		if s := p.Status(); s.State != "ended" || s.Reason != "set-best" {
			t.Errorf("at the end: %s, %s", s.State, s.Reason)
		}
		if r := ask(p, "pause"); r.Code != control.CodeEnding {
			t.Errorf("after the end: %+v", r)
		}
		got := commandsOf(t, path)
		if len(got) != len(want) {
			t.Fatalf("%d commands recorded, want %d: %+v", len(got), len(want), got)
		}
		for i, w := range want {
			c := got[i]
			if c.Name != w.command || c.Who != "anna" || c.Transport != "mqtt" || c.Transaction != "t-"+w.command || c.Answer == nil || c.Answer.Code != w.code {
				t.Errorf("recorded %+v (%+v), want %s with %s", c.Command, c.Answer, w.command, w.code)
			}
		}
	})
}

// TestCommandIsDurableBeforeItActs: while the disk hangs nothing acts, and a caller who
// has given up by then is not obeyed.
func TestCommandIsDurableBeforeItActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path := liveTrial(t, func(*trial) {})
		l, err := newLoop(tr.opt, tr.deps)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { _, err := l.run(context.Background()); ended <- err }()
		time.Sleep(3 * time.Second)
		hang := make(chan struct{})
		l.pool.Post(laneJournal, func() any { <-hang; return nil })
		answer := make(chan control.Response, 1)
		go func() { answer <- ask(tr.deps.Panel, "pause") }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if r := tr.deps.Panel.Do(ctx, control.Request{Command: control.CommandReset}); r.Code != control.CodeGivenUp {
			t.Errorf("a caller who gives up: %+v", r)
		}
		time.Sleep(2 * time.Second)
		if s := tr.deps.Panel.Status(); s.State != "running" {
			t.Errorf("%s before the command was durable", s.State)
		}
		close(hang)
		if r := <-answer; !r.OK || r.Status.State != "held" {
			t.Errorf("pause: %+v", r)
		}
		if r := ask(tr.deps.Panel, control.CommandStop); !r.OK || r.Status.State != "stopped" {
			t.Errorf("stop: %+v, %+v", r, r.Status)
		}
		if err := <-ended; !errors.Is(err, ErrSafety) {
			t.Errorf("error %v", err)
		}
		codes := []string{}
		for _, c := range commandsOf(t, path) {
			codes = append(codes, c.Name+" "+c.Answer.Code)
		}
		if want := []string{"pause ok", "reset given-up", "stop ok"}; !slices.Equal(codes, want) {
			t.Errorf("recorded %v, want %v", codes, want)
		}
	})
}

// TestStopOvertakesCommands: 10,000 callers press at once; a stop acts while they wait,
// although the disk hangs, and every one of them gets an answer.
func TestStopOvertakesCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := liveTrial(t, func(*trial) {})
		l, err := newLoop(tr.opt, tr.deps)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { _, err := l.run(context.Background()); ended <- err }()
		time.Sleep(3 * time.Second)
		hang := make(chan struct{})
		l.pool.Post(laneJournal, func() any { <-hang; return nil })
		var mu sync.Mutex
		codes := map[string]int{}
		var all sync.WaitGroup
		for range 10_000 {
			all.Go(func() {
				r := ask(tr.deps.Panel, control.CommandResume)
				mu.Lock()
				codes[r.Code]++
				mu.Unlock()
			})
		}
		synctest.Wait()
		asked := time.Now()
		if r := ask(tr.deps.Panel, control.CommandStop); !r.OK || r.Status.State != "stopped" {
			t.Errorf("stop: %+v", r)
		}
		// No tick, no disk: at once. The safe value waits for its latch at most 200 ms.
		if waited := time.Since(asked); waited != 0 {
			t.Errorf("the stop was answered after %v", waited)
		}
		time.Sleep(time.Second)
		if at := tr.rig.aim("a"); at != 1 {
			t.Errorf("a second after the stop the knob's target is %v, want its safe value", at)
		}
		close(hang)
		if err := <-ended; !errors.Is(err, ErrSafety) {
			t.Errorf("error %v", err)
		}
		all.Wait()
		if n := codes[control.CodeBusy] + codes[control.CodeEnding]; n != 10_000 || codes[control.CodeBusy] != 10_000-control.PanelMax {
			t.Errorf("answers %v", codes)
		}
	})
}

// What a transport has seen, such as a take-over of its connection, is an event of the run.
func TestTransportsTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path := liveTrial(t, func(*trial) {})
		end := tr.begin(t)
		time.Sleep(time.Second)
		tr.deps.Panel.Tell("someone took it over")
		time.Sleep(time.Second)
		ask(tr.deps.Panel, control.CommandStop)
		end()
		tr.deps.Panel.Tell("after the end")
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		seen := 0
		for e := range r.Events() {
			if e.Message == "someone took it over" && e.Level == "warn" {
				seen++
			}
		}
		if seen != 1 {
			t.Errorf("recorded %d times", seen)
		}
	})
}

func TestRefusalsOfTransportsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path := liveTrial(t, func(*trial) {})
		end := tr.begin(t)
		time.Sleep(time.Second)
		for i := range control.PanelMax + 36 { // before the loop looks
			tr.deps.Panel.Refused(control.Request{Command: "resume", Transport: "mqtt", Transaction: fmt.Sprint(i)}, control.Response{Code: "expired", Message: "late"})
		}
		time.Sleep(time.Second)
		ask(tr.deps.Panel, control.CommandStop)
		end()
		got := commandsOf(t, path)
		if len(got) < control.PanelMax+1 || got[0].Answer == nil || got[0].Answer.Code != "expired" || got[0].Answer.OK {
			t.Errorf("%d recorded", len(got))
		}
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		told := 0 // the loop may look in between, and then there is room for more
		for e := range r.Events() {
			if n := 0; strings.Contains(e.Message, "more commands were refused") {
				if _, err := fmt.Sscan(e.Message, &n); err != nil {
					t.Error(e.Message)
				}
				told += n
			}
		}
		if len(got)+told != control.PanelMax+36+1 {
			t.Errorf("%d recorded and %d told of, of %d", len(got), told, control.PanelMax+36+1)
		}
	})
}

// TestRefusalsBeyondTheEnd: a client goes on sending what is refused while the journal is
// at the run's last record; the run ends as it would have without.
func TestRefusalsBeyondTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path := liveTrial(t, func(*trial) {})
		l, err := newLoop(tr.opt, tr.deps)
		if err != nil {
			t.Fatal(err)
		}
		l.deps.Watch.Event = func(e journal.Event) {
			if e.Kind == "shutdown" {
				l.pool.Post(laneJournal, func() any { time.Sleep(time.Second); return nil })
			}
		}
		over := make(chan struct{})
		go func() {
			time.Sleep(2 * time.Second)
			go ask(tr.deps.Panel, control.CommandStop)
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Millisecond):
					tr.deps.Panel.Refused(control.Request{Command: "resume", Transport: "mqtt"}, control.Response{Code: "session", Message: "guessed"})
				}
			}
		}()
		_, err = l.run(t.Context())
		close(over)
		if !errors.Is(err, ErrSafety) || errors.Is(err, ErrJournal) {
			t.Errorf("the run ended with %v", err)
		}
		if n := len(commandsOf(t, path)); n < 2 {
			t.Errorf("%d commands are recorded", n)
		}
	})
}

// TestPanelFromEverywhere uses every method from many goroutines while a run goes on;
// the race detector is its oracle, and that the run ends.
func TestPanelFromEverywhere(t *testing.T) {
	tr, _ := liveTrial(t, func(tr *trial) { tr.opt.Tick = 5 * time.Millisecond; tr.opt.Variables[0].Settle = 0 })
	p := tr.deps.Panel
	end := tr.begin(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := p.Subscribe(2)
			defer s.Close()
			for range 20 {
				ask(p, []string{"pause", "resume", "status", "reset", "dance"}[i%5])
				if text, err := json.Marshal(p.Status()); err != nil || len(text) == 0 {
					t.Errorf("status: %v", err)
				}
				p.Refused(control.Request{Command: "pause"}, control.Response{Code: "expired"})
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
				_, _ = s.Next(ctx) // whatever there is
				cancel()
			}
		})
	}
	all.Wait()
	ask(p, control.CommandStop)
	if _, err := end(); !errors.Is(err, ErrSafety) {
		t.Errorf("error %v", err)
	}
	<-p.Done()
}
