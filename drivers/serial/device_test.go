package serial

import (
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

// TestConforms checks the driver against the contract, over a real
// pseudo-terminal whose other side is a simulated laser that speaks the same
// description.
func TestConforms(t *testing.T) {
	o, channels := stageOptions(filepath.Join(t.TempDir(), "stage"))
	serve(t, Plant{Options: o, Channels: channels, Device: stagePlant(t), Env: env(t)})
	driverstest.Conform(t, func() drivers.Device {
		dev, err := New(o, channels, env(t))
		if err != nil {
			t.Fatal(err)
		}
		return dev
	})
}
