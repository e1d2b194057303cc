package sim

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

func TestParseFault(t *testing.T) {
	for text, want := range map[string]Fault{
		"dropout@40":            {Kind: "dropout", Step: 40, Steps: 1},
		"stuck:energy@120+3":    {Kind: "stuck", Where: "energy", Step: 120, Steps: 3},
		"lost:meter@1m30s+2m0s": {Kind: "lost", Where: "meter", After: 90 * time.Second, For: 2 * time.Minute},
		"wrong-sign":            {Kind: "wrong-sign", Steps: 1},
		"slow:grating+1h30m0s":  {Kind: "slow", Where: "grating", For: 90 * time.Minute},
	} {
		got, err := parseFault(text)
		if err != nil || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%q is written back as %q", text, got.String())
		}
	}
	for text, words := range map[string]string{
		"":              `no fault ""`,
		"Dropout@4":     `no fault "Dropout"`,
		"dropout@0":     `begins at "0": steps are counted from 1`,
		"dropout@x":     `begins at "x": that is neither a number of steps nor a time`,
		"dropout@-2s":   `a time must be more than 0`,
		"dropout@4+":    `lasts "": that is neither`,
		"dropout:@4":    `names no channel after the colon`,
		"dropout@4@5":   `begins at "4@5"`,
		"dropout@NaN":   `begins at "NaN"`,
		"stuck:a@4+0":   `lasts "0": steps are counted from 1`,
		"stuck:a@4+1+1": `lasts "1+1"`,
	} {
		if f, err := parseFault(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is read as %+v, %v; want an error with %q", text, f, err, words)
		}
	}
}

func TestInjectRefuses(t *testing.T) {
	b := newBench(t, laserOptions())
	b.BeginStep(5)
	b.clock.move(time.Minute)
	for text, words := range map[string]string{
		"slow:energy":     "needs a variable that can be set; there are mx, my, gr, pump",
		"stuck:nothing":   `no channel, sensor or variable is called "nothing"; there are mx, my, gr, pump, energy, pointing, shutter`,
		"lost:nothing":    `no channel`,
		"dropout@5":       "step 5 has begun already",
		"dropout@10s":     "has been on for 1m0s already",
		"stuck:energy@1x": "neither a number of steps nor a time",
	} {
		if err := b.Inject(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, want an error with %q", text, err, words)
		}
	}
	o := laserOptions()
	o.Sensors[2].Channel, o.Sensors[2].Device = "energy", "stage"
	wantError(t, withFault(o, "stale:energy@3"), `2 devices have a channel "energy"; name the sensor or the variable`)
	if _, err := New(withFault(o, "stale:shutter_open@3"), drivers.Env{Clock: newClock()}); err != nil {
		t.Errorf("a sensor's name does not settle it: %v", err)
	}
	if err := b.Inject("lost:energy"); err != nil {
		t.Errorf("a channel stands for its device: %v", err)
	}
	if _, err := b.Device("meter").Open(context.Background()); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("open over a lost link: %v", err)
	}
}

func withFault(o Options, fault string) Options {
	o.Faults = append([]string(nil), fault)
	return o
}

// pulses reads energy and pointing at each of the next n pulses and returns the
// energies, NaN where there was none.
func (b bench) pulses(d drivers.Device, n int) (energies []float64) {
	b.t.Helper()
	for range n {
		b.clock.move(laserPulse)
		v, ok := b.read(d, "energy").Values["energy"]
		if !ok {
			v = math.NaN()
		}
		energies = append(energies, v)
	}
	return energies
}

// count returns how many of values satisfy ok.
func count(values []float64, ok func(float64) bool) (n int) {
	for _, v := range values {
		if ok(v) {
			n++
		}
	}
	return n
}

func TestDropoutByStep(t *testing.T) {
	b := newBench(t, withFault(laserOptions(), "dropout@3+2"))
	meter := b.device("meter")
	for step := 1; step <= 6; step++ {
		b.BeginStep(step)
		dark := count(b.pulses(meter, 50), math.IsNaN)
		if want := step == 3 || step == 4; want != (dark == 50) || !want && dark > 5 {
			t.Errorf("step %d: %d of 50 pulses without light", step, dark)
		}
	}
}

// TestFaultEndsByItself: a fault of one step that holds the loop still ends all
// the same.
func TestFaultEndsByItself(t *testing.T) {
	b := newBench(t, withFault(laserOptions(), "dropout@1"))
	meter := b.device("meter")
	b.BeginStep(1)
	if dark := count(b.pulses(meter, 600), math.IsNaN); dark < 595 {
		t.Errorf("in the first minute %d of 600 pulses are dark", dark)
	}
	if dark := count(b.pulses(meter, 100), math.IsNaN); dark > 5 {
		t.Errorf("after it %d of 100 pulses are dark", dark)
	}
}

func TestFaultByTime(t *testing.T) {
	b := newBench(t, withFault(laserOptions(), "dropout@5s+2s"))
	meter := b.device("meter")
	b.clock.move(50 * time.Millisecond) // read between pulses: the fault begins after pulse 50
	energies := b.pulses(meter, 100)
	for i, e := range energies {
		if pulse := i + 1; math.IsNaN(e) != (pulse > 50 && pulse <= 70) && b.laser.hasLight(uint64(pulse)) {
			t.Errorf("pulse %d: %v", pulse, e)
		}
	}
}

func TestStaleIsOneChannel(t *testing.T) {
	b := newBench(t, laserOptions())
	meter, stage := b.device("meter"), b.device("stage")
	if err := b.Inject("stale:pointing+10s"); err != nil {
		t.Fatal(err)
	}
	if err := b.Inject("stale:mirror_x+10s"); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		b.clock.move(laserPulse)
		v := b.read(meter, "energy", "pointing").Values
		_, energy := v["energy"]
		_, pointing := v["pointing"]
		if !b.laser.hasLight(uint64(i + 1)) {
			continue
		}
		// The fault ends with the instant of pulse 100, which it still holds back.
		if !energy || pointing != (i >= 100) {
			t.Fatalf("pulse %d: energy %v, pointing %v", i+1, energy, pointing)
		}
		s := b.read(stage, "mx", "my").Values
		if _, mx := s["mx"]; mx != (i >= 99) || len(s) < 1 {
			t.Fatalf("pulse %d: the stage says %v", i+1, s)
		}
	}
}

func TestStuckRepeats(t *testing.T) {
	b := newBench(t, laserOptions())
	meter := b.device("meter")
	before := b.pulses(meter, 30)
	last := before[29]
	if math.IsNaN(last) {
		t.Fatal("choose another seed: the pulse is dark")
	}
	if err := b.Inject("stuck+20s"); err != nil {
		t.Fatal(err)
	}
	during := b.pulses(meter, 200)
	if same := count(during, func(e float64) bool { return e == last }); same < 190 {
		t.Errorf("%d of 200 values repeat the last one, %v", same, last)
	}
	if same := count(b.pulses(meter, 50), func(e float64) bool { return e == last }); same != 0 {
		t.Errorf("%d values repeat it after the fault", same)
	}
}

// TestStuckFromTheStart: a sensor that is stuck before its first value still says
// something finite, always the same.
func TestStuckFromTheStart(t *testing.T) {
	b := newBench(t, withFault(laserOptions(), "stuck:energy"))
	energies := b.pulses(b.device("meter"), 50)
	first := energies[0]
	if same := count(energies, func(e float64) bool { return e == first || math.IsNaN(e) }); same != 50 || !(first > 0) {
		t.Errorf("%d of 50 values are %v", same, first)
	}
}

func TestStuckMotor(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 2})
	b.clock.move(500 * time.Millisecond)
	if err := b.Inject("stuck:mx+10s"); err != nil {
		t.Fatal(err)
	}
	held := b.read(stage, "mx").Values["mx"]
	b.write(stage, map[string]float64{"mx": -2})
	b.clock.move(9 * time.Second)
	if got := b.read(stage, "mx").Values["mx"]; got != held || math.Abs(held-1) > 0.002 {
		t.Errorf("the motor stuck at %v reads %v", held, got)
	}
	b.clock.move(10 * time.Second)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got+2) > 0.002 {
		t.Errorf("free again, the motor is at %v, want its setpoint, -2", got)
	}
}

func TestSpikes(t *testing.T) {
	o := laserOptions()
	o.Noise = 0
	b := newBench(t, o)
	meter := b.device("meter")
	normal := b.Mean([]float64{0, 0, 12, 70})
	if err := b.Inject("spike+10s"); err != nil {
		t.Fatal(err)
	}
	energies := b.pulses(meter, 100)
	spiked := count(energies, func(e float64) bool { return math.Abs(e-(normal+10)) < 1e-9 })
	sound := count(energies, func(e float64) bool { return e == normal || math.IsNaN(e) })
	if spiked < 18 || spiked > 20 || spiked+sound != 100 {
		t.Errorf("%d spikes half the range away and %d sound values among 100", spiked, sound)
	}
	// On a channel without shots, and where there is room on the low side only.
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 2})
	b.clock.move(10 * time.Second)
	if err := b.Inject("spike:mx+10s"); err != nil {
		t.Fatal(err)
	}
	low, high := 0, 0
	for range 50 {
		b.clock.move(spikeWindow)
		if v := b.read(stage, "mx").Values["mx"]; math.Abs(v) < 0.002 {
			low++
		} else if math.Abs(v-2) < 0.002 {
			high++
		}
	}
	if low != 10 || high != 40 {
		t.Errorf("%d spikes and %d sound readbacks, want 10 and 40", low, high)
	}
}

func TestLostLink(t *testing.T) {
	b := newBench(t, withFault(laserOptions(), "lost:stage@2"))
	stage, meter := b.device("stage"), b.device("meter")
	ctx := context.Background()
	b.BeginStep(1)
	b.write(stage, map[string]float64{"mx": 1})
	b.BeginStep(2)
	if _, err := stage.Read(ctx, []string{"mx"}); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("read over a lost link: %v", err)
	}
	if _, err := stage.(drivers.Actuator).Write(ctx, drivers.Setpoints{Values: map[string]float64{"mx": 2}}); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("write over a lost link: %v", err)
	}
	if err := stage.(drivers.Actuator).Halt(ctx); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("halt over a lost link: %v", err)
	}
	if _, err := meter.Read(ctx, []string{"energy"}); err != nil {
		t.Errorf("the other device: %v", err)
	}
	b.clock.move(10 * time.Second)
	b.BeginStep(3)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-1) > 0.002 {
		t.Errorf("with the link back the mirror is at %v, want what was last heard, 1", got)
	}
	if err := b.Inject("lost"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []drivers.Device{stage, meter} {
		if _, err := d.Read(ctx, nil); !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("with all links lost: %v", err)
		}
	}
}

func TestSlowMotor(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	if err := b.Inject("slow:mirror_x+10m"); err != nil {
		t.Fatal(err)
	}
	b.write(stage, map[string]float64{"mx": 2, "my": 2})
	b.clock.move(1200 * time.Millisecond)
	v := b.read(stage, "mx", "my").Values
	// A tenth of 2 mrad/s for 1.2 s, and a sound one.
	if math.Abs(v["mx"]-0.24) > 0.002 || math.Abs(v["my"]-2) > 0.004 {
		t.Errorf("slow at %v, sound at %v; want 0.24 and 2", v["mx"], v["my"])
	}
	b.clock.move(time.Minute)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-2) > 0.002 {
		t.Errorf("in the end the slow motor is at %v, want 2", got)
	}
}

func TestWrongSign(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 0.5})
	b.clock.move(10 * time.Second)
	if err := b.Inject("wrong-sign:mx+1m"); err != nil {
		t.Fatal(err)
	}
	b.clock.move(time.Second)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-0.5) > 0.002 {
		t.Errorf("the fault itself moves the mirror to %v", got)
	}
	b.write(stage, map[string]float64{"mx": 1.5})
	b.clock.move(10 * time.Second)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got+0.5) > 0.002 {
		t.Errorf("told to go from 0.5 to 1.5 the mirror is at %v, want -0.5", got)
	}
	b.write(stage, nil, "mx") // a motor that is let go of does not run
	b.clock.move(10 * time.Second)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got+0.5) > 0.002 {
		t.Errorf("let go of, the mirror runs to %v", got)
	}
	b.write(stage, map[string]float64{"mx": 1.5})
	b.clock.move(time.Minute)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-1.5) > 0.002 {
		t.Errorf("mended, the mirror is at %v, want its setpoint 1.5", got)
	}
}

// TestGrowthFaults: with batches a dropout costs the values of its time.
func TestGrowthFaults(t *testing.T) {
	b := newBench(t, withFault(growthOptions(), "dropout@2"))
	camera := b.device("camera")
	for step := 1; step <= 4; step++ {
		b.BeginStep(step)
		b.clock.move(DefaultGrowthBatch)
		if _, got := b.read(camera, "area").Values["area"]; got != (step != 2) {
			t.Errorf("step %d: a value is %v", step, got)
		}
	}
}
