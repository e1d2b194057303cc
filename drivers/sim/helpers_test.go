package sim

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Mean returns the expectation of a shot of the objective at x, one value per
// variable in its unit, at the present state of the plant. NaN for a wrong
// number of values.
func (p *Plant) Mean(x []float64) float64 {
	mean, _ := p.moments(x)
	return mean
}

// NoiseSD returns the standard deviation of a shot of the objective at x; see
// Mean.
func (p *Plant) NoiseSD(x []float64) float64 {
	_, variance := p.moments(x)
	return math.Sqrt(variance)
}

// moments are the expectation of a shot at x and its variance.
func (p *Plant) moments(x []float64) (mean, variance float64) {
	if len(x) != len(p.opt.Variables) {
		return math.NaN(), math.NaN()
	}
	p.mu.Lock()
	p.advance()
	hours := p.now.Hours()
	p.mu.Unlock()
	return p.model.moments(p.layout.goal(), p.cube(x), hours)
}

// stepClock is a clock that stands still until it is moved.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *stepClock { return &stepClock{now: time.Unix(1_700_000_000, 0)} }

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// laserOptions is a laser with four knobs, two mirrors among them, and the
// sensors of an energy meter and a shutter.
func laserOptions() Options {
	knob := func(name, unit, channel string, low, high, start, resolution float64) Variable {
		return Variable{Name: name, Unit: unit, Low: low, High: high, Start: start, Safe: math.NaN(), Device: "stage",
			Channel: channel, Resolution: resolution, Actuated: true, OnRelease: "hold"}
	}
	return Options{
		Kind: "laser", Noise: 1, Seed: 7,
		Variables: []Variable{
			knob("mirror_x", "mrad", "mx", -2, 2, 0, 0.001),
			knob("mirror_y", "mrad", "my", -2, 2, 0, 0.001),
			knob("grating", "mm", "gr", 10, 14, 12, 0.005),
			knob("pump_current", "A", "pump", 60, 95, 70, 0.1),
		},
		Sensors: []Sensor{
			{Name: "pulse_energy", Unit: "mJ", Device: "meter", Channel: "energy", Low: 0, High: 20, Objective: true},
			{Name: "pointing", Unit: "mrad", Device: "meter", Channel: "pointing", Low: -5, High: 5},
			{Name: "shutter_open", Unit: "1", Device: "stage", Channel: "shutter", Low: 0, High: 1, Interlock: &[2]float64{0.5, 1}},
		},
	}
}

// growthOptions is a greenhouse with five nutrients that can be released.
func growthOptions() Options {
	nutrient := func(name, unit, channel string, low, high float64, random Distribution) Variable {
		return Variable{Name: name, Unit: unit, Low: low, High: high, Start: math.NaN(), Safe: low, Device: "doser",
			Channel: channel, Actuated: true, OnRelease: "release", Random: random}
	}
	return Options{
		Kind: "growth", Noise: 1, Seed: 3,
		Variables: []Variable{
			nutrient("calcium", "mg/L", "ca", 0, 200, Distribution{Normal, 100, 40}),
			nutrient("boron", "mg/L", "b", 0, 3, Distribution{Kind: Uniform}),
			nutrient("ammonia", "mg/L", "nh3", 0, 40, Distribution{Normal, 20, 8}),
			nutrient("potassium", "mg/L", "k", 0, 240, Distribution{Normal, 120, 48}),
			nutrient("ph", "pH", "ph", 4.5, 7.5, Distribution{Kind: Uniform}),
		},
		Sensors: []Sensor{{Name: "leaf_area", Unit: "mm2", Device: "camera", Channel: "area", Low: 0, High: 2000, Objective: true}},
	}
}

// nutrientSets are the control sets of Tay et al. for the five nutrients.
func nutrientSets() [][]bool {
	return [][]bool{
		{true, true, false, false, false},
		{false, false, true, true, false},
		{false, false, false, true, true},
		{true, true, true, false, false},
		{false, true, true, true, false},
		{false, false, true, true, true},
		{true, true, true, true, true},
	}
}

// tableOptions is a recorded table whose variables have the inputs' own ranges.
func tableOptions(t *testing.T, name string) Options {
	t.Helper()
	table, err := LoadTable(name)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Kind: "table", Data: name, Noise: 1, Seed: 5,
		Sensors: []Sensor{{Name: "y", Unit: table.Output.Unit, Device: "bench", Channel: "y",
			Low: math.Inf(-1), High: math.Inf(1), Objective: true}}}
	for i, r := range table.ranges() {
		o.Variables = append(o.Variables, Variable{Name: table.Inputs[i].Name, Unit: table.Inputs[i].Unit, Low: r.low, High: r.high,
			Start: math.NaN(), Safe: math.NaN(), Device: "bench", Channel: table.Inputs[i].Name, Actuated: true, OnRelease: "hold"})
	}
	return o
}

// bench is a plant with its clock and its opened devices.
type bench struct {
	*Plant
	clock *stepClock
	t     *testing.T
}

func newBench(t *testing.T, o Options) bench {
	t.Helper()
	clock := newClock()
	p, err := New(o, drivers.Env{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return bench{p, clock, t}
}

// device opens a device of the plant.
func (b bench) device(name string) drivers.Device {
	b.t.Helper()
	d := b.Device(name)
	if _, err := d.Open(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b bench) read(d drivers.Device, channels ...string) drivers.Reading {
	b.t.Helper()
	r, err := d.Read(context.Background(), channels)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b bench) write(d drivers.Device, values map[string]float64, release ...string) drivers.Reading {
	b.t.Helper()
	r, err := d.(drivers.Actuator).Write(context.Background(), drivers.Setpoints{Values: values, Release: release})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// cube returns the coordinates of x on the unit cube.
func (p *Plant) cube(x []float64) []float64 {
	u := make([]float64, len(x))
	for i, v := range p.opt.Variables {
		u[i] = (x[i] - v.Low) / (v.High - v.Low)
	}
	return u
}
