package setup

import (
	"testing"

	"github.com/labtuner/tuner/configs"
)

// TestDriversDescribeThemselves: each has a name of its own, and says of every key what it
// is for.
func TestDriversDescribeThemselves(t *testing.T) {
	names := map[string]bool{}
	for _, d := range Drivers() {
		if d.Name == "" || names[d.Name] || d.Wire == nil {
			t.Errorf("driver %q is named twice, or cannot be wired", d.Name)
		}
		names[d.Name] = true
		if d.Options == nil {
			continue
		}
		for what, options := range map[string]any{"device": d.Options(), "channel": d.Channel()} {
			docs := configs.ReferenceOf("[["+what+"]]", options)
			if len(docs) == 0 {
				t.Errorf("%s: no key of a %s", d.Name, what)
			}
			for _, k := range docs {
				if k.What == "" {
					t.Errorf("%s: %s %s is not explained", d.Name, k.Section, k.Key)
				}
			}
		}
	}
}
