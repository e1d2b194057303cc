package main

import (
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop"
)

// plantSeed separates the plant's random numbers from the policy's: with one
// stream for both, the policy's choices would tell it the noise.
const plantSeed = 0x9e3779b97f4a7c15

// wirePlant fills the plant's options and tries them.
func (w *wiring) wirePlant() []configs.Problem {
	cfg := w.cfg
	if cfg.Plant == nil {
		return nil
	}
	p := cfg.Plant
	o := &sim.Options{Kind: p.Kind, Noise: p.Noise, Drift: p.Drift, Saturation: p.Saturation, Faults: p.Faults, Data: p.Data,
		Batch: orZero(p.Batch), Seed: uint64(cfg.Seed) ^ plantSeed}
	for i := range cfg.Variables {
		o.Variables = append(o.Variables, w.plantVariable(i))
	}
	for i, s := range cfg.Sensors {
		out := sim.Sensor{Name: s.Name, Unit: s.Unit, Device: s.Device, Channel: s.Channel,
			Low: s.Range.Lo, High: s.Range.Hi, Objective: slices.Contains(w.opt.Objective.Uses, i)}
		for _, lock := range slices.Concat(cfg.Safety.Interlocks, cfg.Safety.Permissives) {
			if lock.Sensor == s.Name {
				out.Interlock = &[2]float64{lock.Range.Lo, lock.Range.Hi}
			}
		}
		o.Sensors = append(o.Sensors, out)
	}
	w.plant = o
	plant, err := w.newPlant(drivers.Env{Clock: stoppedClock()})
	if err != nil {
		return w.plantProblems(err)
	}
	w.plantNotes = plant.Notes()
	if cfg.Domain != nil && cfg.Domain.Candidates == ownTable {
		w.spec.Candidates = plant.Candidates()
	}
	return nil
}

// newPlant makes the simulated plant, switched on at the present of env's clock.
func (w *wiring) newPlant(env drivers.Env) (*sim.Plant, error) { return sim.New(*w.plant, env) }

// stoppedClock serves to try options on: nothing happens.
func stoppedClock() drivers.Clock { return loop.NewVirtualClock(simulationStart()) }

// simulationStart is when every simulation begins, so that the same seed gives
// the same journal.
func simulationStart() time.Time { return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

// plantVariable is variable i as the plant has it.
func (w *wiring) plantVariable(i int) sim.Variable {
	c, v := &w.cfg.Variables[i], &w.opt.Variables[i]
	out := sim.Variable{Name: v.Name, Unit: v.Unit, Low: v.Low, High: v.High, Start: v.Start,
		Device: c.Device, Channel: c.Channel, Resolution: orZero(c.Resolution), Integer: c.Integer, Levels: c.Levels,
		Actuated: v.Actuated, OnRelease: c.OnRelease, Safe: math.NaN(), Dose: v.Dose}
	if v.Actuated && !v.Dose {
		out.Safe = v.Limits.Safe
	} else if s, ok := w.cfg.Sensor(c.Sensor); ok {
		out.Device, out.Channel = s.Device, s.Channel
	}
	random, given := w.cfg.Plant.Random[v.Name]
	if !given {
		random = c.WhenRandom
	}
	switch {
	case random.Distribution == "normal":
		out.Random = sim.Distribution{Kind: sim.Normal, Mean: orZero(random.Mean), SD: orZero(random.SD)}
	default:
		// What is to be learnt must be something: uniform.
		out.Random = sim.Distribution{Kind: sim.Uniform}
	}
	return out
}

// plantProblems puts what the plant has to say against its own options at the
// section's line, one problem for each.
func (w *wiring) plantProblems(err error) []configs.Problem {
	var problems []configs.Problem
	for _, e := range flatten(err) {
		problems = append(problems, w.cfg.Problem("plant", e.Error(), ""))
	}
	return problems
}
