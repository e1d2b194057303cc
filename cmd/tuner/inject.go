package main

import (
	"slices"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
)

// inject adds faults to the plant's own. They are tried on a plant of their own
// first, which knows its channels.
func (w *wiring) inject(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	plant := *w.plant
	plant.Faults = slices.Concat(plant.Faults, faults)
	w.plant = &plant
	if _, err := w.newPlant(drivers.Env{Clock: loop.NewVirtualClock(simulationStart())}); err != nil {
		return usageError{withHint(err, "--inject dropout@40, --inject stuck:energy@120+3")}
	}
	return nil
}
