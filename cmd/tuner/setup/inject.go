package setup

import (
	"slices"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
)

// Inject adds faults to the plant's own. They are tried on a plant of their own
// first, which knows its channels.
func (w *Setup) Inject(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	plant := *w.Plant
	plant.Faults = slices.Concat(plant.Faults, faults)
	w.Plant = &plant
	if _, err := w.NewPlant(drivers.Env{Clock: loop.NewVirtualClock(SimulationStart())}); err != nil {
		return fault.Usage(fault.WithHint(err, "--inject dropout@40, --inject stuck:energy@120+3"))
	}
	return nil
}
