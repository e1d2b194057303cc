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
