package sim

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

func TestChannels(t *testing.T) {
	o := laserOptions()
	o.Variables[3].Safe = 60
	o.Variables[3].Min, o.Variables[3].Max = 0, 100
	b := newBench(t, o)
	stage, err := b.Device("stage").Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"mx", "my", "gr", "pump", "shutter"}
	if len(stage) != len(names) {
		t.Fatalf("channels %v", stage)
	}
	for i, c := range stage {
		if c.Name != names[i] {
			t.Errorf("channel %d is %q, want %q", i, c.Name, names[i])
		}
		if settable := i < 4; settable != (c.Access == drivers.ReadWrite) || settable != c.CanRelease {
			t.Errorf("channel %q: access %v, can release %v", c.Name, c.Access, c.CanRelease)
		}
	}
	if c := stage[0]; c.Unit != "mrad" || c.Min != -10 || c.Max != 10 || c.Safe != 0 {
		t.Errorf("mx is %+v, want limits two spans beyond [-2, 2] and the start as safe value", c)
	}
	if c := stage[3]; c.Min != 0 || c.Max != 100 || c.Safe != 60 {
		t.Errorf("pump is %+v", c)
	}
	if c := stage[4]; !math.IsNaN(c.Min) || !math.IsNaN(c.Safe) {
		t.Errorf("shutter is %+v, want unknown limits", c)
	}
	if _, ok := b.Device("meter").(drivers.Actuator); ok {
		t.Error("the meter can be set")
	}
	if channels, err := b.Device("nobody").Open(context.Background()); err != nil || len(channels) != 0 {
		t.Errorf("a device without channels opens with %v, %v", channels, err)
	}
}

func TestNotActuated(t *testing.T) {
	o := laserOptions()
	o.Variables[0].Actuated = false
	o.Variables[0].Random = Distribution{Kind: Uniform}
	b := newBench(t, o)
	stage := b.device("stage")
	_, err := stage.(drivers.Actuator).Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"mx": 1}})
	if !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("setting a variable without an actuator: %v", err)
	}
	first := b.read(stage, "mx").Values["mx"]
	b.clock.move(time.Second)
	if second := b.read(stage, "mx").Values["mx"]; math.Abs(first-second) < 0.01 {
		t.Errorf("a variable without an actuator stays at %v", first)
	}
}

// TestWriteIsWholeOrNothing: a write with one wrong part changes nothing.
func TestWriteIsWholeOrNothing(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	write := stage.(drivers.Actuator).Write
	for words, s := range map[string]drivers.Setpoints{
		`channel "mx" was asked for 11 mrad; it takes -10 to 10`: {Values: map[string]float64{"my": 1, "mx": 11}},
		`was asked for NaN`:                       {Values: map[string]float64{"my": 1, "mx": math.NaN()}},
		`was asked for -Inf`:                      {Values: map[string]float64{"my": 1, "mx": math.Inf(-1)}},
		`device "stage" has no channel "mz"`:      {Values: map[string]float64{"my": 1, "mz": 0}},
		`channel "shutter" of device "stage" can`: {Values: map[string]float64{"my": 1, "shutter": 1}},
		`is both set and released`:                {Values: map[string]float64{"my": 1}, Release: []string{"my"}},
		`has no channel "mq"`:                     {Values: map[string]float64{"my": 1}, Release: []string{"mq"}},
	} {
		_, err := write(context.Background(), s)
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want a refusal with %q", err, words)
		}
	}
	b.clock.move(10 * time.Second)
	if got := b.read(stage, "my").Values["my"]; math.Abs(got) > 0.002 {
		t.Errorf("a refused write moved a mirror to %v", got)
	}
}

func TestReadRefusesUnknown(t *testing.T) {
	b := newBench(t, laserOptions())
	meter := b.device("meter")
	if _, err := meter.Read(context.Background(), []string{"energy", "mx"}); !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("reading another device's channel: %v", err)
	}
}

func TestHalt(t *testing.T) {
	o := laserOptions()
	o.Variables[3].Safe = 60
	b := newBench(t, o)
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 1.5, "pump": 90})
	b.clock.move(10 * time.Second)
	for range 2 {
		if err := stage.(drivers.Actuator).Halt(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.clock.move(10 * time.Second)
		if v := b.read(stage, "mx", "pump").Values; math.Abs(v["mx"]) > 0.002 || math.Abs(v["pump"]-60) > 0.2 {
			t.Errorf("halted at %v, want 0 and 60", v)
		}
	}
}

func TestOpenAndClose(t *testing.T) {
	b := newBench(t, laserOptions())
	d := b.Device("stage")
	ctx := context.Background()
	if _, err := d.Read(ctx, []string{"mx"}); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("read before open: %v", err)
	}
	if _, err := d.Open(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.(drivers.Actuator).Halt(ctx); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("halt after close: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := d.Open(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("open with an ended context: %v", err)
	}
	if _, err := d.Open(ctx); err != nil {
		t.Errorf("open again: %v", err)
	}
}

// TestHeldKnobStays: letting go of a variable that holds leaves it where it is,
// even in the middle of a move.
func TestHeldKnobStays(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 2})
	b.clock.move(500 * time.Millisecond)
	b.write(stage, nil, "mx")
	b.clock.move(time.Minute)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-1) > 0.002 {
		t.Errorf("let go of half-way, the mirror is at %v, want 1", got)
	}
}

// TestConcurrentViews drives all devices at once; run with -race.
func TestConcurrentViews(t *testing.T) {
	b := newBench(t, laserOptions())
	stage, meter, other := b.device("stage"), b.device("meter"), b.device("stage")
	ctx := context.Background()
	var all sync.WaitGroup
	work := func(f func(i int) error) {
		all.Go(func() {
			for i := range 500 {
				if err := f(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work(func(int) error { b.clock.move(37 * time.Millisecond); return nil })
	work(func(i int) error {
		_, err := stage.(drivers.Actuator).Write(ctx, drivers.Setpoints{Values: map[string]float64{"mx": float64(i%3) - 1}})
		return err
	})
	work(func(int) error { _, err := meter.Read(ctx, []string{"energy", "pointing"}); return err })
	work(func(int) error { _, err := other.Read(ctx, []string{"mx", "my", "shutter"}); return err })
	work(func(i int) error { b.BeginStep(i); return nil })
	work(func(i int) error {
		if i%100 == 0 {
			return b.Inject("slow:mx+1s")
		}
		return nil
	})
	all.Wait()
}
