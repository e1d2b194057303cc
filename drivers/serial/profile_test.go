package serial

import (
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
)

// TestProfiles: every profile makes a device with channels, and its keys are all
// known.
func TestProfiles(t *testing.T) {
	for name, want := range map[string]string{
		"arduino": "a0 a1 a2 a3 a4 a5 d3 d5 d6 d9 d10 d11", "energy-meter": "energy pointing", "scpi-meter": "value",
		"ezo-ph": "ph", "ezo-ec": "ec", "ezo-pump": "rate dose total supply",
	} {
		o, channels, err := fromProfile(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o.Port = "/dev/none"
		dev, err := New(o, channels, drivers.Env{Clock: wall{}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for _, c := range dev.channels {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s has the channels %q, want %q", name, got, want)
		}
	}
	if n := len(profileNames()); n != 6 {
		t.Errorf("%d profiles, and the test knows 6: %q", n, profileNames())
	}
	if _, _, err := fromProfile("nonsense"); err == nil || !strings.Contains(err.Error(), "ezo-ph") {
		t.Errorf("a profile that there is not: %v", err)
	}
}
