package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// wantError asserts that options are refused with these words.
func wantError(t *testing.T, o Options, words string) {
	t.Helper()
	_, err := New(o, drivers.Env{Clock: newClock()})
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want one with %q", err, words)
	}
}

func TestNewRefuses(t *testing.T) {
	for words, spoil := range map[string]func(o *Options){
		`no plant of kind "maser"`:                                 func(o *Options) { o.Kind = "maser" },
		`noise is -1`:                                              func(o *Options) { o.Noise = -1 },
		`noise is NaN`:                                             func(o *Options) { o.Noise = math.NaN() },
		`drift is +Inf`:                                            func(o *Options) { o.Drift = math.Inf(1) },
		`batch is -1s`:                                             func(o *Options) { o.Batch = -time.Second },
		`takes no data, got "agnp"`:                                func(o *Options) { o.Data = "agnp" },
		`has 0 variables; it takes one to 200`:                     func(o *Options) { o.Variables = nil },
		`has no sensor`:                                            func(o *Options) { o.Sensors = nil },
		`its range [2, -2] is empty or endless`:                    func(o *Options) { o.Variables[0].Low, o.Variables[0].High = 2, -2 },
		`it starts at 11, outside its device limits`:               func(o *Options) { o.Variables[1].Start = 11 },
		`its safe value 99 is outside`:                             func(o *Options) { o.Variables[1].Safe = 99 },
		`its device limits [-1, 3] do not hold its range`:          func(o *Options) { o.Variables[0].Min, o.Variables[0].Max = -1, 3 },
		`its resolution is -1`:                                     func(o *Options) { o.Variables[0].Resolution = -1 },
		`on_release is "drop"`:                                     func(o *Options) { o.Variables[0].OnRelease = "drop" },
		`normal distribution has mean 0 and sd 0`:                  func(o *Options) { o.Variables[0].Random.Kind = Normal },
		`its levels [1 0] do not grow`:                             func(o *Options) { o.Variables[0].Levels = []float64{1, 0} },
		`its levels [0 9] leave its range`:                         func(o *Options) { o.Variables[0].Levels = []float64{0, 9} },
		`variables "mirror_x" and "mirror_y" are both channel`:     func(o *Options) { o.Variables[1].Channel = "mx" },
		`two variables are called "mirror_x"`:                      func(o *Options) { o.Variables[1].Name = "mirror_x" },
		`sensors "pulse_energy" and "pointing" are both channel`:   func(o *Options) { o.Sensors[1].Channel = "energy" },
		`two sensors are called "pulse_energy"`:                    func(o *Options) { o.Sensors[1].Name = "pulse_energy" },
		`its interlock [1, 0] is upside down`:                      func(o *Options) { o.Sensors[2].Interlock = &[2]float64{1, 0} },
		`no fault "gremlin" in "gremlin@4"; take one of`:           func(o *Options) { o.Faults = []string{"gremlin@4"} },
		`no channel, sensor or variable is called "colour"; there`: func(o *Options) { o.Faults = []string{"stuck:colour@4"} },
	} {
		o := laserOptions()
		spoil(&o)
		wantError(t, o, words)
	}
	if _, err := New(laserOptions(), drivers.Env{}); err == nil {
		t.Error("a plant without a clock was made")
	}
}

// TestNewTellsAll: every problem comes in one error.
func TestNewTellsAll(t *testing.T) {
	o := laserOptions()
	o.Noise, o.Variables[0].Resolution, o.Sensors[1].Low = -1, -1, 9
	_, err := New(o, drivers.Env{Clock: newClock()})
	for _, words := range []string{"noise", "resolution", "upside down"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v lacks %q", err, words)
		}
	}
}

func TestNotes(t *testing.T) {
	b := newBench(t, laserOptions())
	notes := strings.Join(b.Notes(), "\n")
	for _, words := range []string{`"pointing" is the laser's pointing`, `"shutter_open" is constant at 0.75 1, inside its interlock`} {
		if !strings.Contains(notes, words) {
			t.Errorf("notes %q lack %q", notes, words)
		}
	}
	stage := b.device("stage")
	if got := b.read(stage, "shutter").Values["shutter"]; got != 0.75 {
		t.Errorf("the shutter says %v, want 0.75", got)
	}
}

func TestMiddle(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][3]float64{{0, 4, 2}, {-inf, inf, 0}, {3, inf, 3}, {-inf, 3, 3}, {5, 4, 5}} {
		if got := middle(c[0], c[1]); got != c[2] {
			t.Errorf("middle(%v, %v) is %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// TestFormulaObjective: where no sensor is the objective by name, the first one
// that is not a variable's readback is; several sensors of a formula all come with
// the shots.
func TestFormulaObjective(t *testing.T) {
	o := laserOptions()
	o.Sensors = append([]Sensor{{Name: "grating_seen", Unit: "mm", Device: "stage", Channel: "gr", Low: 10, High: 14}}, o.Sensors...)
	o.Sensors[1].Objective = false
	b := newBench(t, o)
	if i := b.layout.objective; b.layout.outputs[i].Name != "pulse_energy" {
		t.Errorf("the objective is %q", b.layout.outputs[i].Name)
	}
	stage := b.device("stage")
	if got := b.read(stage, "gr").Values["gr"]; math.Abs(got-12) > 0.01 {
		t.Errorf("the grating's own sensor says %v, want 12", got)
	}
}

// TestPointingAsObjective: the pointing is recognised wherever it stands, and can be
// the objective itself.
func TestPointingAsObjective(t *testing.T) {
	o := laserOptions()
	o.Sensors[0], o.Sensors[1] = o.Sensors[1], o.Sensors[0]
	o.Sensors[0].Objective = true // both: a formula's sensors
	b := newBench(t, o)
	if e := b.layout.outputs[1]; e.from != optimum.Signal || e.index != 0 {
		t.Errorf("the energy is taken for %+v", e)
	}
	o.Sensors[1].Objective = false
	b = newBench(t, o)
	x := []float64{1, -1, 12, 70}
	// 0.3 of the range of 10 mrad times the difference of the mirrors, half a range.
	if got := b.Mean(x); math.Abs(got-1.5) > 1e-12 || math.Abs(b.NoiseSD(x)-0.2) > 1e-12 {
		t.Errorf("pointing %v ± %v, want 1.5 ± 0.2", got, b.NoiseSD(x))
	}
	known := b.truth(optimum.Query{})
	if math.Abs(known.Value-3) > 1e-6 || math.Abs(known.Range-6) > 1e-6 {
		t.Errorf("the greatest pointing is %v of a range of %v, want 3 of 6", known.Value, known.Range)
	}
	o.Sensors = []Sensor{{Name: "seen", Unit: "mrad", Device: "stage", Channel: "mx", Objective: true}}
	wantError(t, o, "every sensor is on the channel of a variable")
}

// TestLaserWithoutRange: a sensor without a range gets one, and a note says so.
func TestLaserWithoutRange(t *testing.T) {
	o := laserOptions()
	o.Sensors[0].Low, o.Sensors[0].High = math.Inf(-1), math.Inf(1)
	b := newBench(t, o)
	if got := b.truth(optimum.Query{}).Value; math.Abs(got-8) > 1e-6 {
		t.Errorf("the peak is %v, want 8", got)
	}
	if notes := strings.Join(b.Notes(), "\n"); !strings.Contains(notes, `"pulse_energy" has no range; it is taken as [0, 20]`) {
		t.Errorf("notes %q", notes)
	}
}

func TestMomentsOfWrongLength(t *testing.T) {
	b := newBench(t, laserOptions())
	if !math.IsNaN(b.Mean([]float64{1})) || !math.IsNaN(b.NoiseSD(nil)) {
		t.Error("a setting of the wrong length has a mean")
	}
}
