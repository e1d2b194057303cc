package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
	"github.com/labtuner/tuner/scripts/testsize"
)

// pump is an instrument that adds what it is told to what it measures. It counts for
// itself.
type pump struct {
	clock drivers.Clock
	level float64
	// given are the doses that it has received, names what they were called.
	given    []float64
	names    []string
	released int
	// answer, if any, says what it answers to a dose: the readback (NaN: none) or an
	// error, after it has taken the dose if takes says so.
	answer func(ctx context.Context, amount float64) (delivered float64, takes bool, err error)
	fixed  bool // it cannot stop a dose
	plain  bool // it does not say that it doses
}

func (p *pump) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{{Name: "feed", Unit: "mL", Access: drivers.ReadWrite, Min: 0, Max: 10, Safe: math.NaN(), CanRelease: !p.fixed, Dose: !p.plain},
		{Name: "level", Unit: "L"}}, nil
}

func (p *pump) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	r := drivers.Reading{Values: map[string]float64{}, At: p.clock.Now()}
	for _, c := range channels {
		if c != "level" {
			return r, fmt.Errorf("%w: %s cannot be read", drivers.ErrProtocol, c)
		}
		r.Values[c] = p.level
	}
	return r, nil
}

func (p *pump) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if len(s.Release) > 0 {
		p.released++
		return drivers.Reading{}, nil
	}
	amount := s.Values["feed"]
	if s.Dose == "" || len(s.Values) != 1 {
		return drivers.Reading{}, fmt.Errorf("%w: %+v is no dose", drivers.ErrProtocol, s)
	}
	delivered, takes, err := math.NaN(), true, error(nil)
	if p.answer != nil {
		delivered, takes, err = p.answer(ctx, amount)
	}
	if takes {
		p.level += amount
		p.given, p.names = append(p.given, amount), append(p.names, s.Dose)
	}
	if math.IsNaN(delivered) || err != nil {
		return drivers.Reading{}, err
	}
	return drivers.Reading{Values: map[string]float64{"feed": delivered}}, nil
}

func (p *pump) Halt(context.Context) error { return nil }
func (p *pump) Close() error               { return nil }

func (p *pump) total() (sum float64) {
	for _, x := range p.given {
		sum += x
	}
	return sum
}

// dosing is a run of a pump in virtual time.
type dosing struct {
	*trial
	pump *pump
	path string
}

func newDosing(t *testing.T, values ...float64) *dosing {
	t.Helper()
	tr := newTrial(t)
	d := &dosing{trial: tr, pump: &pump{clock: tr.clock}, path: filepath.Join(t.TempDir(), "pump.control")}
	tr.opt = doseOptions(plan.Simulate)
	tr.policy.proposals = proposeAll(values...)
	tr.deps.Devices, tr.deps.Run = []Device{{Name: "pump", Device: d.pump}}, "run"
	tr.control(t, d.path)
	t.Cleanup(func() { tr.deps.Control.Close() })
	return d
}

// doseOptions is a run with one variable of doses, up to 5 mL by 0.1.
func doseOptions(mode plan.Mode) plan.Options {
	o := options(mode)
	o.Objective.Shots, o.Objective.Name, o.Objective.Unit = 1, "level", "L"
	o.Sensors = []plan.Sensor{{Name: "level", Unit: "L", Channel: plan.Channel{Device: 0, Name: "level"}, Low: -1, High: 1000, MaxAge: time.Second}}
	o.Variables = []plan.Variable{{Name: "feed", Unit: "mL", Channel: plan.Channel{Device: 0, Name: "feed"}, Actuated: true, Dose: true, Low: 0, High: 5, Start: math.NaN(),
		OnRelease: plan.Hold, MaxAge: time.Second, Settle: time.Second, Limits: safety.VariableLimits{Dose: true, High: 5, Resolution: 0.1},
		Boot: plan.RestHold, OnFault: plan.RestOff, Shutdown: plan.RestOff}}
	o.Safety.Doses = []safety.DoseLimits{{Variable: 0, PerDose: 5, Hour: 20, Run: 100, MinInterval: 2 * time.Second}}
	o.Safety.HoldMax = time.Minute
	return o
}

func (d *dosing) learnt() (x []float64) {
	for _, o := range d.policy.seen {
		x = append(x, o.X[0])
	}
	return x
}

func TestDoseIsGivenOnceAStep(t *testing.T) {
	d := newDosing(t, 2, 2, 0, 3.17)
	d.policy.proposals = append(d.policy.proposals, policy.Proposal{Step: 5, ControlSet: 1, X: []float64{math.NaN()}, Work: 1})
	d.opt.ControlSets = append(d.opt.ControlSets, plan.ControlSet{})
	d.opt.Stop = plan.Stop{Steps: 5}
	d.pump.answer = func(_ context.Context, amount float64) (float64, bool, error) {
		if s := d.deps.Control.State().Doses["feed"]; !s.Open || math.Abs(s.Total-d.pump.total()-amount) > 1e-9 {
			t.Errorf("given %v while the disk says %+v", amount, s)
		}
		return math.NaN(), true, nil
	}
	if _, err := d.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := []float64{2, 2, 3.1}; !nearAll(d.pump.given, want) {
		t.Errorf("given %v, want %v", d.pump.given, want)
	}
	if want := []float64{2, 2, 0, 3.1, 0}; !nearAll(d.learnt(), want) {
		t.Errorf("learnt %v, want %v", d.learnt(), want)
	}
	slices.Sort(d.pump.names)
	if len(slices.Compact(d.pump.names)) != 3 || !strings.HasPrefix(d.pump.names[0], "run-") {
		t.Errorf("names %q", d.pump.names)
	}
	s := d.deps.Control.State().Doses["feed"]
	if s.Open || math.Abs(s.Total-7.1) > 1e-9 || d.pump.released == 0 {
		t.Errorf("kept %+v, stopped %d times", s, d.pump.released)
	}
}

func nearAll(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

// TestDoseIsOnRecord: each dose has its intent and its outcome in the journal, with what
// the device says that it gave, and the model learns that.
func TestDoseIsOnRecord(t *testing.T) {
	d := newDosing(t, 2, 4)
	d.pump.answer = func(_ context.Context, amount float64) (float64, bool, error) { return amount / 4, true, nil }
	path := ""
	d.deps.Journal, path = book(t, &d.opt)
	if _, err := Run(context.Background(), d.opt, d.deps); err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.5, 1}; !nearAll(d.learnt(), want) {
		t.Errorf("learnt %v, want %v", d.learnt(), want)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var doses []journal.ActionRecord
	for a, err := range r.AllActions() {
		if err != nil {
			t.Fatal(err)
		}
		if a.Kind == "dose" {
			doses = append(doses, a)
		}
	}
	if len(doses) != 2 || doses[1].Values["feed"] != 4 || len(doses[1].Resolutions) != 1 ||
		doses[1].Resolutions[0].State != journal.Confirmed || doses[1].Resolutions[0].Readback["feed"] != 1 {
		t.Errorf("on record: %+v", doses)
	}
	// What was asked counts, not what the device made of it.
	if s := d.deps.Control.State().Doses["feed"]; s.Total != 6 {
		t.Errorf("booked %v", s.Total)
	}
}

// TestDoseThatIsRefusedCostsAStep: what was certainly not given is taken off the books,
// the step has no data, and nothing is given in its place.
func TestDoseThatIsRefusedCostsAStep(t *testing.T) {
	for _, refusal := range []error{fmt.Errorf("%w: the bottle is empty", drivers.ErrRefused), fmt.Errorf("%w: %w", drivers.ErrNotSent, drivers.ErrUnavailable)} {
		d := newDosing(t, 2, 3, 4)
		asked := 0
		d.pump.answer = func(context.Context, float64) (float64, bool, error) {
			if asked++; asked == 2 {
				return 0, false, refusal
			}
			return math.NaN(), true, nil
		}
		if _, err := d.run(t, context.Background()); err != nil {
			t.Fatal(err)
		}
		if !nearAll(d.pump.given, []float64{2, 4}) || asked != 3 || d.outcomes[1].Valid || !strings.Contains(d.outcomes[1].Problem, "was not given") {
			t.Errorf("%v: given %v of %d, %+v", refusal, d.pump.given, asked, d.outcomes[1])
		}
		if s := d.deps.Control.State().Doses["feed"]; math.Abs(s.Total-6) > 1e-9 || s.Open {
			t.Errorf("%v: kept %+v", refusal, s)
		}
	}
}

// TestUnknownDoseHoldsTheRun: it counts, the run is held and, with nobody to look, ends;
// the next run is refused until a reset, after which a new dose is given, not that one.
func TestUnknownDoseHoldsTheRun(t *testing.T) {
	for _, took := range []bool{true, false} {
		d := newDosing(t, 2, 3, 4)
		d.pump.answer = func(_ context.Context, amount float64) (float64, bool, error) {
			if amount == 3 {
				return 0, took, fmt.Errorf("%w: no answer", drivers.ErrUnavailable)
			}
			return math.NaN(), true, nil
		}
		_, err := d.run(t, context.Background())
		if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "unknown-dose of feed") {
			t.Fatalf("error %v", err)
		}
		want := []float64{2}
		if took {
			want = []float64{2, 3}
		}
		if s := d.deps.Control.State().Doses["feed"]; !nearAll(d.pump.given, want) || s.Total != 5 || !s.Unknown {
			t.Errorf("given %v, kept %+v", d.pump.given, s)
		}
		if o := d.outcomes[1]; o.Valid || !strings.Contains(o.Problem, "it is unknown whether a dose of 3 mL was given") {
			t.Errorf("outcome %+v", o)
		}
		if d.told("feed: it is unknown whether a dose of 3 mL was given; it counts as delivered: look at the instrument") != 1 {
			t.Errorf("nobody is told: %+v", d.events)
		}
		again := newDosing(t, 1)
		again.deps.Control.Close()
		d.deps.Control.Close()
		c := again.control(t, d.path)
		if _, err := again.run(t, context.Background()); !errors.Is(err, guard.ErrLatched) {
			t.Fatalf("started again: %v", err)
		}
		if err := c.Write(guard.Reset(c.State())); err != nil {
			t.Fatal(err)
		}
		if _, err := again.run(t, context.Background()); err != nil || !nearAll(again.pump.given, []float64{1}) {
			t.Errorf("after the reset: %v, given %v", err, again.pump.given)
		}
		if s := c.State().Doses["feed"]; s.Total != 6 {
			t.Errorf("kept %+v", s)
		}
	}
}

func TestDoseOverItsBudgetHolds(t *testing.T) {
	d := newDosing(t, 5, 5, 5, 4, 3, 1)
	_, err := d.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "budget of feed") || d.pump.total() != 19 {
		t.Errorf("19 of 20 mL in an hour, then 3: %v, given %v", err, d.pump.given)
	}
	if o := d.outcomes[4]; !strings.Contains(o.Problem, "no budget has room for it") {
		t.Errorf("outcome %+v", o)
	}
}

// TestKindsOfChannelsMustFit: a setpoint is never written to a pump, whose every write
// adds, nor a dose to what may be written again.
func TestKindsOfChannelsMustFit(t *testing.T) {
	d := newDosing(t, 2)
	d.pump.plain = true
	if _, err := d.run(t, context.Background()); err == nil || !strings.Contains(err.Error(), "takes setpoints, not doses") {
		t.Errorf("a dose to a setpoint: %v", err)
	}
	d = newDosing(t, 2)
	d.opt.Variables[0] = variable("feed")
	d.opt.Variables[0].Unit = "mL"
	d.opt.Safety.Doses = nil
	if _, err := d.run(t, context.Background()); err == nil || !strings.Contains(err.Error(), `write kind = "dose"`) || len(d.pump.given) != 0 {
		t.Errorf("a setpoint to a pump: %v, given %v", err, d.pump.given)
	}
	d = newDosing(t, 2)
	d.pump.fixed = true
	if _, err := d.run(t, context.Background()); err != nil || d.pump.released != 0 {
		t.Errorf("a pump that cannot be stopped: %v, stopped %d times", err, d.pump.released)
	}
}

// TestStopCutsARunningDose: a stop does not wait for a dose of ten minutes to end: the
// device is told to stop at once, and the dose counts in full.
func TestStopCutsARunningDose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pump{clock: worker.RealClock{}}
		o := doseOptions(plan.Live)
		path := filepath.Join(t.TempDir(), "pump.control")
		c, err := controlstate.Open(path, disk.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		panel := control.NewPanel("test")
		began := time.Now()
		stoppedAfter := time.Duration(0)
		p.answer = func(ctx context.Context, amount float64) (float64, bool, error) {
			go func() {
				time.Sleep(time.Minute)
				stoppedAfter = time.Since(began)
				panel.AskStop()
			}()
			select {
			case <-ctx.Done():
				return 0, true, ctx.Err()
			case <-time.After(10 * time.Minute):
				return math.NaN(), true, nil
			}
		}
		deps := Deps{Policy: &script{proposals: proposeAll(2, 3)}, Devices: []Device{{Name: "pump", Device: p}}, Panel: panel, Control: c, Run: "run"}
		deps.Journal, _ = book(t, &o)
		_, err = Run(t.Context(), o, deps)
		if !errors.Is(err, ErrSafety) || !nearAll(p.given, []float64{2}) || p.released == 0 {
			t.Errorf("%v: given %v, stopped %d times", err, p.given, p.released)
		}
		if took := time.Since(began) - stoppedAfter; stoppedAfter == 0 || took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if s := c.State().Doses["feed"]; s.Total != 2 || !s.Unknown {
			t.Errorf("kept %+v", s)
		}
	})
}

// TestInterruptLetsADoseEnd: an interrupt in the middle of a dose waits for what is soon over, so that it is known what was
// given; a longer dose is stopped, and counts in full.
func TestInterruptLetsADoseEnd(t *testing.T) {
	for takes, known := range map[time.Duration]bool{3 * time.Second: true, 10 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			p := &pump{clock: worker.RealClock{}}
			o := doseOptions(plan.Live)
			c, err := controlstate.Open(filepath.Join(t.TempDir(), "pump.control"), disk.Holder{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			run, interrupt := context.WithCancel(t.Context())
			interrupted := time.Now()
			p.answer = func(ctx context.Context, amount float64) (float64, bool, error) {
				interrupted = time.Now()
				interrupt()
				select {
				case <-ctx.Done():
					return 0, true, ctx.Err()
				case <-time.After(takes):
					return math.NaN(), true, nil
				}
			}
			deps := Deps{Policy: &script{proposals: proposeAll(2, 3)}, Devices: []Device{{Name: "pump", Device: p}}, Control: c, Run: "run"}
			deps.Journal, _ = book(t, &o)
			_, err = Run(run, o, deps)
			s := c.State()
			if dose := s.Doses["feed"]; !errors.Is(err, context.Canceled) || p.released == 0 || dose.Total != 2 || dose.Unknown == known || (guard.Latched(s) == nil) != known {
				t.Errorf("a dose of %v: %v, stopped %d times, kept %+v: %v", takes, err, p.released, dose, guard.Latched(s))
			}
			if took := time.Since(interrupted); took > 10*time.Second {
				t.Errorf("a dose of %v: the end took %v", takes, took)
			}
		})
	}
}

// TestInterruptBeforeADose: a run that is interrupted on the way to a dose, its first or a later one, ends with no more on
// the books than the pump has, so that the next one may start; whatever is to become of the pump.
func TestInterruptBeforeADose(t *testing.T) {
	for nth := range 2 {
		for _, shutdown := range []plan.RestState{plan.RestOff, plan.RestHold} {
			for _, point := range []string{"control-changed", "control-durable", "dose-granted", "dose-intended"} {
				interruptBefore(t, point, nth, shutdown)
			}
		}
	}
}

// interruptBefore interrupts a run at a point of the dose after n others.
func interruptBefore(t *testing.T, point string, n int, shutdown plan.RestState) {
	t.Helper()
	d := newDosing(t, 1, 2, 3)
	d.opt.Variables[0].Shutdown = shutdown
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	came := 0
	d.deps.Failpoint = func(name string) {
		if name == point && len(d.policy.seen) == n {
			came++
			cancel()
		}
	}
	if _, err := d.run(t, ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnsafe) {
		t.Errorf("%s: %v", point, err)
	}
	s := d.deps.Control.State()
	if dose := s.Doses["feed"]; came == 0 || dose.Open || dose.Total != d.pump.total() || guard.Latched(s) != nil {
		t.Errorf("%s after %d doses, %v at the end: came %d times, %v given, kept %+v: %v", point, n, shutdown, came, d.pump.given, dose, guard.Latched(s))
	}
	if given := len(d.pump.given); given > n && point != "dose-intended" {
		t.Errorf("%s: %d doses given", point, given)
	}
}

// TestCrashAtEveryPointOfADose ends the process at every point between the charge of a
// dose and its outcome, in each of the first doses, resets, and goes on. The pump counts
// by itself: no name comes twice, and what the books say is never less than it has been
// given, nor more than that and one dose for each crash.
func TestCrashAtEveryPointOfADose(t *testing.T) {
	type crash struct{}
	for _, point := range []string{"control-changed", "control-durable", "dose-granted", "dose-intended", "before-dose", "after-dose", "dose-settled"} {
		for nth := 1; nth <= testsize.Of(3, 6); nth++ {
			d := newDosing(t, 1, 2, 3)
			left := nth
			d.deps.Failpoint = func(name string) {
				if name == point {
					if left--; left == 0 {
						panic(crash{})
					}
				}
			}
			crashed := func() (is bool) {
				defer func() { _, is = recover().(crash) }()
				if _, err := d.run(t, context.Background()); err != nil {
					t.Fatal(err)
				}
				return false
			}()
			if point == "dose-intended" && nth <= 3 && !crashed {
				t.Errorf("%s %d never came", point, nth)
			}
			d.deps.Control.Close()
			again := newDosing(t, 4)
			again.deps.Control.Close()
			again.deps.Devices[0].Device, again.deps.Run = d.pump, "run2"
			d.pump.clock = again.clock
			c := again.control(t, d.path)
			refused := guard.Latched(c.State())
			if err := c.Write(guard.Reset(c.State())); err != nil {
				t.Fatal(err)
			}
			given := d.pump.total()
			if booked := c.State().Doses["feed"].Total; booked < given-1e-9 || refused == nil && booked > given+1e-9 || booked > given+3+1e-9 {
				t.Errorf("%s %d: given %v, booked %v (%v)", point, nth, d.pump.given, booked, refused)
			}
			if _, err := again.run(t, context.Background()); err != nil {
				t.Fatal(err)
			}
			names := slices.Clone(d.pump.names)
			slices.Sort(names)
			if len(slices.Compact(names)) != len(d.pump.given) || math.Abs(d.pump.total()-given-4) > 1e-9 {
				t.Errorf("%s %d: given %v as %q", point, nth, d.pump.given, d.pump.names)
			}
			c.Close()
		}
	}
}
