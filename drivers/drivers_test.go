package drivers

import (
	"errors"
	"testing"
)

// A dose has a name and stands alone; nothing else goes to a channel of doses.
func TestCheckDose(t *testing.T) {
	pump, heater := Channel{Name: "pump", Dose: true}, Channel{Name: "heater"}
	one, two := map[string]float64{"pump": 1}, map[string]float64{"pump": 1, "heater": 2}
	for _, c := range []struct {
		set     Setpoints
		channel Channel
		taken   bool
	}{
		{Setpoints{Dose: "a", Values: one}, pump, true},
		{Setpoints{Values: two}, heater, true},
		{Setpoints{Values: two, Release: []string{"fan"}}, heater, true},
		{Setpoints{Values: one}, pump, false},
		{Setpoints{Dose: "a", Values: two}, heater, false},
		{Setpoints{Dose: "a", Values: two}, pump, false},
		{Setpoints{Dose: "a", Values: one, Release: []string{"fan"}}, pump, false},
	} {
		if err := c.set.CheckDose(c.channel); (err == nil) != c.taken || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%+v to %s: %v; taken should be %v", c.set, c.channel.Name, err, c.taken)
		}
	}
}
