package driverstest_test

import (
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
	"github.com/labtuner/tuner/drivers/sim"
)

// wall is the machine's clock.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// The simulated devices keep the contract as the real ones do.
func TestSimConforms(t *testing.T) {
	o := sim.Options{
		Kind: "laser", Noise: 1, Seed: 1,
		Variables: []sim.Variable{
			{Name: "mirror", Unit: "mrad", Low: -2, High: 2, Min: -10, Max: 10, Device: "stage", Channel: "mx", Actuated: true},
			{Name: "pump", Unit: "A", Low: 60, High: 95, Start: 70, Min: 0, Max: 100, Safe: 60, Device: "stage", Channel: "pump", Actuated: true},
		},
		Sensors: []sim.Sensor{
			{Name: "energy", Unit: "mJ", Low: 0, High: 20, Device: "meter", Channel: "energy", Objective: true},
		},
	}
	for _, name := range []string{"stage", "meter"} {
		t.Run(name, func(t *testing.T) {
			driverstest.Conform(t, func() drivers.Device {
				plant, err := sim.New(o, drivers.Env{Clock: wall{}})
				if err != nil {
					t.Fatal(err)
				}
				return plant.Device(name)
			})
		})
	}
}
