package configs

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// driverOptions is what a driver might declare, in a package that knows nothing
// of this one.
type driverOptions struct {
	Port    string             `toml:"port" required:"true" doc:"the port"`
	Baud    uint32             `toml:"baud" bound:">= 1" doc:"speed"`
	Timeout time.Duration      `toml:"reply_timeout" bound:"> 0s" doc:"wait for an answer"`
	Parity  string             `toml:"parity" enum:"none,even,odd" doc:"parity bit"`
	Command []string           `toml:"command" doc:"words"`
	Env     map[string]string  `toml:"env" doc:"variables"`
	Gains   map[string]float64 `toml:"gains" doc:"numbers"`
	Probe   *driverProbe       `toml:"identify" doc:"how to tell the device"`
	Steps   []driverProbe      `toml:"init" doc:"what to send first"`
	Retries *int               `toml:"retries" bound:">= 0" doc:"how often to try again"`
	Base    string             `toml:"-"`
	hidden  int
}

type driverProbe struct {
	Out   string `toml:"out" required:"true" doc:"what to send"`
	Match string `toml:"match" doc:"what must come back"`
}

const deviceText = `schema = 1
name = "bench"
objective.sensor = "power"
stop.steps = 3
policy.kind = "random"

[[sensor]]
name = "power"
unit = "W"
device = "meter"
channel = "p"
range = [0, 1]
max_age = "1s"

[[variable]]
name = "gap"
unit = "mm"
range = [0, 1]
device = "meter"
channel = "z"
readback.tolerance = 0.1

[safety.variable.gap]
hard = [0, 1]
slew = 1
safe = 0

[[device]]
name = "meter"
driver = "serial"
port = "/dev/ttyUSB0"
reply_timeout = "2s"
command = ["a", "b"]
env = { A = "1" }
gains = { x = 1, y = 2.5 }
identify = { out = "*IDN?" }
init = [
  { out = "one" },
  { out = "two", match = "ok" },
]

[device.channel.z]
out = "Z %f"
[device.channel.p]
out = "P?"
match = "P=%f"
`

func deviceConfig(t *testing.T, replace ...string) *Config {
	t.Helper()
	c, err := Parse("bench.toml", []byte(strings.NewReplacer(replace...).Replace(deviceText)), known())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDeviceDecode(t *testing.T) {
	c := deviceConfig(t)
	d, ok := c.Device("meter")
	if !ok || d.Driver != "serial" || d.Line != 28 {
		t.Fatalf("device %+v, %v", d, ok)
	}
	got := driverOptions{Baud: 9600, Parity: "none", Base: "/etc", hidden: 7}
	if problems := d.Decode(&got); problems != nil {
		t.Fatal(problems)
	}
	want := driverOptions{
		Port: "/dev/ttyUSB0", Baud: 9600, Timeout: 2 * time.Second, Parity: "none", Base: "/etc", hidden: 7,
		Command: []string{"a", "b"}, Env: map[string]string{"A": "1"}, Gains: map[string]float64{"x": 1, "y": 2.5},
		Probe: &driverProbe{Out: "*IDN?"}, Steps: []driverProbe{{Out: "one"}, {Out: "two", Match: "ok"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	channels := d.Channels()
	if len(channels) != 2 || channels[0].Name != "z" || channels[0].Line != 42 || channels[1].Name != "p" || channels[1].Line != 44 {
		t.Fatalf("channels %+v", channels)
	}
	var p driverProbe
	if problems := channels[1].Decode(&p); problems != nil || p != (driverProbe{"P?", "P=%f"}) {
		t.Errorf("channel %+v, %v", p, problems)
	}
}

func TestDeviceProblemsHaveLines(t *testing.T) {
	c := deviceConfig(t,
		`port = "/dev/ttyUSB0"`, `prot = "/dev/ttyUSB0"`,
		`reply_timeout = "2s"`, `reply_timeout = "0s"`+"\nbaud = -1\nparity = \"evne\"\nretries = 1.5",
		`{ out = "one" }`, `{ uot = "one" }`,
		`gains = { x = 1`, `gains = { x = nan`,
		`match = "P=%f"`, `mach = 3`)
	d, _ := c.Device("meter")
	var options driverOptions
	problems := d.Decode(&options)
	for i := range d.Channels() {
		problems = append(problems, d.Channels()[i].Decode(&driverProbe{})...)
	}
	problems = append(problems, d.Problem("identify.out", "said nothing", ""), d.Channels()[1].Problem("out", "is odd", "make it even"))
	err := NewError(problems...)
	want := `bench.toml:31: device.meter.prot: unknown key
bench.toml:32: device.meter.reply_timeout: must be > 0s, got 0s
bench.toml:33: device.meter.baud: must be >= 1, got -1
bench.toml:34: device.meter.parity: must be "none", "even" or "odd", got "evne"
bench.toml:35: device.meter.retries: must be a whole number, got 1.5
bench.toml:38: device.meter.gains.x: must be a finite number, got nan
bench.toml:39: device.meter.identify.out: said nothing
bench.toml:41: device.meter.init.1.uot: unknown key
bench.toml:48: device.meter.channel.p.out: is odd
bench.toml:49: device.meter.channel.p.mach: unknown key`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if options.Retries != nil {
		t.Errorf("a key that could not be read is set: %v", *options.Retries)
	}
}

func TestDecodeWantsPointerToStruct(t *testing.T) {
	d, _ := deviceConfig(t).Device("meter")
	for _, dst := range []any{nil, driverOptions{}, new(int), (*driverOptions)(nil)} {
		if problems := d.Decode(dst); len(problems) != 1 || problems[0].Line != 28 {
			t.Errorf("Decode(%T): %v", dst, problems)
		}
	}
}

// TestUndeclaredDevice: a Device that was made in memory has no keys and no lines.
func TestUndeclaredDevice(t *testing.T) {
	d := Device{Name: "made", Driver: "sim"}
	problems := d.Decode(&driverOptions{})
	if len(problems) != 1 || problems[0].Line != 0 || !strings.Contains(problems[0].What, "missing") {
		t.Errorf("problems %v", problems)
	}
}
