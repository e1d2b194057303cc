// Package setup turns a configuration into the options of every package: the loop's, the
// policy's, the safety layer's, those of the simulated plant and of each device. What came of
// it is a Setup; nothing in it is open or running. Every problem of a file is reported at once,
// with its key: those of the schema, of the drivers, the policy and the plant.
//
// It also tells a policy of earlier runs (warm start), from their journals or tables.
package setup

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// failureLimit is how many failed steps in a row hold a run until the instrument is
// back, or end it where outages are not waited out. Not fewer: a source may come back
// within some steps. Not more: each step may wait for its timeouts, and nothing is
// learnt.
const failureLimit = 10

// Setup is a configuration turned into the options of every package. Nothing in
// it is open or running.
type Setup struct {
	Config  *configs.Config
	Options plan.Options
	// Spec is what the policy is made of; candidates are part of it.
	Spec policy.Spec
	// limits have the keys of the safety layer in a section of each variable and sensor.
	limits ownLimits
	// broker is where [mqtt] connects to.
	broker mqtt.Connection
	// Devices has one entry per [[device]], in file order.
	Devices []Device
	// sharedPlant is what plantOnce gave.
	sharedPlant func(drivers.Env) (*sim.Plant, error)
	// Plant describes the simulated plant; nil if the file has none.
	Plant *sim.Options
	// PlantNotes says in words what the plant made of its options.
	PlantNotes []string
	// WarmNotes say in words what was taken from earlier runs.
	WarmNotes []string
	// Doubts are what is legal in its safety and looks like a slip.
	Doubts []configs.Problem
}

// Load reads a configuration and wires it, and opens no device. The error is an *configs.Error
// with every problem of the file, the drivers' included, or an *Unasked where nothing is wrong with it but that
// it leaves keys to its devices.
func Load(path string, e *host.Env) (*Setup, error) {
	w := new(Setup)
	cfg, err := configs.Load(path, w.known())
	if cfg != nil && len(cfg.Asks) > 0 {
		return w.unasked(cfg, err, e)
	}
	return bounded(w.wire(cfg, err, e))
}

// LoadUnbounded is Load for who makes safe: slow requests are no reason not to. What a
// journal has recorded is not held to them either.
func LoadUnbounded(path string, e *host.Env) (*Setup, error) {
	w := new(Setup)
	cfg, err := configs.Load(path, w.known())
	return w.wire(cfg, err, e)
}

// Parse wires the text of a configuration, as if it stood in file. Slow requests are no
// reason not to: a journal has it, or a run went by it. Overrides stand in place of what it
// says.
func Parse(file string, text []byte, e *host.Env, overrides ...configs.Override) (*Setup, error) {
	w := new(Setup)
	cfg, err := configs.Parse(file, text, w.known(), overrides...)
	return w.wire(cfg, err, e)
}

// wire wires a configuration that was loaded with the error err.
func (w *Setup) wire(cfg *configs.Config, err error, e *host.Env) (*Setup, error) {
	if cfg == nil {
		return nil, err
	}
	w.Config = cfg
	var problems []configs.Problem
	if broken := (*configs.Error)(nil); errors.As(err, &broken) {
		problems = broken.Problems
	}
	add := func(more ...configs.Problem) { problems = append(problems, more...) }
	w.sharedPlant = w.plantOnce()
	for i := range cfg.Devices {
		d, more := w.wireDevice(&cfg.Devices[i], e)
		w.Devices = append(w.Devices, d)
		add(more...)
	}
	if err != nil {
		return nil, configs.NewError(problems...)
	}
	loop := optionsMaker{cfg: cfg, limits: w.limits, opt: &w.Options}
	add(loop.wireOptions()...)
	decides := policyMaker{cfg: cfg, opt: &w.Options, spec: &w.Spec}
	add(decides.wirePolicy()...)
	add(w.wirePlant()...)
	add(wireMQTT(cfg)...)
	if len(problems) == 0 {
		add(decides.tryFormulas()...)
	}
	if len(problems) == 0 {
		add(decides.tryPolicy()...)
	}
	if err := configs.NewError(problems...); err != nil {
		return nil, err
	}
	x := waits{cfg, w.Devices}
	w.Doubts = slices.Concat(cfg.Doubts(), x.leaseDoubts(), x.lastDoubts(), x.doorDoubts(), x.roundDoubts())
	return w, nil
}

// plantOnce returns a function that makes the plant once and gives the same
// one from then on: several devices are views of one plant.
func (w *Setup) plantOnce() func(drivers.Env) (*sim.Plant, error) {
	var plant *sim.Plant
	return func(env drivers.Env) (*sim.Plant, error) {
		if plant != nil {
			return plant, nil
		}
		var err error
		plant, err = w.NewPlant(env)
		return plant, err
	}
}

// optionsMaker fills the loop's options, the safety layer's among them.
type optionsMaker struct {
	cfg    *configs.Config
	limits ownLimits
	opt    *plan.Options
}

// wireOptions fills the loop's options, all but the mode.
func (m *optionsMaker) wireOptions() []configs.Problem {
	cfg := m.cfg
	o := m.opt
	o.Tick, o.Deadline, o.FailureLimit = cfg.Tick, cfg.Policy.Deadline, failureLimit
	o.Cost = plan.Cost{Unit: cfg.Cost.Unit, PerStep: cfg.Cost.PerStep, PerShot: cfg.Cost.PerShot,
		PerMove: make([]float64, len(cfg.Variables))}
	o.Stop = plan.Stop{Cost: OrZero(cfg.Stop.Cost), Steps: OrZero(cfg.Stop.Steps), Time: OrZero(cfg.Stop.Time), Target: cfg.Stop.Target}
	if n := cfg.Stop.NoImprovement; n != nil {
		o.Stop.NoImprovement = plan.NoImprovement{Steps: OrZero(n.Steps), Cost: OrZero(n.Cost), By: n.By}
	}
	for _, s := range cfg.Sensors {
		m.opt.Sensors = append(m.opt.Sensors, plan.Sensor{Name: s.Name, Unit: s.Unit,
			Channel: m.channel(s.Device, s.Channel), Low: s.Range.Lo, High: s.Range.Hi,
			MaxAge: s.MaxAge, MaxSkew: s.MaxSkew})
	}
	var problems []configs.Problem
	for i := range cfg.Variables {
		v := &cfg.Variables[i]
		m.opt.Variables = append(m.opt.Variables, m.variable(v))
		m.opt.Cost.PerMove[i] = cfg.Cost.PerMove[v.Name]
	}
	problems = append(problems, m.wireSafety()...)
	for _, set := range cfg.Sets() {
		m.opt.ControlSets = append(m.opt.ControlSets, plan.ControlSet{Variables: m.indices(set.Variables), Cost: set.Cost})
	}
	objective, more := m.objective()
	m.opt.Objective = objective
	return append(append(problems, more...), m.readCost()...)
}

// variable wires one variable.
func (m *optionsMaker) variable(v *configs.Variable) plan.Variable {
	out := plan.Variable{Name: v.Name, Unit: v.Unit, Actuated: v.HasActuator(),
		Channel: m.channel(v.Device, v.Channel), Low: v.Range.Lo, High: v.Range.Hi,
		Start: orNaN(v.Start), Frozen: v.Frozen, Resolution: OrZero(v.Resolution), Stepped: len(v.Levels) > 0, Levels: v.Levels, Integer: v.Integer,
		Tolerance: v.Readback.Tolerance, Timeout: v.Readback.Timeout,
		MaxAge: max(v.Readback.Timeout, time.Second, 10*m.cfg.Tick),
		Settle: v.Settle, OnRelease: plan.ReleaseKind(v.OnRelease)}
	if v.Integer && out.Resolution == 0 {
		out.Resolution = 1
	}
	if !out.Actuated {
		if s, ok := m.cfg.Sensor(v.Sensor); ok {
			out.Channel, out.MaxAge = m.channel(s.Device, s.Channel), s.MaxAge
		}
		return out
	}
	if v.Kind == "dose" {
		m.doseVariable(&out)
		return out
	}
	limits := m.cfg.Safety.Variables[v.Name]
	out.Limits = safetyVariable(m.limits.variables[v.Name], limits, out.Resolution)
	out.Boot, out.OnFault, out.Shutdown = restState(limits.Boot), restState(limits.OnFault), restState(limits.Shutdown)
	return out
}

// doseVariable fills what a variable of doses has in place of limits on a place.
func (m *optionsMaker) doseVariable(v *plan.Variable) {
	v.Dose, v.OnRelease, v.Tolerance = true, plan.Hold, 0
	v.Limits = safety.VariableLimits{High: v.High, Resolution: v.Resolution, Dose: true}
	v.Boot, v.OnFault, v.Shutdown = plan.RestHold, plan.RestOff, plan.RestOff
	for _, d := range m.cfg.Safety.Doses {
		if d.Variable == v.Name && d.OnFault == "hold" {
			v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
		}
	}
}

// restState turns the schema's word into the loop's: a variable that is only
// read at boot is left as it is.
func restState(word string) plan.RestState {
	if word == "read" {
		return plan.RestHold
	}
	return plan.RestState(word)
}

// readCost wires what says after a step what its control set has cost.
func (m *optionsMaker) readCost() []configs.Problem {
	if m.cfg.Cost.Reading == "" {
		return nil
	}
	f, err := compileFormula(m.cfg.Cost.Reading, m.sensorNames())
	if err != nil {
		return []configs.Problem{m.cfg.Problem("cost.reading", err.Error(), formulaWords)}
	}
	m.opt.Cost.Reading = f.eval
	return nil
}

func (m *optionsMaker) sensorNames() []string {
	names := make([]string, len(m.cfg.Sensors))
	for i, s := range m.cfg.Sensors {
		names[i] = s.Name
	}
	return names
}

// objective wires the objective.
func (m *optionsMaker) objective() (plan.Objective, []configs.Problem) {
	o := &m.cfg.Objective
	out := plan.Objective{Name: o.Sensor, Sensor: -1, Minimize: o.Goal == "minimize", Shots: o.Shots,
		Statistic: o.Statistic, Timeout: o.Timeout, Every: o.Every}
	names := m.sensorNames()
	if o.Formula == "" {
		if i := slices.Index(names, o.Sensor); i >= 0 {
			out.Sensor, out.Uses, out.Unit = i, []int{i}, m.cfg.Sensors[i].Unit
		}
		return out, nil
	}
	f, err := compileFormula(o.Formula, names)
	if err != nil {
		return out, []configs.Problem{m.cfg.Problem("objective.formula", err.Error(), formulaWords)}
	}
	out.Name, out.Formula, out.Uses = o.Formula, f.eval, f.uses
	return out, nil
}

// channel finds a channel's device; the configuration's own check has made sure
// that there is one.
func (m *optionsMaker) channel(device, channel string) plan.Channel {
	i := slices.IndexFunc(m.cfg.Devices, func(d configs.Device) bool { return d.Name == device })
	return plan.Channel{Device: i, Name: channel}
}

// indices turns names of variables into indices.
func (m *optionsMaker) indices(names []string) []int {
	out := make([]int, len(names))
	for k, name := range names {
		out[k] = slices.IndexFunc(m.cfg.Variables, func(v configs.Variable) bool { return v.Name == name })
	}
	slices.Sort(out)
	return out
}

// SetNames lists the variables of a control set.
func (w *Setup) SetNames(set int) []string {
	names := []string{}
	for _, i := range w.Options.ControlSets[set].Variables {
		names = append(names, w.Options.Variables[i].Name)
	}
	return names
}

func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func orNaN(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// Refuse is one problem of the configuration.
func (w *Setup) Refuse(key, what, hint string) error {
	return configs.NewError(w.Config.Problem(key, what, hint))
}
