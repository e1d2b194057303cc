package loop_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// lamp is an instrument of our own: a voltage that can be set, and a light meter.
type lamp struct {
	clock   drivers.Clock
	voltage float64
}

func (l *lamp) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{
		{Name: "voltage", Unit: "V", Access: drivers.ReadWrite, Min: 0, Max: 12},
		{Name: "light", Unit: "mW"},
	}, nil
}

// Read gives what there is now: the light is brightest, 5 mW, at 7 V.
func (l *lamp) Read(context.Context, []string) (drivers.Reading, error) {
	light := 5 * math.Exp(-(l.voltage-7)*(l.voltage-7)/8)
	return drivers.Reading{At: l.clock.Now(), Values: map[string]float64{"voltage": l.voltage, "light": light}}, nil
}

// Write takes a setpoint; what is read back afterwards tells that it has arrived.
func (l *lamp) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if v, ok := s.Values["voltage"]; ok {
		l.voltage = v
	}
	return drivers.Reading{}, nil
}

// Halt brings the lamp to its own safe state.
func (l *lamp) Halt(context.Context) error { l.voltage = 0; return nil }

func (l *lamp) Close() error { return nil }

// A program with an instrument of its own: options, a policy, a journal and a device make a
// run. In Simulate it takes virtual time, here two minutes in a moment; with
// Mode Live and worker.RealClock the same lines drive a real instrument.
func ExampleRun() {
	folder, err := os.MkdirTemp("", "lamp")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	o := plan.Options{
		Mode: plan.Simulate, Tick: 100 * time.Millisecond,
		Sensors:   []plan.Sensor{{Name: "light", Unit: "mW", Channel: plan.Channel{Name: "light"}, Low: 0, High: 100, MaxAge: time.Second}},
		Objective: plan.Objective{Name: "light", Unit: "mW", Uses: []int{0}, Shots: 1, Statistic: "mean", Timeout: 5 * time.Second},
		Variables: []plan.Variable{{Name: "voltage", Unit: "V", Channel: plan.Channel{Name: "voltage"}, Actuated: true, Low: 0, High: 12, Start: 3,
			Tolerance: 0.01, Timeout: 10 * time.Second, MaxAge: time.Second, Settle: 200 * time.Millisecond, OnRelease: plan.Hold,
			Limits: safety.VariableLimits{Low: 0, High: 10, SlewUp: 4, SlewDown: 4}, // whatever is proposed: never above 10 V, never faster than 4 V/s
			Boot:   plan.RestHold, OnFault: plan.RestSafe, Shutdown: plan.RestHold}},
		ControlSets: []plan.ControlSet{{Variables: []int{0}}},
		Stop:        plan.Stop{Steps: 15}, FailureLimit: 3,
	}
	p, err := policy.New(policy.Spec{Kind: "irgp-ucb", Variables: []policy.Variable{{Name: "voltage", Low: 0, High: 12, Start: 3}},
		ControlSets: []policy.ControlSet{{Controlled: []bool{true}}}, Design: "sobol", InitialSteps: 5, Beta: 2,
		Model: policy.Model{Kernel: "matern52", Hyperparameters: "priors"}, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := journal.Create(filepath.Join(folder, "lamp.db"), journal.Run{ID: "lamp-1", Name: "lamp", Mode: string(o.Mode), Policy: "irgp-ucb",
		Objective: journal.Column{Name: "light", Unit: "mW"}, Sensors: []journal.Column{{Name: "light", Unit: "mW"}},
		Variables: []journal.Column{{Name: "voltage", Unit: "V"}}, ControlSets: []journal.ControlSet{{Variables: []string{"voltage"}}}}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	clock, highest := worker.NewVirtualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), 0.0
	r, err := loop.Run(context.Background(), o, loop.Deps{Clock: clock, Policy: p, Journal: record,
		Devices: []loop.Device{{Name: "lamp", Device: &lamp{clock: clock}}},
		Watch:   control.Watch{Step: func(_ journal.Decision, o journal.Outcome) { highest = max(highest, o.X[0]) }}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := record.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d steps: %.1f mW at %.0f V; never above 10 V: %v\n", r.Steps, r.Found.Mean, r.Found.X[0], highest <= 10)
	// Output: 15 steps: 5.0 mW at 7 V; never above 10 V: true
}
