package configs

import (
	"fmt"
	"strings"
	"testing"
)

// oven is the smallest file with a program that says what it is: twelve lines.
const oven = `schema = 1
name = "oven"
objective = { sensor = "yield" }
policy = { kind = "irgp-ucb" }
stop = { steps = 14 }
device = [{ name = "oven", driver = "exec", command = ["python3", "oven.py"] }]
sensor = [{ name = "yield", device = "oven", max_age = "1s" }]
variable = [
  { name = "power", device = "oven" },
]
[safety.variable]
power = { slew = 50 }
`

// ovenSays is what the program says.
func ovenSays(change func(power *Declared)) []Declared {
	f := func(v float64) *float64 { return &v }
	power := Declared{Device: "oven", Channel: "power", Unit: "W", Min: f(0), Max: f(10), Safe: f(0), Resolution: f(0.1), Accuracy: f(0.05)}
	change(&power)
	return []Declared{power, {Device: "oven", Channel: "yield", Unit: "g", Min: f(-50), Max: f(50)}}
}

func unchanged(*Declared) {}

// What a device says stands in for what the file leaves out, is shown with where it comes from, and
// is found again in the text.
func TestDeclaredCompletes(t *testing.T) {
	c, err := Parse("oven.toml", []byte(oven), known())
	if err == nil || len(c.Asks) != 7 || len(c.Left(err.(*Error).Problems)) != 0 || strings.Count(oven, "\n") != 12 {
		t.Fatalf("asks %v, %v", c.Asks, err)
	}
	for _, p := range err.(*Error).Problems {
		if !strings.Contains(p.Hint, "tuner check --probe") {
			t.Errorf("%v", p)
		}
	}
	text, err := WithDeclared([]byte(oven), ovenSays(unchanged))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{text, append([]byte(oven), DeclaredIn(text)...)} {
		c, err = Parse("oven.toml", text, known())
		if err != nil || len(c.Asks) != 0 {
			t.Fatalf("%v %v", c.Asks, err)
		}
		v, own := c.Variables[0], c.Safety.Variables["power"]
		if v.Channel != "power" || v.Unit != "W" || v.Range != (Range{Lo: 0, Hi: 10}) || *v.Resolution != 0.1 || fmt.Sprint(v.Readback.Tolerance) != "0.15000000000000002" ||
			own.Hard != v.Range || own.Safe != 0 || c.Sensors[0].Unit != "g" || c.Sensors[0].Range != (Range{Lo: -50, Hi: 50}) {
			t.Errorf("%+v %+v %+v", v, own, c.Sensors[0])
		}
		from := map[string]string{}
		for _, s := range c.Effective() {
			from[s.Key] = s.Origin
		}
		if from["variable.power.unit"] != "device oven says so" || from["variable.power.channel"] != "the variable's name" || from["safety.variable.power.slew"] != "oven.toml:12" {
			t.Errorf("%v", from)
		}
	}
}

// A file may narrow what a device says, and not contradict it.
func TestDeclaredIsNarrowed(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`power = { slew = 50 }`, `power = { slew = 50, hard = [1, 5], safe = 2 }`, ""},
		{`{ name = "power"`, `{ range = [1, 5], name = "power"`, ""},
		{`{ name = "power"`, `{ unit = "W", resolution = 0.2, readback = { tolerance = 0.3 }, name = "power"`, ""},
		{`{ name = "power"`, `{ unit = "kW", name = "power"`, `variable.power.unit: "kW" is not the device's unit, "W" (device oven says so)`},
		{`{ name = "power"`, `{ range = [1, 11], name = "power"`, `variable.power.range: [1, 11] reaches beyond what the device accepts, [0, 10]`},
		{`power = { slew = 50 }`, `power = { slew = 50, hard = [-1, 10] }`, `safety.variable.power.hard: [-1, 10] reaches beyond what the device accepts`},
		{`{ name = "power"`, `{ resolution = 0.05, name = "power"`, `variable.power.resolution: 0.05 is finer than the device's, 0.1`},
		{`{ name = "yield"`, `{ unit = "kg", name = "yield"`, `sensor.yield.unit: "kg" is not the device's unit, "g"`},
		{`power = { slew = 50 }`, `power = { hard = [0, 5] }`, `safety.variable.power.slew: missing`},
	} {
		text, err := WithDeclared([]byte(strings.Replace(oven, c.old, c.new, 1)), ovenSays(unchanged))
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := Parse("oven.toml", text, known())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
		if c.want == "" && !cfg.Safety.Variables["power"].Hard.Covers(cfg.Variables[0].Range) {
			t.Errorf("%s: range %v, hard %v", c.new, cfg.Variables[0].Range, cfg.Safety.Variables["power"].Hard)
		}
	}
	// What the device does not say is missing, and is not asked for again.
	text, err := WithDeclared([]byte(oven), ovenSays(func(d *Declared) { d.Safe, d.Resolution, d.Accuracy = nil, nil, nil }))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("oven.toml", text, known())
	if err == nil || len(c.Asks) != 0 || !strings.Contains(err.Error(), "safety.variable.power.safe: missing") || !strings.Contains(err.Error(), "variable.power.readback: missing") {
		t.Errorf("%v %v", c.Asks, err)
	}
}
