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
