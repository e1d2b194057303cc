package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
	"github.com/labtuner/tuner/scripts/testsize"
)

// rig is a small instrument whose every reaction a test can state: a knob that
// follows its setpoint at a finite speed, and a meter.
type rig struct {
	mu    sync.Mutex
	clock drivers.Clock
	speed float64       // of the knobs, per second; 0: at once
	drift float64       // readback minus position
	ahead time.Duration // of the clock: what the readings' times say more
	knobs map[string]*knob
	// meter is the objective at the knobs' present positions; nil error and NaN: no
	// new value.
	meter func(at map[string]float64) float64
	// aux is the second sensor; nil: 300 K. NaN: no new value.
	aux func() float64
	// words are what it answers in place of a value, "" for nothing at all.
	words string
	// fault, if any, answers instead.
	fault func(op string) error
	// reopenFails makes Open fail after the first time; reopen, if any, says instead what
	// becomes of it, and leaves fault as it is.
	reopenFails bool
	reopen      func() error

	// halting, if any, is what a halt does.
	halting func()
	// deaf, if any, says that writes are acknowledged and move nothing.
	deaf func() bool
	// lasts makes the knobs keep a setpoint only for the time that comes with it.
	lasts bool
	// accepts are the knobs' bounds, as the device declares them; equal: none.
	accepts [2]float64

	opens  int
	halts  int
	closed bool
	log    []call
}

type knob struct {
	position, target float64
	since            time.Time
	released         bool
	// stuck says that it stays where it is, whatever it is told.
	stuck   bool
	natural func() float64
}

// call is one thing that was asked of the rig.
type call struct {
	at      time.Duration
	op      string
	values  map[string]float64
	release []string
	lasts   map[string]time.Duration
}

var rigStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newRig(clock drivers.Clock, names ...string) *rig {
	r := &rig{clock: clock, knobs: map[string]*knob{}}
	for _, n := range names {
		r.knobs[n] = &knob{since: clock.Now()}
	}
	return r
}

func (r *rig) Open(context.Context) ([]drivers.Channel, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opens++
	switch {
	case r.opens > 1 && r.reopen != nil:
		if err := r.reopen(); err != nil {
			return nil, err
		}
		return r.channels(), nil
	case r.opens > 1 && r.reopenFails:
		return nil, fmt.Errorf("%w: does not start again", drivers.ErrUnavailable)
	}
	if r.opens > 1 {
		r.fault = nil
	}
	return r.channels(), nil
}

func (r *rig) channels() []drivers.Channel {
	low, high := math.NaN(), math.NaN()
	if r.accepts[0] < r.accepts[1] {
		low, high = r.accepts[0], r.accepts[1]
	}
	var out []drivers.Channel
	for n := range r.knobs {
		out = append(out, drivers.Channel{Name: n, Unit: "V", Access: drivers.ReadWrite, Min: low, Max: high, CanRelease: true, Lasts: r.lasts})
	}
	return append(out, drivers.Channel{Name: "meter", Unit: "W"}, drivers.Channel{Name: "aux", Unit: "K"})
}

func (r *rig) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

// position of a knob now.
func (r *rig) position(k *knob) float64 {
	if k.stuck {
		return k.position
	}
	if k.released {
		if k.natural != nil {
			return k.natural()
		}
		return k.position
	}
	way := r.speed * r.clock.Now().Sub(k.since).Seconds()
	if r.speed == 0 || math.Abs(k.target-k.position) <= way {
		return k.target
	}
	return k.position + math.Copysign(way, k.target-k.position)
}

func (r *rig) note(op string, s drivers.Setpoints) {
	r.log = append(r.log, call{r.clock.Now().Sub(rigStart), op, s.Values, s.Release, s.For})
}

func (r *rig) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := drivers.Reading{At: r.clock.Now().Add(r.ahead), Values: map[string]float64{}}
	if r.fault != nil {
		if err := r.fault("read"); err != nil {
			return out, err
		}
	}
	at := map[string]float64{}
	for n, k := range r.knobs {
		at[n] = r.position(k)
	}
	for _, c := range channels {
		switch {
		case c == "meter":
			r.note("measure", drivers.Setpoints{Values: at})
			if y := r.meter(at); !math.IsNaN(y) {
				out.Values[c] = y
			}
		case c == "aux" && r.aux == nil:
			out.Values[c] = 300
		case c == "aux":
			if x := r.aux(); !math.IsNaN(x) {
				out.Values[c] = x
			} else if r.words != "" {
				out.Missing = map[string]error{c: errors.New(r.words)}
			}
		default:
			out.Values[c] = at[c] + r.drift
		}
	}
	return out, nil
}

func (r *rig) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil {
		if err := r.fault("write"); err != nil {
			return drivers.Reading{}, err
		}
	}
	r.note("write", s)
	for n, v := range s.Values {
		k := r.knobs[n]
		if r.deaf != nil && r.deaf() {
			continue
		}
		k.position, k.target, k.since, k.released = r.position(k), v, r.clock.Now(), false
	}
	for _, n := range s.Release {
		r.knobs[n].released = true
	}
	return drivers.Reading{}, nil
}

func (r *rig) Halt(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halts++
	r.note("halt", drivers.Setpoints{})
	if r.halting != nil {
		r.halting()
	}
	return nil
}

// calls of one kind.
func (r *rig) calls(op string) []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.log), func(c call) bool { return c.op != op })
}

// script is a policy that proposes what a test says and remembers what it is
// told.
type script struct {
	proposals []policy.Proposal
	seen      []policy.Observation
	propose   func(context.Context) (policy.Proposal, error)
	found     policy.Recommendation
	noData    bool
}

func (s *script) Propose(ctx context.Context) (policy.Proposal, error) {
	if s.propose != nil {
		return s.propose(ctx)
	}
	if len(s.proposals) == 0 {
		return policy.Proposal{}, policy.ErrBudget
	}
	p := s.proposals[0]
	s.proposals = s.proposals[1:]
	return p, nil
}

func (s *script) Observe(o policy.Observation) error {
	s.seen = append(s.seen, o)
	return nil
}

func (s *script) Recommend() (policy.Recommendation, error) {
	if s.noData || s.found.X == nil {
		return policy.Recommendation{}, policy.ErrNoData
	}
	return s.found, nil
}

// propose builds proposals that play control set 0 with the given values of a
// one-variable problem.
func proposeAll(values ...float64) []policy.Proposal {
	out := make([]policy.Proposal, len(values))
	for i, v := range values {
		out[i] = policy.Proposal{Step: i + 1, X: []float64{v}, Work: 1}
	}
	return out
}

// options is a run with one knob "a" (range 0 to 10 V, hard -1 to 11 V, 2 V/s)
// and a meter.
func options(mode plan.Mode) plan.Options {
	return plan.Options{
		Mode: mode, Tick: 100 * time.Millisecond,
		Objective: plan.Objective{Name: "meter", Unit: "W", Sensor: 0, Uses: []int{0}, Shots: 3, Statistic: "mean", Timeout: 5 * time.Second},
		Sensors: []plan.Sensor{
			{Name: "meter", Unit: "W", Channel: plan.Channel{Device: 0, Name: "meter"}, Low: -1000, High: 1000, MaxAge: time.Second},
			{Name: "aux", Unit: "K", Channel: plan.Channel{Device: 0, Name: "aux"}, Low: 0, High: 1000, MaxAge: time.Second},
		},
		Variables:   []plan.Variable{variable("a")},
		ControlSets: []plan.ControlSet{{Variables: []int{0}, Cost: 1}},
		Stop:        plan.Stop{Steps: 100}, FailureLimit: 3, Deadline: time.Second,
		Safety: plan.Safety{Limits: safety.Limits{HoldMax: 30 * time.Second, Comms: 30 * time.Second}},
	}
}

func variable(name string) plan.Variable {
	return plan.Variable{Name: name, Unit: "V", Channel: plan.Channel{Device: 0, Name: name}, Actuated: true, Low: 0, High: 10, Start: math.NaN(),
		Tolerance: 0.01, Timeout: 2 * time.Second, MaxAge: time.Second, Settle: 300 * time.Millisecond, OnRelease: plan.Hold,
		Limits: safety.VariableLimits{Low: -1, High: 11, SlewUp: 2, SlewDown: 2, Safe: 1},
		Boot:   plan.RestHold, OnFault: plan.RestSafe, Shutdown: plan.RestHold}
}

// book opens a journal in the test's folder.
func book(t *testing.T, o *plan.Options) (*journal.Journal, string) {
	t.Helper()
	return bookOf(t, o, journal.Options{})
}

func bookOf(t *testing.T, o *plan.Options, options journal.Options) (*journal.Journal, string) {
	t.Helper()
	if o.Mode == plan.Simulate { // its jobs are done in turn, between the ticks
		testsize.OneGoroutine(t)
	}
	path := filepath.Join(t.TempDir(), "run.db")
	run := journal.Run{ID: "test", Name: "rig", Mode: string(o.Mode), Policy: "script", Objective: journal.Column{Name: "meter", Unit: "W"}}
	for _, v := range o.Variables {
		run.Variables = append(run.Variables, journal.Column{Name: v.Name, Unit: v.Unit})
	}
	for _, s := range o.Sensors {
		run.Sensors = append(run.Sensors, journal.Column{Name: s.Name, Unit: s.Unit})
	}
	for _, c := range o.ControlSets {
		set := journal.ControlSet{Cost: c.Cost}
		for _, i := range c.Variables {
			set.Variables = append(set.Variables, o.Variables[i].Name)
		}
		run.ControlSets = append(run.ControlSets, set)
	}
	j, err := journal.Create(path, run, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("close journal: %v", err)
		}
	})
	return j, path
}

// trial is a run of the rig in virtual time.
type trial struct {
	opt      plan.Options
	rig      *rig
	policy   *script
	clock    *worker.VirtualClock
	deps     Deps
	outcomes []journal.Outcome
	events   []journal.Event
}

func newTrial(t *testing.T) *trial {
	clock := worker.NewVirtualClock(rigStart)
	tr := &trial{opt: options(plan.Simulate), rig: newRig(clock, "a"), policy: &script{}, clock: clock}
	tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
	tr.deps = Deps{Clock: clock, Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}}}
	tr.deps.Watch.Step = func(_ journal.Decision, o journal.Outcome) { tr.outcomes = append(tr.outcomes, o) }
	tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
	return tr
}

func (tr *trial) run(t *testing.T, ctx context.Context) (Result, error) {
	t.Helper()
	tr.deps.Journal, _ = book(t, &tr.opt)
	return Run(ctx, tr.opt, tr.deps)
}
