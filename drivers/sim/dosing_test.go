package sim

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// dosingOptions is a reservoir with two dosed concentrations in a room whose
// temperature nobody controls.
func dosingOptions() Options {
	return Options{
		Kind: "dosing", Noise: 0, Seed: 11,
		Variables: []Variable{
			{Name: "ec", Unit: "mS/cm", Low: 0.4, High: 3, Start: 1, Safe: math.NaN(), Device: "doser", Channel: "ec", Actuated: true, OnRelease: "hold"},
			{Name: "ph", Unit: "pH", Low: 5, High: 7.5, Start: 7, Safe: math.NaN(), Device: "doser", Channel: "ph", Actuated: true, OnRelease: "hold"},
			{Name: "room", Unit: "degC", Low: 16, High: 28, Start: math.NaN(), Safe: math.NaN(), Device: "room", Channel: "t", Random: Distribution{Normal, 21, 2}},
		},
		Sensors: []Sensor{
			{Name: "growth", Unit: "g/d", Device: "scale", Channel: "growth", Low: -5, High: 30, Objective: true},
			{Name: "level", Unit: "L", Device: "doser", Channel: "level", Low: 0, High: 25},
			{Name: "dosed", Unit: "mL", Device: "doser", Channel: "dosed", Low: 0, High: 1e6},
		},
	}
}

// reads reads channels of a device once.
func (b *bench) reads(device string, channels ...string) map[string]float64 {
	b.t.Helper()
	d := b.Device(device)
	if _, err := d.Open(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	r, err := d.Read(context.Background(), channels)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Values
}

// sets writes to the doser.
func (b *bench) sets(values map[string]float64) {
	b.t.Helper()
	d := b.Device("doser").(*actuatorView)
	if _, err := d.Open(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: values}); err != nil {
		b.t.Fatal(err)
	}
}

// within checks a reading; the probes' noise is 1e-4 of their range, the pumps' step and
// a minute's rest of mixing come to less than the tolerance.
func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestDosingReachesUpwards(t *testing.T) {
	b := newBench(t, dosingOptions())
	b.sets(map[string]float64{"ec": 2, "ph": 6})
	now := b.reads("doser", "ec")
	within(t, "EC right after the dose, not yet mixed", now["ec"], 1, 0.01)
	b.clock.move(tankMixing)
	// 1 - 1/e of the way.
	within(t, "EC after one time constant", b.reads("doser", "ec")["ec"], 2-1/math.E, 0.03)
	b.clock.move(10 * tankMixing)
	got := b.reads("doser", "ec", "ph", "dosed")
	within(t, "EC", got["ec"], 2*20/20.18-0.01, 0.005) // diluted by 180 mL of doses, 1 mL left in the hose; half a step
	within(t, "pH", got["ph"], 6, 0.03)
	// 20 mS/cm L of salt at 0.2 per mL; 80 mmol of acid, for 20 L of 4 mmol/(L pH).
	within(t, "what the pumps counted", got["dosed"], 100+80, 2*pumpStep)
}

// TestDosingCannotTakeBack: a lower EC is not reached, and the readback says so; far
// below, half of the water is replaced.
func TestDosingCannotTakeBack(t *testing.T) {
	b := newBench(t, dosingOptions())
	b.sets(map[string]float64{"ec": 0.8})
	b.clock.move(10 * tankMixing)
	within(t, "EC below what there is", b.reads("doser", "ec")["ec"], 1, 0.01)
	b.sets(map[string]float64{"ec": 0.4})
	b.clock.move(10 * tankMixing)
	within(t, "EC after draining half of 1.0 and filling up with 0.4", b.reads("doser", "ec")["ec"], 0.7, 0.01)
}

// TestDosingGoesOn: evaporation, uptake and refills, against steps of a minute by hand.
func TestDosingGoesOn(t *testing.T) {
	b := newBench(t, dosingOptions())
	const minutes = 5 * 24 * 60
	volume, salt, base := tankFull, 1*tankFull, 0.0
	for range minutes {
		volume -= tankEvaporation / (24 * 60)
		salt *= 1 - tankUptake/(24*60)
		base += tankDrift / (24 * 60)
		if volume <= tankLow {
			salt += tapEC * (tankFull - volume)
			base += (tapPH - 7) * tankBuffer * (tankFull - volume)
			volume = tankFull
		}
	}
	b.clock.move(minutes * time.Minute)
	got := b.reads("doser", "ec", "ph", "level")
	within(t, "level", got["level"], volume, 0.01)
	within(t, "EC", got["ec"], salt/volume, 2e-3) // noise of the probe 2.6e-4, Euler's steps 1e-4
	within(t, "pH", got["ph"], 7+base/(tankBuffer*volume), 2e-3)
	// Looking changes nothing, to the last bit.
	often := newBench(t, dosingOptions())
	for range minutes / 10 {
		often.clock.move(10 * time.Minute)
		often.reads("doser", "ec")
	}
	if other := often.reads("doser", "ec", "ph", "level"); other["ec"] != got["ec"] || other["ph"] != got["ph"] || other["level"] != got["level"] {
		t.Errorf("who looks often sees %v, who looks once %v", other, got)
	}
}

func TestDosingPumps(t *testing.T) {
	k := newTank(1, 7)
	k.doseEC(1+(0.4*pumpStep)*saltStrength/k.volume, false)
	if k.dosed != 0 {
		t.Errorf("less than a step was dosed: %v mL", k.dosed)
	}
	k.doseEC(1+3*saltStrength/k.volume, false)
	within(t, "salt of 3 mL out of an empty hose", k.salt, 20+(3-pumpDead)*saltStrength, 1e-9)
	within(t, "what the pump counted", k.dosed, 3, 1e-9)
	before := k.salt
	k.doseEC(k.ec()+2*saltStrength/k.volume+1e-9, false)
	within(t, "salt of 2 mL out of a full hose", k.salt-before, 2*saltStrength, 1e-9)
	before = k.salt
	k.doseEC(100, false)
	within(t, "the most of one write", k.salt-before, pumpMost*saltStrength, 1e-9)
	before = k.salt
	k.doseEC(100, true)
	if k.salt != before || k.dosed < 2*pumpMost {
		t.Errorf("a dead pump delivered %v and counted %v mL", k.salt-before, k.dosed)
	}
	ph := k.ph()
	k.dosePH(ph-1, false, true)
	if k.ph() <= ph {
		t.Errorf("with the bottles swapped pH went from %v to %v", ph, k.ph())
	}
}

// TestDosingOptimum: the search finds the best conditions, and growth there is the peak.
func TestDosingOptimum(t *testing.T) {
	o := dosingOptions()
	o.Variables = o.Variables[:2]
	b := newBench(t, o)
	known, err := b.Truth(t.Context(), optimum.Query{})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "best EC", known.Optimum.X[0], 1.9, 1e-3)
	within(t, "best pH", known.Optimum.X[1], 5.9, 1e-3)
	within(t, "growth", known.Value, dosingPeak, 1e-6)
	b.sets(map[string]float64{"ec": 1.9, "ph": 5.9})
	b.clock.move(DefaultDosingBatch + time.Second)
	within(t, "growth of a batch there", b.reads("scale", "growth")["growth"], dosingPeak, 0.05)
}

func TestDosingRefuses(t *testing.T) {
	for want, change := range map[string]func(*Options){
		`variable "ec" is in "mg/L"`:           func(o *Options) { o.Variables[0].Unit = "mg/L" },
		`variable "ph" is in "mS/cm"`:          func(o *Options) { o.Variables[1].Unit = "mS/cm" },
		"has no heater":                        func(o *Options) { o.Variables[2].Actuated = true },
		`variable "ec" is not set by anything`: func(o *Options) { o.Variables[0].Actuated = false },
	} {
		o := dosingOptions()
		change(&o)
		if _, err := New(o, drivers.Env{Clock: newClock()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
