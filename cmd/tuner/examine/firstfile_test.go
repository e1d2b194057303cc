package examine

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
)

// Of more than ten knobs a first file has the kind that finds the few that act.
func TestFirstFileOfManyKnobs(t *testing.T) {
	one := Instrumented{Driver: "exec", Discovered: drivers.Discovered{Name: "wall"}}
	channel := func(name string, access drivers.Access) {
		var c drivers.DiscoveredChannel
		c.Name, c.Unit, c.Access, c.Min, c.Max, c.Safe, c.Known = name, "V", access, 0, 10, math.NaN(), true
		one.Channels = append(one.Channels, c)
	}
	channel("light", drivers.ReadOnly)
	for i := range 12 {
		channel(fmt.Sprintf("mirror%d", i), drivers.ReadWrite)
	}
	for knobs, want := range map[int]string{2: `kind = "irgp-ucb"`, 10: `kind = "irgp-ucb"`, 11: `kind = "ei"`, 12: `kind = "ei"`} {
		p := Purpose{Name: "wall", Objective: "wall.light", Steps: 60}
		for i := range knobs {
			p.Knobs = append(p.Knobs, fmt.Sprintf("wall.mirror%d", i))
		}
		text, err := FirstFile([]Instrumented{one}, p)
		if err != nil || !strings.Contains(text, "policy = { "+want) {
			t.Errorf("%d knobs (%v): no %s in\n%s", knobs, err, want, text)
		}
	}
}

// A knob whose range spans more than thirty times has the logarithmic scale to take, and no other has.
func TestFirstFileOfAWideRange(t *testing.T) {
	one := Instrumented{Driver: "exec", Discovered: drivers.Discovered{Name: "wall"}}
	for name, low := range map[string]float64{"light": 0, "wide": 1, "narrow": 40, "zero": 0} {
		var c drivers.DiscoveredChannel
		c.Name, c.Unit, c.Access, c.Min, c.Max, c.Safe, c.Known = name, "V", drivers.ReadWrite, low, 1000, math.NaN(), true
		one.Channels = append(one.Channels, c)
	}
	for name, want := range map[string]bool{"wide": true, "narrow": false, "zero": false} {
		text, err := FirstFile([]Instrumented{one}, Purpose{Name: "wall", Objective: "light", Steps: 60, Knobs: []string{name}})
		if got := strings.Contains(text, `# scale = "log"   # its range spans 1000 times`); err != nil || got != want {
			t.Errorf("%s (%v): %v, want %v in\n%s", name, err, got, want, text)
		}
	}
}

// A knob that is the objective, or is given twice, is refused by name.
func TestFirstFileRefusesAKnobThatIsTaken(t *testing.T) {
	one := Instrumented{Driver: "exec", Discovered: drivers.Discovered{Name: "wall"}}
	for _, name := range []string{"left", "right"} {
		var c drivers.DiscoveredChannel
		c.Name, c.Unit, c.Access, c.Min, c.Max, c.Safe, c.Known = name, "V", drivers.ReadWrite, 0, 10, math.NaN(), true
		one.Channels = append(one.Channels, c)
	}
	for want, knobs := range map[string][]string{
		"--knob left: it is the objective":     {"right", "left"},
		"--knob wall.right: it is given twice": {"right", "wall.right"},
	} {
		_, err := FirstFile([]Instrumented{one}, Purpose{Name: "wall", Objective: "left", Steps: 60, Knobs: knobs})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", knobs, err, want)
		}
	}
}
