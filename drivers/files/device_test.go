package files

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

// hands is a clock that the test moves.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

// wall is the real clock.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// rig is a device in a folder of its own, with the experiment in the test's hands.
type rig struct {
	t     *testing.T
	dev   *Device
	clock *hands
	log   *strings.Builder
	dir   string
}

func number(v float64) *float64 { return &v }

func parameters() (Options, []ChannelOptions) {
	o := Default()
	o.Parameters = []string{"current", "detuning"}
	return o, []ChannelOptions{
		{Channel: "detuning", Unit: "MHz", Start: number(0)},
		{Channel: "current", Unit: "A", Min: number(0), Max: number(2), Start: number(0.2)},
	}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, clock: &hands{time.Unix(1e9, 0)}, log: &strings.Builder{}, dir: t.TempDir()}
	o, channels := parameters()
	o.Base = r.dir
	var err error
	if r.dev, err = New(o, channels, drivers.Env{Clock: r.clock, Log: slog.New(slog.NewTextHandler(r.log, nil))}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) open() *rig {
	r.t.Helper()
	if _, err := r.dev.Open(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.dev.Close() })
	return r
}

func (r *rig) write(current, detuning float64) {
	r.t.Helper()
	if _, err := r.dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"current": current, "detuning": detuning}}); err != nil {
		r.t.Fatal(err)
	}
}

// read asks for the cost; NaN where there is none.
func (r *rig) read() (float64, error) {
	reading, err := r.dev.Read(context.Background(), []string{"cost"})
	if v, ok := reading.Values["cost"]; ok {
		return v, err
	}
	return math.NaN(), err
}

// silent checks that a read has nothing new.
func (r *rig) silent() {
	r.t.Helper()
	if v, err := r.read(); err != nil || !math.IsNaN(v) {
		r.t.Fatalf("got %v, %v where nothing is new", v, err)
	}
}

// take is the experiment's first half: it gives the input and deletes it.
func (r *rig) take() string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "exp_input.txt"))
	if err != nil {
		r.t.Fatal(err)
	}
	os.Remove(filepath.Join(r.dir, "exp_input.txt"))
	return string(text)
}

func (r *rig) waiting() bool {
	_, err := os.Stat(filepath.Join(r.dir, "exp_input.txt"))
	return err == nil
}

// answer is its second half.
func (r *rig) answer(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "exp_output.txt"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// settleOutput lets the output file become old enough to be read.
func (r *rig) settleOutput() {
	r.silent()
	r.clock.now = r.clock.now.Add(time.Second)
}

// begun is a device that was written to, so that there is a cost to read.
type begun struct{ *Device }

func (b begun) Open(ctx context.Context) ([]drivers.Channel, error) {
	channels, err := b.Device.Open(ctx)
	if err == nil {
		_, err = b.Device.Write(ctx, drivers.Setpoints{Values: map[string]float64{"current": 1, "detuning": 0}})
	}
	return channels, err
}

func TestConforms(t *testing.T) {
	o, channels := parameters()
	o.Base, o.Quiet = t.TempDir(), time.Millisecond
	experiment(t, o)
	driverstest.Conform(t, func() drivers.Device {
		d, err := New(o, channels, drivers.Env{Clock: wall{}})
		if err != nil {
			t.Fatal(err)
		}
		return begun{d}
	})
}

// experiment answers in the folder until the test ends.
func experiment(t *testing.T, o Options) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- Serve(ctx, Plant{Options: o, Device: &bench{}, Period: time.Millisecond, Env: drivers.Env{Clock: wall{}, Log: slog.New(slog.DiscardHandler)}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the experiment ended: %v", err)
		}
	})
}

// bench is the device behind the experiment: cost is (current-1)^2 + detuning^2/100,
// a new value with every other read, and a negative detuning breaks it.
type bench struct {
	current, detuning float64
	reads             int
}

func (b *bench) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{{Name: "cost"}, {Name: "uncer"}}, nil
}

func (b *bench) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	if channels[0] != "cost" {
		return drivers.Reading{Values: map[string]float64{"current": b.current, "detuning": b.detuning}}, nil
	}
	if b.detuning < 0 {
		return drivers.Reading{}, errors.New("the bench is broken")
	}
	if b.reads++; b.reads%2 == 1 {
		return drivers.Reading{}, nil
	}
	return drivers.Reading{Values: map[string]float64{"cost": (b.current-1)*(b.current-1) + b.detuning*b.detuning/100, "uncer": 0.5}}, nil
}

func (b *bench) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	b.current, b.detuning = s.Values["current"], s.Values["detuning"]
	return drivers.Reading{}, nil
}

func (b *bench) Halt(context.Context) error { return nil }
func (b *bench) Close() error               { return nil }

// TestServe: both sides in real time, with a run that is bad.
func TestServe(t *testing.T) {
	o, channels := parameters()
	o.Base, o.Quiet = t.TempDir(), time.Millisecond
	experiment(t, o)
	d, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct{ current, detuning, cost float64 }{{2, 10, 2}, {1, -1, math.NaN()}, {0.5, 0, 0.25}} {
		if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"current": c.current, "detuning": c.detuning}}); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ; {
			r, err := d.Read(context.Background(), []string{"cost"})
			if math.IsNaN(c.cost) && errors.Is(err, drivers.ErrRefused) {
				break
			}
			if err != nil || time.Now().After(end) {
				t.Fatalf("%+v: %v, %v", c, r.Values, err)
			}
			if v, there := r.Values["cost"]; there {
				if v != c.cost {
					t.Errorf("%+v: got %v", c, v)
				}
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestExchange(t *testing.T) {
	r := newRig(t).open()
	r.silent() // before the first write there is nothing to run with
	if r.waiting() {
		t.Fatal("an experiment was begun without parameters")
	}
	r.write(1, -20.5)
	if r.waiting() {
		t.Fatal("a write began a run: other devices may not have settled")
	}
	r.silent()
	if got, want := r.take(), "params = array([1., -20.5])\n"; got != want {
		t.Fatalf("input %q, want %q", got, want)
	}
	r.silent()
	r.answer("cost = 0.25\nuncer=0.01\n bad = False\n")
	r.settleOutput()
	reading, err := r.dev.Read(context.Background(), []string{"cost", "uncer", "detuning"})
	if err != nil || reading.Values["cost"] != 0.25 || reading.Values["uncer"] != 0.01 || reading.Values["detuning"] != -20.5 {
		t.Fatalf("%v, %v", reading.Values, err)
	}
	if r.waiting() {
		t.Fatal("the read that took the cost began the next run")
	}
	r.silent() // the next shot
	if !strings.Contains(r.take(), "-20.5") {
		t.Fatal("the next shot has other parameters")
	}
}

// TestHalfWrittenOutput: "0.5" of "0.53" is not read.
func TestHalfWrittenOutput(t *testing.T) {
	r := newRig(t).open()
	r.write(1, 0)
	r.silent()
	r.take()
	for _, text := range []string{"", "cost = 0.5", "cost = 0.53"} {
		r.answer(text)
		r.silent()
		r.clock.now = r.clock.now.Add(r.dev.options.Quiet / 2)
	}
	r.silent()
	r.clock.now = r.clock.now.Add(r.dev.options.Quiet)
	if v, err := r.read(); err != nil || v != 0.53 {
		t.Errorf("%v, %v", v, err)
	}
}

// TestLateAnswerIsDropped: the cost of other parameters is never scored.
func TestLateAnswerIsDropped(t *testing.T) {
	r := newRig(t).open()
	r.write(1, 0)
	r.silent()
	r.take()
	r.write(2, 0) // the step gave up
	r.answer("cost = 7")
	r.settleOutput()
	r.silent()
	if !strings.Contains(r.log.String(), "its cost is dropped") {
		t.Errorf("the log is silent: %s", r.log)
	}
	r.silent()
	if got := r.take(); !strings.Contains(got, "[2., 0.]") {
		t.Errorf("the next run has %s", got)
	}
}

func TestBadRuns(t *testing.T) {
	for text, want := range map[string]string{
		"bad = true":              "the experiment says bad = true",
		"cost = nan":              `line 1: cost: "nan" is not a decimal number`,
		"uncer = 1\ncost = 1e999": `line 2: cost: "1e999" is not finite`,
		"cost = 0x10":             "is not a decimal number",
		"cost = 1,5":              `"1,5" is not a decimal number`,
		"cost = 1\ncost = 2":      `line 2: "cost" is given twice`,
		"cost = 1\nuncer = -1":    "is below 0",
		"cost = 1\nbad = maybe":   "must be true or false",
		"1.5":                     "is no assignment",
		"uncer = 1":               `neither a "cost" nor "bad = true"`,
		"cost = 1" + strings.Repeat("0", maxFile): "longer than 65536 bytes", // read cut off, it would be another number
	} {
		r := newRig(t).open()
		r.write(1, 0)
		r.silent()
		r.take()
		r.answer(text)
		r.settleOutput()
		v, err := r.read()
		if !errors.Is(err, drivers.ErrRefused) || !errors.Is(err, drivers.ErrNoValue) || !math.IsNaN(v) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, v, err, want)
		}
		// Nothing runs before the next step asks; which it may do without a write, where
		// its parameters are the same.
		if r.waiting() {
			t.Errorf("%q: a bad run was repeated", text)
		}
		r.silent()
		if !r.waiting() {
			t.Errorf("%q: the next step did not run", text)
		}
		r.dev.Close()
	}
}

// TestLeftovers: files of an earlier run are neither answers nor lost.
func TestLeftovers(t *testing.T) {
	r := newRig(t)
	r.answer("cost = 99")
	r.open()
	r.write(1, 0)
	r.silent()
	r.settleOutput()
	r.silent()
	old, err := os.ReadFile(filepath.Join(r.dir, "exp_output.txt.old"))
	if err != nil || string(old) != "cost = 99" {
		t.Errorf("what was left: %q, %v", old, err)
	}
	if !strings.Contains(r.log.String(), "moved aside") {
		t.Errorf("the log is silent: %s", r.log)
	}
}

func TestTwoHosts(t *testing.T) {
	r := newRig(t).open()
	o, channels := parameters()
	o.Base = r.dir
	second, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Open(context.Background()); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("a second host: %v", err)
	}
	if err := r.dev.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Open(context.Background()); err != nil {
		t.Errorf("after the first has gone: %v", err)
	}
	second.Close()
}

func TestHalt(t *testing.T) {
	// An input that was not taken is withdrawn.
	r := newRig(t).open()
	r.write(1, 0)
	r.silent()
	if err := r.dev.Halt(context.Background()); err != nil || r.waiting() {
		t.Errorf("Halt: %v, input still there: %v", err, r.waiting())
	}
	r.silent()
	if r.waiting() {
		t.Error("a run began after Halt")
	}
	// A run that goes on cannot be confirmed, and is told.
	r.write(1, 0)
	r.silent()
	r.take()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := r.dev.Halt(ctx); err == nil || !strings.Contains(err.Error(), "a run of the experiment goes on") {
		t.Errorf("Halt in a run: %v", err)
	}
	// Its end is waited for, and its cost is of no step.
	r.answer("cost = 5")
	r.dev.options.Quiet = 0
	if err := r.dev.Halt(context.Background()); err != nil {
		t.Errorf("Halt at the end of a run: %v", err)
	}
	r.silent()
}

func TestUnwritableFolder(t *testing.T) {
	r := newRig(t).open()
	r.write(1, 0)
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.read(); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("a folder that is gone: %v", err)
	}
	gone := newRig(t)
	gone.dev.options.Folder = "nowhere"
	if _, err := gone.dev.Open(context.Background()); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a folder that there is not: %v", err)
	}
}
