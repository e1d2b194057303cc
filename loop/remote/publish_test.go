package remote

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// stand is a run of a knob and a meter, with its Remote at a fake broker.
type stand struct {
	link  *fakeLink
	r     *Remote
	panel *control.Panel
	path  string
	hot   atomic.Bool // the interlock is open
	end   func() error
}

// knob is an instrument that does what it is told at once.
type knob struct {
	at  atomic.Uint64 // the bits of a float64
	hot *atomic.Bool
}

func (k *knob) Open(context.Context) ([]drivers.Channel, error) {
	nan := math.NaN()
	return []drivers.Channel{{Name: "x", Unit: "V", Access: drivers.ReadWrite, Min: nan, Max: nan}, {Name: "y", Unit: "W", Min: nan, Max: nan},
		{Name: "t", Unit: "K", Min: nan, Max: nan}}, nil
}
func (k *knob) Close() error               { return nil }
func (k *knob) Halt(context.Context) error { return nil }
func (k *knob) Read(context.Context, []string) (drivers.Reading, error) {
	x, temperature := math.Float64frombits(k.at.Load()), 300.0
	if k.hot.Load() {
		temperature = 400
	}
	return drivers.Reading{Values: map[string]float64{"x": x, "y": x * (5 - x), "t": temperature}}, nil
}
func (k *knob) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if x, ok := s.Values["x"]; ok {
		k.at.Store(math.Float64bits(x))
	}
	return drivers.Reading{}, nil
}

// walk is a policy that goes up and down.
type walk struct{ steps int }

func (w *walk) Propose(context.Context) (policy.Proposal, error) {
	w.steps++
	return policy.Proposal{Step: w.steps, X: []float64{float64(w.steps%4) + 0.5}}, nil
}
func (w *walk) Observe(policy.Observation) error { return nil }
func (w *walk) Recommend() (policy.Recommendation, error) {
	if w.steps == 0 {
		return policy.Recommendation{}, policy.ErrNoData
	}
	return policy.Recommendation{X: []float64{2.5}, Estimate: policy.Estimate{Mean: 6, SD: 1, LowerBound: 4, NoiseSD: math.NaN()}}, nil
}

// newStand runs for real, or in a bubble's time.
func newStand(t *testing.T, o Options) *stand {
	t.Helper()
	s := &stand{link: &fakeLink{}, panel: control.NewPanel("s-now"), path: filepath.Join(t.TempDir(), "run.db")}
	s.panel.MakeReachable()
	opt := plan.Options{Mode: plan.Live, Tick: 20 * time.Millisecond,
		Objective: plan.Objective{Name: "y", Unit: "W", Sensor: 0, Uses: []int{0}, Shots: 2, Statistic: "mean", Timeout: 5 * time.Second},
		Sensors: []plan.Sensor{{Name: "y", Unit: "W", Channel: plan.Channel{Name: "y"}, Low: -100, High: 100, MaxAge: time.Second},
			{Name: "t", Unit: "K", Channel: plan.Channel{Name: "t"}, Low: 0, High: 1000, MaxAge: time.Second}},
		Variables: []plan.Variable{{Name: "x", Unit: "V", Actuated: true, Channel: plan.Channel{Name: "x"}, Low: 0, High: 5, Start: 1,
			Tolerance: 0.01, Timeout: time.Second, MaxAge: time.Second, OnRelease: plan.Hold,
			Limits: safety.VariableLimits{Low: 0, High: 5, SlewUp: 100, SlewDown: 100, Safe: 0.5},
			Boot:   plan.RestHold, OnFault: plan.RestSafe, Shutdown: plan.RestHold}},
		ControlSets: []plan.ControlSet{{Variables: []int{0}, Cost: 1}}, Deadline: time.Second, FailureLimit: 3,
		Safety: plan.Safety{Limits: safety.Limits{HoldMax: 30 * time.Second, Interlocks: []safety.Condition{{Sensor: 1, Low: 0, High: 350}}}},
		Run:    plan.RunNames{ID: "r-1", Name: "oven", Site: "bench"}}
	j, err := journal.Create(s.path, journal.Run{ID: "r-1", Mode: "run", Variables: []journal.Column{{Name: "x"}}, Sensors: []journal.Column{{Name: "y"}, {Name: "t"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"x"}, Cost: 1}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Topics, o.Session, o.Commands = testTopics, "s-now", true
	s.r = New(o, s.panel)
	s.r.Connected()
	said, ended := make(chan struct{}), make(chan error, 1)
	go func() { defer close(said); s.r.Run(context.Background(), s.link) }()
	go func() {
		_, err := loop.Run(context.Background(), opt, loop.Deps{Devices: []loop.Device{{Name: "d", Device: &knob{hot: &s.hot}}}, Policy: &walk{}, Journal: j, Panel: s.panel})
		ended <- err
	}()
	s.end = func() error {
		err := <-ended
		<-said
		if closed := j.Close(); closed != nil {
			t.Error(closed)
		}
		return err
	}
	return s
}

// last decodes the newest message of a topic.
func (s *stand) last(t *testing.T, topic string) (v map[string]any, m Message) {
	t.Helper()
	list := s.link.on(topic)
	if len(list) == 0 {
		t.Fatalf("nothing on %s", topic)
	}
	m = list[len(list)-1]
	if err := json.Unmarshal(m.Payload, &v); err != nil {
		t.Fatalf("%v: %s", err, m.Payload)
	}
	return v, m
}

// send publishes a command as a broker would bring it.
func (s *stand) send(name string, payload []byte) {
	m := Message{Topic: testTopics.Command(name), Payload: payload, QoS: 1}
	if !s.r.Urgent(m) {
		s.r.Handle(m)
	}
}

// TestPublishes follows what is published of a run, from its start to its end.
func TestPublishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, Options{Version: "v9", Insecure: true, Discovery: "homeassistant"})
		time.Sleep(25 * time.Second)
		status, m := s.last(t, testTopics.Status())
		if status["state"] != "online" || status["session"] != "s-now" || status["version"] != "v9" || status["insecure"] != true || status["run"] != "r-1" || !m.Retained || m.QoS != 1 {
			t.Errorf("status %v, %+v", status, m)
		}
		if n := len(s.link.on(testTopics.Status())); n != 3 { // at 0, 10 and 20 s
			t.Errorf("%d heartbeats in 25 s", n)
		}
		state, m := s.last(t, testTopics.State())
		if state["state"] != "running" || !m.Retained || m.QoS != 1 || len(s.link.on(testTopics.State())) > 105 {
			t.Errorf("state %v %+v, said %d times", state["state"], m, len(s.link.on(testTopics.State())))
		}
		values, m := s.last(t, testTopics.Telemetry())
		sensors := values["sensors"].([]any)[0].(map[string]any)
		if m.Retained || m.QoS != 0 || sensors["name"] != "y" || sensors["unit"] != "W" || sensors["value"] == nil {
			t.Errorf("telemetry %v, %+v", values, m)
		}
		if n := len(s.link.on(testTopics.Telemetry())); n < 20 || n > 26 {
			t.Errorf("%d times values in 25 s", n)
		}
		checkEvents(t, s.link.on(testTopics.Event()))
		before := len(s.link.on(testTopics.Status()))
		s.r.Connected() // a new broker, which has lost what was retained
		time.Sleep(time.Second)
		if len(s.link.on(testTopics.Status())) != before+1 || len(s.link.on("homeassistant/device/tuner_bench_oven/config")) != 2 {
			t.Error("not everything was said anew")
		}
		s.send("stop", nil)
		if err := s.end(); err == nil || !strings.Contains(err.Error(), "stopped") {
			t.Errorf("error %v", err)
		}
		status, m = s.last(t, testTopics.Status())
		if status["state"] != "offline" || status["session"] != "s-now" || status["reason"] != "safety" || !m.Retained {
			t.Errorf("goodbye %v", status)
		}
		if state, _ := s.last(t, testTopics.State()); state["state"] != "stopped" && state["state"] != "ended" {
			t.Errorf("the last state is %v", state["state"])
		}
		if a, _ := s.last(t, testTopics.Response("stop")); a["ok"] != true {
			t.Errorf("the answer to stop is %v", a)
		}
		will := s.r.Will()
		if will.Topic != testTopics.Status() || !will.Retained || string(will.Payload) != `{"state":"lost","session":"s-now","commands":false,"signed":false,"insecure":false}` {
			t.Errorf("will %s", will.Payload)
		}
	})
}

// checkEvents wants them numbered without gaps, and steps among them.
func checkEvents(t *testing.T, list []Message) {
	t.Helper()
	steps := 0
	for i, m := range list {
		var e event
		if err := json.Unmarshal(m.Payload, &e); err != nil || e.Seq != uint64(i+1) || e.Lost != 0 || m.Retained || m.QoS != 1 {
			t.Fatalf("event %d: %v, %s, %+v", i, err, m.Payload, m)
		}
		if e.Kind == kindOutcome && e.OutcomeStatus != nil && e.Mean.Known() {
			steps++
		}
	}
	if steps < 10 {
		t.Errorf("%d steps were told of in 25 s", steps)
	}
}

// TestOutage: without a connection nothing is sent and nothing blocks; afterwards events
// come in order, and how many are missing is told.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, Options{})
		time.Sleep(5 * time.Second)
		s.link.mu.Lock()
		s.link.down, s.link.sent = true, nil
		s.link.mu.Unlock()
		steps := s.panel.Status().Steps
		time.Sleep(time.Minute)
		if n := s.panel.Status().Steps; n < steps+200 {
			t.Errorf("%d steps in a minute without a broker", n-steps)
		}
		s.link.mu.Lock()
		s.link.down = false
		s.link.mu.Unlock()
		s.r.Connected()
		time.Sleep(time.Second)
		list := s.link.on(testTopics.Event())
		if len(list) < outboxMax-1 || len(list) > outboxMax+20 {
			t.Errorf("%d events after the outage, want the newest %d", len(list), outboxMax)
		}
		last := uint64(0)
		for _, m := range list {
			var e event
			if err := json.Unmarshal(m.Payload, &e); err != nil || last > 0 && e.Seq != last+1 {
				t.Fatalf("event %s after %d, %v", m.Payload, last, err)
			} else {
				last = e.Seq
			}
		}
		s.send("stop", nil)
		s.end()
	})
}

// TestCommandsReachTheRun: every command through the whole of it, to the journal.
func TestCommandsReachTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, Options{})
		time.Sleep(2 * time.Second)
		n := 0
		ask := func(name, wantCode, wantState string) {
			t.Helper()
			n++
			s.send(name, command(func(c *Command) { numbered(n)(c); c.Issued = time.Time{} }))
			time.Sleep(time.Second)
			a, m := s.last(t, testTopics.Response(name))
			if a["code"] != wantCode || a["state"] != wantState || a["transaction"] != "t"+string(rune('0'+n)) || a["message"] == "" || m.Retained {
				t.Errorf("%s: %v; want %s and %s", name, a, wantCode, wantState)
			}
		}
		ask("pause", "ok", "held")
		ask("status", "ok", "held")
		if a, _ := s.last(t, testTopics.Response("status")); a["data"].(map[string]any)["paused"] != true {
			t.Errorf("status: %v", a)
		}
		ask("resume", "ok", "running")
		s.hot.Store(true)
		time.Sleep(time.Second)
		ask("reset", "conditions", "tripped")
		if a, _ := s.last(t, testTopics.Response("reset")); !strings.Contains(a["message"].(string), "interlock of t") {
			t.Errorf("which interlock? %v", a["message"])
		}
		s.hot.Store(false)
		time.Sleep(time.Second)
		ask("reset", "ok", "disarmed")
		ask("resume", "ok", "armed")
		s.send("pause", []byte(`{"nonsense":1}`))
		time.Sleep(time.Second)
		ask("set-best", "ok", "running")
		if err := s.end(); err != nil {
			t.Errorf("error %v", err)
		}
		r, err := journal.OpenReader(s.path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got []string
		for c, err := range r.Commands() {
			if err != nil || c.Answer == nil {
				t.Fatalf("%+v, %v", c, err)
			}
			got = append(got, c.Name+" "+c.Answer.Code)
		}
		want := "pause ok, status ok, resume ok, reset conditions, reset ok, resume ok, pause malformed, set-best ok"
		if strings.Join(got, ", ") != want {
			t.Errorf("recorded %v, want %s", got, want)
		}
	})
}
