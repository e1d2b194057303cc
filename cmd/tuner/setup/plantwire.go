package setup

import (
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

// plantSeed separates the plant's random numbers from the policy's: with one
// stream for both, the policy's choices would tell it the noise.
const plantSeed = 0x9e3779b97f4a7c15

// wirePlant fills the plant's options and tries them.
func (w *Setup) wirePlant() []configs.Problem {
	cfg := w.Config
	if cfg.Plant == nil {
		return nil
	}
	p := cfg.Plant
	o := &sim.Options{Kind: p.Kind, Noise: p.Noise, Drift: p.Drift, Saturation: p.Saturation, Faults: p.Faults, Data: p.Data,
		Batch: OrZero(p.Batch), Seed: uint64(cfg.Seed) ^ plantSeed}
	for i := range cfg.Variables {
		o.Variables = append(o.Variables, plantVariable(cfg, &w.Options.Variables[i], i))
	}
	for i, s := range cfg.Sensors {
		out := sim.Sensor{Name: s.Name, Unit: s.Unit, Device: s.Device, Channel: s.Channel,
			Low: s.Range.Lo, High: s.Range.Hi, Objective: slices.Contains(w.Options.Objective.Uses, i)}
		for _, lock := range slices.Concat(cfg.Safety.Interlocks, cfg.Safety.Permissives) {
			if lock.Sensor == s.Name {
				out.Interlock = &[2]float64{lock.Range.Lo, lock.Range.Hi}
			}
		}
		o.Sensors = append(o.Sensors, out)
	}
	w.Plant = o
	plant, err := w.NewPlant(drivers.Env{Clock: StoppedClock()})
	if err != nil {
		return plantProblems(cfg, err)
	}
	w.PlantNotes = plant.Notes()
	if cfg.Domain != nil && cfg.Domain.Candidates == ownTable {
		w.Spec.Candidates = plant.Candidates()
	}
	return nil
}

// NewPlant makes the simulated plant, switched on at the present of env's clock.
func (w *Setup) NewPlant(env drivers.Env) (*sim.Plant, error) { return sim.New(*w.Plant, env) }

// StoppedClock serves to try options on: nothing happens.
func StoppedClock() drivers.Clock { return worker.NewVirtualClock(SimulationStart()) }

// SimulationStart is when every simulation begins, so that the same seed gives
// the same journal.
func SimulationStart() time.Time { return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

// plantVariable is variable i as the plant has it.
func plantVariable(cfg *configs.Config, v *plan.Variable, i int) sim.Variable {
	c := &cfg.Variables[i]
	out := sim.Variable{Name: v.Name, Unit: v.Unit, Low: v.Low, High: v.High, Log: c.Scale == "log", Start: v.Start,
		Device: c.Device, Channel: c.Channel, Resolution: OrZero(c.Resolution), Integer: c.Integer, Levels: c.Levels,
		Actuated: v.Actuated, OnRelease: c.OnRelease, Safe: math.NaN(), Dose: v.Dose}
	if v.Actuated && !v.Dose {
		out.Safe = v.Limits.Safe
	} else if s, ok := cfg.Sensor(c.Sensor); ok {
		out.Device, out.Channel = s.Device, s.Channel
	}
	random, given := cfg.Plant.Random[v.Name]
	if !given {
		random = c.WhenRandom
	}
	_, out.Random = distributions(random)
	return out
}

// plantProblems puts what the plant has to say against its own options at the
// section's line, one problem for each.
func plantProblems(cfg *configs.Config, err error) []configs.Problem {
	var problems []configs.Problem
	for _, e := range fault.Flatten(err) {
		problems = append(problems, cfg.Problem("plant", e.Error(), ""))
	}
	return problems
}

// Inject adds faults to the plant's own. They are tried on a plant of their own
// first, which knows its channels.
func (w *Setup) Inject(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	plant := *w.Plant
	plant.Faults = slices.Concat(plant.Faults, faults)
	w.Plant = &plant
	if _, err := w.NewPlant(drivers.Env{Clock: worker.NewVirtualClock(SimulationStart())}); err != nil {
		return fault.Usage(fault.WithHint(err, "--inject dropout@40, --inject stuck:energy@120+3"))
	}
	return nil
}
