package sim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/scripts/testsize"
)

// act is one thing that is done to a plant at a time.
type act struct {
	at time.Duration
	do func(b bench, views map[string]drivers.Device) string
}

// script invents a run: writes, releases, steps, faults and reads at random times.
func script(o Options, faults []string, r *rand.Rand) []act {
	length := 200 * time.Second
	if o.Kind == "growth" {
		length = time.Hour
	}
	var acts []act
	devices := map[string][]string{}
	for _, v := range o.Variables {
		devices[v.Device] = append(devices[v.Device], v.Channel)
	}
	for _, s := range o.Sensors {
		devices[s.Device] = append(devices[s.Device], s.Channel)
	}
	for n := range 400 {
		a := act{at: time.Duration(r.Int64N(int64(length)))}
		if r.IntN(2) == 0 {
			a.at = a.at.Round(100 * time.Millisecond) // where pulses and batches meet calls
		}
		v := o.Variables[r.IntN(len(o.Variables))]
		x := v.Low + r.Float64()*(v.High-v.Low)
		fault := faults[r.IntN(len(faults))]
		switch k := r.IntN(12); {
		case k < 2:
			a.do = func(_ bench, views map[string]drivers.Device) string {
				return said(views[v.Device].(drivers.Actuator).Write(context.Background(),
					drivers.Setpoints{Values: map[string]float64{v.Channel: x}}))
			}
		case k == 2:
			a.do = func(_ bench, views map[string]drivers.Device) string {
				return said(views[v.Device].(drivers.Actuator).Write(context.Background(),
					drivers.Setpoints{Release: []string{v.Channel}}))
			}
		case k == 3:
			a.do = func(b bench, _ map[string]drivers.Device) string { b.BeginStep(n); return "" }
		case k == 4 && n%4 == 0:
			a.do = func(b bench, _ map[string]drivers.Device) string { return fmt.Sprint(b.Inject(fault)) }
		default:
			a.do = func(_ bench, views map[string]drivers.Device) string {
				text := ""
				for _, name := range []string{"stage", "meter", "doser", "camera", "bench"} {
					if channels := devices[name]; channels != nil {
						text += said(views[name].Read(context.Background(), channels))
					}
				}
				return text
			}
		}
		acts = append(acts, a)
	}
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return acts
}

// said writes an answer down, to the last bit.
func said(r drivers.Reading, err error) string {
	return fmt.Sprintf("%v %x %v\n", r.At.UnixNano(), r.Values, err)
}

// play runs a script. With a bystander, other views and Mean are called at random
// times in between.
func play(t *testing.T, o Options, acts []act, bystander *rand.Rand) []string {
	b := newBench(t, o)
	views, others := map[string]drivers.Device{}, map[string]drivers.Device{}
	for _, c := range b.layout.channels {
		if views[c.device] == nil {
			views[c.device], others[c.device] = b.device(c.device), b.device(c.device)
		}
	}
	var told []string
	now := time.Duration(0)
	for _, a := range acts {
		for bystander != nil && bystander.IntN(3) > 0 && a.at > now {
			d := time.Duration(bystander.Int64N(int64(a.at-now) + 1))
			b.clock.move(d)
			now += d
			c := b.layout.channels[bystander.IntN(len(b.layout.channels))]
			_, _ = others[c.device].Read(context.Background(), []string{c.name}) // its answer is of no interest
			b.Mean(make([]float64, len(o.Variables)))
		}
		b.clock.move(a.at - now)
		now = a.at
		told = append(told, fmt.Sprint(a.at, " ", a.do(b, views)))
	}
	return told
}

// TestCallPatternDoesNotMatter: what a view is told depends on the seed and on
// what was done when, not on who else looked in between, bit for bit.
func TestCallPatternDoesNotMatter(t *testing.T) {
	testsize.OneGoroutine(t)
	plants := map[string]func() Options{
		"laser": func() Options {
			o := laserOptions()
			o.Drift = 0.3
			o.Variables[1].OnRelease, o.Variables[1].Random = "release", Distribution{Normal, 0, 1}
			return o
		},
		"growth": growthOptions,
		"table":  func() Options { return tableOptions(t, "p3ht") },
	}
	faults := map[string][]string{
		"laser": {"dropout+3s", "stale:pointing+20s", "stuck:energy", "spike+1m", "lost:meter+2s", "slow:mx+30s", "wrong-sign:gr+1m", "stuck:pump", "dropout@300+2"},
		"growth": {"dropout+3m", "stale:ca+20s", "stuck:area+10m", "spike+10m", "lost:doser+2m", "slow:ca+30m", "wrong-sign:k+10m",
			"stuck:ph", "dropout@300+2"},
		"table": {"dropout+3s", "stale:D1+20s", "stuck:y+10s", "spike+1m", "lost+2s", "slow:D1+30s", "wrong-sign:D2+1m"},
	}
	for name, options := range plants {
		for seed := range uint64(testsize.Of(8, 25)) {
			o := options()
			o.Seed = seed
			acts := func() []act { return script(o, faults[name], rand.New(rand.NewPCG(seed, 1))) }
			alone := play(t, o, acts(), nil)
			if again := play(t, o, acts(), nil); !slices.Equal(alone, again) {
				t.Errorf("%s, seed %d: the same calls gave another answer", name, seed)
			}
			watched := play(t, o, acts(), rand.New(rand.NewPCG(seed, 2)))
			for i := range alone {
				if alone[i] != watched[i] {
					t.Errorf("%s, seed %d: with a bystander call %d says\n%s instead of\n%s", name, seed, i, watched[i], alone[i])
					break
				}
			}
			o.Seed = seed + 1000
			if other := play(t, o, acts(), nil); slices.Equal(alone, other) {
				t.Errorf("%s: seeds %d and %d give the same answers", name, seed, o.Seed)
			}
		}
	}
}

// TestClockBackwards: a clock that steps back stops the plant's time, no more.
func TestClockBackwards(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 2})
	b.clock.move(500 * time.Millisecond)
	b.read(stage, "mx")
	b.clock.move(-time.Hour)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-1) > 0.002 {
		t.Errorf("with the clock set back the mirror is at %v, want where it was, 1", got)
	}
}

// TestNoValueIsNeverNumber: through any script, no reading holds a value that is
// not finite.
func TestNoValueIsNeverNumber(t *testing.T) {
	o := growthOptions()
	b := newBench(t, o)
	doser, camera := b.device("doser"), b.device("camera")
	r := rand.New(rand.NewPCG(8, 8))
	for range 3000 {
		b.clock.move(time.Duration(r.Int64N(int64(time.Minute))))
		v := o.Variables[r.IntN(5)]
		low, high := v.limits()
		b.write(doser, map[string]float64{v.Channel: low + r.Float64()*(high-low)})
		for _, reading := range []drivers.Reading{b.read(doser, "ca", "b", "nh3", "k", "ph"), b.read(camera, "area")} {
			for name, x := range reading.Values {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%s is %v", name, x)
				}
			}
		}
	}
}
