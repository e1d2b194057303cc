package serial

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// TestConforms checks the driver against the contract, over a real
// pseudo-terminal whose other side is a simulated laser that speaks the same
// description.
func TestConforms(t *testing.T) {
	t.Parallel()
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

// TestNeedsAClock: without one the driver is refused when it is made, not when it first reads.
func TestNeedsAClock(t *testing.T) {
	o, channels := stageOptions(filepath.Join(t.TempDir(), "stage"))
	if _, err := New(o, channels, drivers.Env{}); err == nil || !strings.Contains(err.Error(), "no clock") {
		t.Errorf("got %v", err)
	}
}

// TestAnswersThatAreNoValueAreShown: what an instrument answers in place of a number comes with
// the reading, quoted and bounded, beside the values of the other channels.
func TestAnswersThatAreNoValueAreShown(t *testing.T) {
	o, channels := stageOptions(filepath.Join(t.TempDir(), "stage"))
	serve(t, Plant{Options: o, Channels: channels, Device: stagePlant(t), Env: env(t)})
	channels = slices.Clone(channels)                                         // the plant has its own
	channels[2].Read = &Read{ReadKeys: text.ReadKeys{Out: "I?", In: "%f mJ"}} // it answers with a current
	dev := openDevice(t, o, channels)
	r, err := dev.Read(t.Context(), []string{"mx", "energy"})
	if err != nil {
		t.Fatal(err)
	}
	if _, there := r.Values["mx"]; !there {
		t.Errorf("the other channel has no value: %+v", r)
	}
	if why := r.Missing["energy"]; why == nil || !strings.Contains(why.Error(), `"I=`) || r.Missing["mx"] != nil {
		t.Errorf("missing: %v, want what it answered", r.Missing)
	}
}
