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
	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// Plant is one simulated plant. Its devices (Device) share it; all of its methods
// may be called from any goroutine.
type Plant struct {
	clock drivers.Clock
	epoch time.Time
	log   *slog.Logger
	source
	opt      Options
	model    model
	table    *recorded // the model, if it is a table
	laser    *laser    // the model, if it is a laser
	dosing   *dosing   // the model, if it is a dosing plant, and its reservoir
	tank     *tank
	renews   bool // the reservoir, after every batch
	layout   layout
	released []dist // what a released variable does, on the unit cube

	mu      sync.Mutex
	now     time.Duration // up to when the state is advanced
	knobs   []knob
	cadence cadence
	shot    shot
	faults  faults
	// values and u are what settings has returned last, signals what the model has said of the last shot.
	values, u, signals []float64
	// lastDose is the name and the amount of the last dose of each variable.
	lastDose map[int]namedDose
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
	p.layout = wire(&p.opt)
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
		p.model, p.cadence.batch = g, DefaultGrowthBatch
		p.layout.note("variables stand, in file order, for %s; their ranges for the model's own", growthNames())
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
	if p.cadence.batch > 0 && o.Batch > 0 {
		p.cadence.batch = o.Batch
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
	logarithmic, idle := []string{}, []string{}
	p.laser.ratio = make([]float64, len(p.opt.Variables))
	for i, v := range p.opt.Variables {
		switch {
		case i >= laserActs:
			idle = append(idle, v.Name)
		case v.Log:
			p.laser.ratio[i] = v.High / v.Low
			logarithmic = append(logarithmic, v.Name)
		}
	}
	if len(idle) > 0 {
		p.layout.note("the first %d knobs act, in file order; these do not: %s", laserActs, strings.Join(idle, ", "))
	}
	if len(logarithmic) > 0 {
		p.layout.note("it goes with the logarithm of %s, whose scale is \"log\"", strings.Join(logarithmic, ", "))
	}
}

// scaleLaser takes over the ranges of the sensors of energy and pointing.
func (p *Plant) scaleLaser() {
	for _, s := range p.layout.outputs {
		if s.from != optimum.Signal {
			continue
		}
		r := [2]*interval{&p.laser.energy, &p.laser.pointing}[s.index]
		if s.Low < s.High && !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) {
			*r = interval{s.Low, s.High}
			continue
		}
		p.layout.note("sensor %q has no range; it is taken as [%v, %v]", s.Name, r.low, r.high)
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
			p.layout.note("variable %q is the table's %s", v.Name, in.Name)
		} else {
			p.layout.note("variable %q stands for the table's %s: its range [%v, %v] for [%v, %v] %s",
				v.Name, in.Name, v.Low, v.High, r.low, r.high, in.Unit)
		}
	}
	single := 0
	for _, values := range t.Replicates {
		if len(values) == 1 {
			single++
		}
	}
	p.layout.note("table %q: %d settings, %d of them measured once and therefore without noise", t.Name, len(t.Rows), single)
	p.table = newRecorded(t, p.opt.Variables, p.opt.Noise, p.source)
	p.model, p.cadence.batch = p.table, DefaultTableBatch
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
			if v.Log { // a share of the range would be many times its low values
				k.ownLag = 0
			} else if i < 2 && !v.stepped() {
				k.play = laserPlay * (v.High - v.Low)
			}
		case "growth":
			k.ownLag = growthMixing(p.cadence.batch).Seconds()
		}
		k.low, k.high = v.limits()
		k.redirect(0, value, value, v.High-v.Low)
	}
}

// Notes says in words what the plant made of the options: which sensor it took
// for what, which values it invented.
func (p *Plant) Notes() []string { return slices.Clone(p.layout.notes) }

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
