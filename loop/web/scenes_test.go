package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// scene is a run at an instant that people may meet in front of the dashboard.
type scene struct {
	name string
	doc  *Document
	now  control.Status
	// rarely says that other scenes show nearly the same: it is tried in the whole.
	rarely bool
	// lost says that the tuner goes away.
	lost bool
	// says are words that must stand on the page.
	says []string
}

// stage makes runs of so many variables and steps; what it leaves out a scene sets.
type stage struct {
	names, units []string
	steps        int
	policy       string
	minimize     bool
	// wander is how far the best place moves over the run, in parts of the range.
	wander float64
}

var bench = stage{names: []string{"mirror_x", "mirror_y", "grating", "pump_current"}, units: []string{"mrad", "mrad", "mm", "A"}, steps: 60, policy: "rahbo"}

// longest is a run of months.
func (g stage) longest() stage { g.steps = 100_000; return g }

// best is where the objective is highest at step n, in parts of the ranges.
func (g stage) best(n, i int) float64 {
	return 0.3 + 0.05*float64(i%8) + g.wander*float64(n)/float64(max(g.steps, 1))
}

func (g stage) run() (journal.Run, plan.Options) {
	r := journal.Run{ID: "20260301T080000Z-7", Name: "pulse-energy", Site: "laser-lab-2", Mode: "run", Policy: g.policy, Version: "v0.9.0", Seed: 7, Minimize: g.minimize,
		Start: journal.Stamp{Wall: began}, ConfigFile: "/etc/tuner/pulse-energy.toml", ConfigText: []byte("schema = 1\nname = \"pulse-energy\"\n"),
		Objective: journal.Column{Name: "pulse_energy", Unit: "mJ"}, CostUnit: "shots", Sensors: []journal.Column{{Name: "pulse_energy", Unit: "mJ"}, {Name: "pointing", Unit: "urad"}}}
	o := plan.Options{Mode: plan.Live, Stop: plan.Stop{Steps: 150, Cost: 2000}}
	all := plan.ControlSet{}
	for i, name := range g.names {
		r.Variables = append(r.Variables, journal.Column{Name: name, Unit: g.units[i]})
		v := plan.Variable{Name: name, Unit: g.units[i], Low: -2, High: 2, Actuated: true}
		v.Limits.Low, v.Limits.High = -3, 3
		o.Variables = append(o.Variables, v)
		all.Variables = append(all.Variables, i)
	}
	first := plan.ControlSet{Variables: all.Variables[:1], Cost: 1}
	all.Cost = 3
	o.ControlSets = []plan.ControlSet{first, all}
	r.ControlSets = []journal.ControlSet{{Variables: g.names[:1], Cost: 1}, {Variables: g.names, Cost: 3}}
	return r, o
}

// step is step n: a quarter of them control the first variable only.
func (g stage) step(n int) journal.Step {
	set, initial := 1, n <= 20
	if n%4 == 0 {
		set = 0
	}
	x, asked := make([]float64, len(g.names)), make([]float64, len(g.names))
	far := 0.0
	for i := range x {
		p := g.best(n, i) + 0.4*math.Exp(-float64(n)/15)*math.Sin(float64(7*n*(i+1)))
		if initial {
			p = math.Mod(0.5+0.618*float64(n*(i+1)), 1)
		}
		far += square(p - g.best(n, i))
		x[i] = -2 + 4*min(max(p, 0), 1)
		if asked[i] = x[i]; set == 0 && i > 0 {
			asked[i] = math.NaN()
		}
	}
	y := 7.4*math.Exp(-2*far) + 0.2*math.Sin(float64(13*n))
	d := journal.Decision{Step: n, ControlSet: set, Initial: initial, Requested: asked, Applied: slices.Clone(asked), Took: 3 * time.Millisecond, Why: "{}", At: labStamp(5 * n)}
	if !initial {
		d.Why = fmt.Sprintf(`{"mean":%g,"sd":0.2,"beta":2,"noise_variance":0.09,"risk":0.02,"value":%g,"best":%g,"best_noise_variance":0.09}`, y+0.1*math.Sin(float64(n)), y, y+0.15*float64(n%3))
	}
	o := journal.Outcome{Step: n, X: x, Mean: y, Variance: 0.09, StandardError: 0.1, Shots: 9, Cost: float64(1 + 2*set), Spent: 2.5 * float64(n), Valid: true, At: labStamp(5 * n)}
	if n == 17 {
		o.Valid, o.Problem, o.Mean, o.Shots = false, "pump_current did not arrive within 10s: it was sent to 79.7 A, and reads 71 A", math.NaN(), 0
	}
	if n%9 == 0 {
		d.Requested[0] = 3.4
		d.Reasons = []journal.Reason{{Variable: g.names[0], Rule: "hard-bounds", From: 3.4, To: d.Applied[0]}}
	}
	return journal.Step{Decision: d, Outcome: o, Concluded: true}
}

// picture is what the model makes of it.
func (g stage) picture() *control.Picture {
	if g.steps == 0 {
		return &control.Picture{Slices: []control.PictureSlice{}, Sets: make([]*control.PicturePoint, 2)}
	}
	best := &control.PicturePoint{ControlSet: 1, Feasible: true, PictureEstimate: control.PictureEstimate{Mean: 7.4, SD: 0.05, NoiseSD: 0.3, Bound: 7.2, Feasibility: none}}
	p := &control.Picture{Best: best, Start: &control.PictureEstimate{Mean: 4.8, SD: 0.1, NoiseSD: 0.6, Bound: 4.6, Feasibility: none}, Sets: []*control.PicturePoint{nil, best}}
	for i := range g.names {
		at := -2 + 4*g.best(g.steps, i)
		best.X = append(best.X, journal.Number(at))
		s := control.PictureSlice{Variable: i}
		for k := range 61 {
			x := -2 + 4*float64(k)/60
			s.X, s.Mean = append(s.X, journal.Number(x)), append(s.Mean, journal.Number(7.4*math.Exp(-square(x-at)/4)))
			s.SD, s.NoiseSD = append(s.SD, journal.Number(0.05+0.5*math.Abs(x-at)/(1+math.Abs(x-at)))), append(s.NoiseSD, journal.Number(0.3+0.1*math.Abs(x)))
		}
		p.Slices = append(p.Slices, s)
	}
	return p
}

// show is the run after its steps, and the status of a tuner that runs it.
func (g stage) show(t testing.TB, change ...func(*plan.Options)) (*Document, control.Status) {
	t.Helper()
	run, o := g.run()
	for _, c := range change {
		c(&o)
	}
	d := &Document{Type: "tuner-run/1", Run: describe(run, journal.Status{Sessions: 1}, Source{Options: o, Risk: 0.5}), Stride: 1, Steps: []StepPart{},
		Picture: g.picture(), Rules: []RulePart{}, Events: []EventPart{}, Actions: map[string]int{"confirmed": 3 * g.steps}, Doses: []DosePart{}}
	c := newCollector(d, run)
	for n := 1; n <= g.steps; n++ {
		c.addStep(g.step(n))
	}
	c.sum()
	for k, text := range []string{"run of pulse-energy begins: ends after 150 steps or at a cost of 2000 shots", "ready: all sensors have spoken", "step 17 failed: pump_current did not arrive"} {
		d.addEvent(EventPart{Wall: wallMS(labStamp(k)), Level: []string{"info", "info", "warn"}[k], Kind: "run", Step: 17 * (k / 2), Message: text})
	}
	d.Health = examine(d)
	s := control.Status{Name: run.Name, Site: run.Site, Mode: plan.Live, State: "running", Phase: "measuring", PhaseFor: 1.2, Step: g.steps + 1, Steps: g.steps, StepLimit: 150, CostUnit: "shots",
		Spent: journal.Number(2.5 * float64(g.steps)), Budget: 2000, Elapsed: journal.Number(5 * g.steps), TimeLimit: 28800, Left: journal.Number(5 * (150 - g.steps)),
		Objective: control.ObjectiveStatus{Name: "pulse_energy", Unit: "mJ", Minimize: g.minimize},
		Causes:    []control.Cause{}, FirstOut: []control.Cause{}, Constraints: []control.ConstraintStatus{}, Doses: []control.DoseStatus{},
		Sensors: []control.SensorStatus{{Name: "pulse_energy", Unit: "mJ", Value: 7.31, Age: 0.1, Valid: true}, {Name: "pointing", Unit: "urad", Value: 12.4, Age: 0.4, Valid: true}},
		Devices: []control.DeviceStatus{{Name: "bench", Retries: 3, Window: 30}}, Disk: control.DiskStatus{Free: 4e10, Least: 5e7}}
	s.Decision = &control.DecisionStatus{Step: g.steps + 1}
	for i, name := range g.names {
		s.Decision.Requested = append(s.Decision.Requested, journal.Number(-2+4.2*g.best(g.steps, i)))
		x := journal.Number(-2 + 4*g.best(g.steps, i))
		s.Variables = append(s.Variables, control.VariableStatus{Name: name, Unit: g.units[i], Low: -2, High: 2, Wanted: x, Setpoint: x, Readback: x + 0.003, Age: 0.1, Driven: true})
	}
	return d, s
}

func cause(rule, of, text string, latched bool) []control.Cause {
	return []control.Cause{{Rule: rule, Of: of, Text: text, Latched: latched}}
}

// scenes are the states that the pages must be good in.
func scenes(t *testing.T) []scene {
	t.Helper()
	var all []scene
	add := func(name string, g stage, change func(*scene), options ...func(*plan.Options)) {
		d, s := g.show(t, options...)
		c := scene{name: name, doc: d, now: s}
		change(&c)
		c.rarely = slices.Contains([]string{"initial", "running", "held", "fallen-back", "stopped", "paused", "dry-run", "drift", "no-step", "infeasible"}, name)
		all = append(all, c)
	}
	after := func(steps int) stage { g := bench; g.steps = steps; return g }
	halted := func(state, phase string, causes []control.Cause) func(*scene) {
		return func(c *scene) {
			c.now.State, c.now.Phase, c.now.Causes, c.now.FirstOut = state, phase, causes, causes
			c.says = []string{causes[0].Text}
		}
	}
	add("no-step", after(0), func(c *scene) { c.now.Phase = "choosing"; c.says = []string{"No step is over yet"} })
	add("initial", after(6), func(c *scene) {})
	add("running", bench, func(c *scene) { c.says = []string{"7.2 mJ"} })
	add("held", bench, halted("held", "measuring", cause("stale", "pointing", "sensor pointing has given nothing for longer than its max_age", false)))
	add("fallen-back", bench, halted("fallen back", "measuring", cause("interlock", "pointing", "interlock pointing (it must be within 0 to 50 urad, and reads 71 urad)", true)))
	add("tripped", bench, halted("tripped", "resting", cause("readback", "pump_current", "readback pump_current (it was sent to 79.7 A, and reads 91.2 A)", true)))
	add("stopped", bench, halted("stopped", "resting", cause("stop", "", "stop", true)))
	add("paused", bench, func(c *scene) { c.now.State, c.now.Paused = "held", true; c.says = []string{"Paused by an operator"} })
	add("dry-run", bench, func(c *scene) {
		c.now.DryRun, c.now.Mode, c.doc.Run.Mode = true, plan.Shadow, "shadow"
		for i := range c.now.Variables {
			c.now.Variables[i].Setpoint, c.now.Variables[i].Driven = journal.Number(math.NaN()), false
		}
		c.says = []string{"nothing is written to the instrument"}
	})
	add("finished", bench, func(c *scene) {
		c.doc.Run.Finished, c.doc.Run.Reason = true, "steps"
		c.now.State, c.now.Phase, c.now.Reason, c.now.Left = "ended", "ended", "steps", journal.Number(math.NaN())
		c.says = []string{"all steps are done"}
	})
	add("doses", stage{names: []string{"nutrient", "acid"}, units: []string{"mL", "mL"}, steps: 30, policy: "gp-ucb"}, func(c *scene) {
		c.now.Doses = []control.DoseStatus{{Variable: "nutrient", Unit: "mL", Total: 231.4, Limit: 600}, {Variable: "acid", Unit: "mL", Total: 207, Limit: journal.Number(math.Inf(1)), Unknown: true}}
		c.says = []string{"231.4 mL"}
	})
	twelve := stage{steps: 80, policy: "ucb-cvs"}
	for i := range 12 {
		twelve.names, twelve.units = append(twelve.names, fmt.Sprintf("nutrient_channel_%02d", i+1)), append(twelve.units, "mg/L")
	}
	add("twelve-variables", twelve, func(c *scene) {})
	long := bench
	long.names = []string{"second_harmonic_crystal_temperature_setpoint", "mirror_mount_in_front_of_the_third_amplifier_x", "grating", "pump"}
	long.units = []string{"degC", "mrad", "mm", "A"}
	add("long-names", long, func(c *scene) {
		c.doc.Run.Name = "regenerative-amplifier-of-the-second-beamline-after-realignment"
		c.doc.Run.Objective = "energy_behind_the_compressor_averaged_over_ten_shots"
		c.doc.addEvent(EventPart{Wall: wallMS(labStamp(300)), Level: "error", Kind: "safety", Step: 60, Message: strings.Repeat("device_with_a_name_that_never_ends_", 6)})
	})
	add("infeasible", bench, func(c *scene) {
		c.doc.Picture.Best.Feasible, c.doc.Picture.Best.Feasibility = false, 0.31
		c.doc.Health = examine(c.doc)
		c.now.Constraints = []control.ConstraintStatus{{Sensor: "pointing", Unit: "urad", Low: journal.Number(math.Inf(-1)), High: 10, Value: 12.4, Margin: -2.4}}
		c.says = []string{"outside", "Not known to be kept", "none that was tried is known to keep them"}
	}, func(o *plan.Options) {
		o.Constraints = []plan.Constraint{{Sensor: 1, Low: math.Inf(-1), High: 10}}
	})
	drifting := bench
	drifting.policy, drifting.wander, drifting.minimize = "track", 0.3, true
	add("drift", drifting, func(c *scene) { c.now.TimeLimit = 0 })
	add("lost", bench, func(c *scene) { c.lost = true; c.says = []string{"connection lost"} })
	add("hundred-thousand-steps", bench.longest(), func(c *scene) { c.now.StepLimit, c.now.Left = 0, journal.Number(math.NaN()) })
	return all
}
