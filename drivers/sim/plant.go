package sim

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Plant is one simulated plant. Its devices (Device) share it; all of its methods
// may be called from any goroutine.
type Plant struct {
	clock drivers.Clock
	epoch time.Time
	log   *slog.Logger
	source
	opt    Options
	model  model
	table  *recorded // the model, if it is a table
	laser  *laser    // the model, if it is a laser
	dosing *dosing   // the model, if it is a dosing plant, and its reservoir
	tank   *tank
	renews bool // the reservoir, after every batch
	// outputs and channels do not change after New.
	outputs  []output
	channels []channel
	released []dist // what a released variable does, on the unit cube
	// objective is the output that is the objective.
	objective int
	notes     []string
	batch     time.Duration // 0: shots are pulses

	mu    sync.Mutex
	now   time.Duration // up to when the state is advanced
	step  int
	knobs []knob
	// base is the number of the shot before the batch that began at start.
	base  uint64
	start time.Duration
	// captured is the number of the last shot that has been looked at.
	captured uint64
	shot     shot
	// waiting faults begin with a step or at a time, running ones are at work.
	waiting []target
	running []*running
	// garbled counts the answers that were spoilt with garbage.
	garbled uint64
	// told is the name and the amount of the last dose of each variable.
	told map[int]namedDose
}

// shot is what the latest shot with a value left behind.
type shot struct {
	// number counts shots from 1; 0: there was none yet.
	number uint64
	at     time.Duration
	// settings holds every variable's value then, in its unit.
	settings []float64
	// values and present by output.
	values  []float64
	present []bool
	// tank is the reservoir then, if there is one.
	tank tank
}

// output is a sensor as the plant has it.
type output struct {
	Sensor
	// from says where its value comes from.
	from origin
	// index is the signal's or the variable's.
	index int
	// value is the constant's.
	value float64
	// event says that it has a value only when there was a shot.
	event bool
}

type origin uint8

const (
	fromSignal origin = iota
	fromVariable
	fromConstant
	fromTank
)

// channel is one channel of one device. Its variable or its output is -1 if it
// has none; a variable's channel may also be an output.
type channel struct {
	device, name, unit string
	variable, output   int
}

// New returns a plant that is switched on at the present time of env.Clock. An
// error joins one for each thing that is wrong with the options, or, where these
// are in order, with the faults.
func New(o Options, env drivers.Env) (*Plant, error) {
	if env.Clock == nil {
		return nil, errors.New("a simulated plant needs a clock")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	o.Variables, o.Sensors = slices.Clone(o.Variables), slices.Clone(o.Sensors)
	p := &Plant{clock: env.Clock, epoch: env.Clock.Now(), log: env.Log, source: source{o.Seed}, opt: o}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := p.build(); err != nil {
		return nil, err
	}
	p.boot()
	var problems []error
	for _, text := range o.Faults {
		problems = append(problems, p.schedule(text))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	p.switchFaults(0)
	return p, nil
}

// build chooses the model and wires channels and outputs.
func (p *Plant) build() error {
	p.wire()
	o := &p.opt
	if i := slices.IndexFunc(o.Variables, func(v Variable) bool { return v.Dose }); i >= 0 && o.Kind != "dosing" {
		return fmt.Errorf("variable %q is a dose, and plant %q has nothing to add it to; take plant \"dosing\"", o.Variables[i].Name, o.Kind)
	}
	switch o.Kind {
	case "laser":
		p.buildLaser()
	case "growth":
		if n := len(o.Variables); n != len(growthAxes) {
			return fmt.Errorf("%w (%s, in this order) and the file has %d variables: give five [[variable]] sections",
				errFiveVariables, growthNames(), n)
		}
		g, err := newGrowth(o.Noise, p.source)
		if err != nil {
			return err
		}
		p.model, p.batch = g, DefaultGrowthBatch
		p.note("variables stand, in file order, for %s; their ranges for the model's own", growthNames())
	case "dosing":
		if err := p.buildDosing(); err != nil {
			return err
		}
	case "table":
		if err := p.buildTable(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("no plant of kind %q; take one of laser, growth, dosing, table", o.Kind)
	}
	if p.batch > 0 && o.Batch > 0 {
		p.batch = o.Batch
	}
	for i := range o.Variables {
		p.released = append(p.released, o.Variables[i].released())
	}
	if err := p.assign(); err != nil {
		return err
	}
	if p.laser != nil {
		p.scaleLaser()
	}
	return nil
}

// buildLaser makes the laser. It scales its signals to the ranges of the sensors
// that show them.
func (p *Plant) buildLaser() {
	p.laser = &laser{source: p.source, dim: len(p.opt.Variables), noise: p.opt.Noise, drift: p.opt.Drift, saturation: p.opt.Saturation,
		energy: interval{0, 20}, pointing: interval{-5, 5}}
	p.model = p.laser
}

// scaleLaser takes over the ranges of the sensors of energy and pointing.
func (p *Plant) scaleLaser() {
	for _, s := range p.outputs {
		if s.from != fromSignal {
			continue
		}
		r := [2]*interval{&p.laser.energy, &p.laser.pointing}[s.index]
		if s.Low < s.High && !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) {
			*r = interval{s.Low, s.High}
			continue
		}
		p.note("sensor %q has no range; it is taken as [%v, %v]", s.Name, r.low, r.high)
	}
}

func (p *Plant) buildTable() error {
	t, err := LoadTable(p.opt.Data)
	if err != nil {
		return err
	}
	if n := len(p.opt.Variables); n != len(t.Inputs) {
		names := make([]string, len(t.Inputs))
		for i, in := range t.Inputs {
			names[i] = in.Name
		}
		return fmt.Errorf("table %q has %d inputs (%s, in this order) and the file has %d variables",
			t.Name, len(t.Inputs), strings.Join(names, ", "), n)
	}
	for i, r := range t.ranges() {
		v, in := p.opt.Variables[i], t.Inputs[i]
		if v.Low == r.low && v.High == r.high {
			p.note("variable %q is the table's %s", v.Name, in.Name)
		} else {
			p.note("variable %q stands for the table's %s: its range [%v, %v] for [%v, %v] %s",
				v.Name, in.Name, v.Low, v.High, r.low, r.high, in.Unit)
		}
	}
	single := 0
	for _, values := range t.Replicates {
		if len(values) == 1 {
			single++
		}
	}
	p.note("table %q: %d settings, %d of them measured once and therefore without noise", t.Name, len(t.Rows), single)
	p.table = newRecorded(t, p.opt.Variables, p.opt.Noise, p.source)
	p.model, p.batch = p.table, DefaultTableBatch
	return nil
}

// boot puts every knob where it is when the plant is switched on.
func (p *Plant) boot() {
	p.knobs = make([]knob, len(p.opt.Variables))
	for i := range p.knobs {
		v, k := &p.opt.Variables[i], &p.knobs[i]
		value, released := v.boot()
		k.setpoint, k.released = value, released
		k.ownSpeed = math.Inf(1)
		switch p.opt.Kind {
		case "laser":
			k.ownSpeed, k.ownLag = laserSpeed*(v.High-v.Low), laserLag.Seconds()
			if i < 2 && !v.stepped() {
				k.play = laserPlay * (v.High - v.Low)
			}
		case "growth":
			k.ownLag = growthMixing(p.batch).Seconds()
		}
		k.low, k.high = v.limits()
		k.redirect(0, value, value, v.High-v.Low)
	}
}

func (p *Plant) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// Notes says in words what the plant made of the options: which sensor it took
// for what, which values it invented.
func (p *Plant) Notes() []string { return slices.Clone(p.notes) }

// Candidates returns the settings that a table plant knows, in the variables'
// units, one value per variable; nil for a plant without a table.
func (p *Plant) Candidates() [][]float64 {
	if p.table == nil {
		return nil
	}
	rows := make([][]float64, len(p.table.values))
	for i, row := range p.table.values {
		rows[i] = slices.Clone(row)
	}
	return rows
}

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

func (p *Plant) moments(x []float64) (mean, variance float64) {
	if len(x) != len(p.opt.Variables) {
		return math.NaN(), math.NaN()
	}
	p.mu.Lock()
	p.advance()
	hours := p.now.Hours()
	p.mu.Unlock()
	return p.model.moments(p.goal(), p.cube(x), hours)
}

// goal returns the signal that is the objective.
func (p *Plant) goal() int { return p.outputs[p.objective].index }

// cube returns the coordinates of x on the unit cube.
func (p *Plant) cube(x []float64) []float64 {
	u := make([]float64, len(x))
	for i, v := range p.opt.Variables {
		u[i] = (x[i] - v.Low) / (v.High - v.Low)
	}
	return u
}
