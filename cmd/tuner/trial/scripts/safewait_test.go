package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// heaterFile has a child with an actuator, whose answers may take so long.
const heaterFile = `schema = 1
name = "heater"
[[device]]
name = "heater"
driver = "%DRIVER%"
%KEYS%
[objective]
sensor = "temperature"
[[sensor]]
name = "temperature"
unit = "degC"
range = [0.0, 100.0]
device = "heater"
channel = "temperature"
max_age = "10s"
[[variable]]
name = "power"
unit = "W"
range = [0.0, 10.0]
device = "heater"
channel = "power"
readback = { tolerance = 0.1 }
[safety]
%SAFETY%
[safety.variable.power]
hard = [0.0, 10.0]
slew = 1.0
safe = 0.0
[[control_set]]
variables = ["power"]
cost = 1.0
[cost]
unit = "1"
[policy]
kind = "random"
[stop]
steps = 10
`

// second is another actuator on the same line.
const second = `[[variable]]
name = "fan"
unit = "W"
range = [0.0, 10.0]
device = "heater"
channel = "fan"
readback = { tolerance = 0.1 }
[safety.variable.fan]
hard = [0.0, 10.0]
slew = 1.0
safe = 0.0
[device.channel.fan]
read = { out = "F?", in = "%f" }
write = { out = "F %.2f", ack = "OK" }
`

const (
	execKeys   = "command = [\"./heater\"]\nreply_timeout = \"%T%\"\n"
	serialKeys = "port = \"/dev/ttyX\"\nreply_timeout = \"%T%\"\n[device.channel.power]\nread = { out = \"P?\", in = \"%f\" }\nwrite = { out = \"P %.2f\", ack = \"OK\" }\n" +
		"[device.channel.temperature]\nread = { out = \"T?\", in = \"%f\"%MORE% }\n"
	mqttKeys = "broker = \"tcp://127.0.0.1:1883\"\n[device.channel.power]\nread = { topic = \"p\" }\nwrite = { topic = \"p/set\" }\nconfirm = { topic = \"p/ok\", timeout = \"%T%\" }\n" +
		"[device.channel.temperature]\nread = { topic = \"t\" }\n"
)

// TestSafeWait: a request may not take longer than a safe value may wait for it; how long
// that is, check says; MQTT overtakes, and wants a lease.
func TestSafeWait(t *testing.T) {
	for _, c := range []struct {
		name, driver, keys, timeout, more, safety string
		code                                      int
		want                                      []string
	}{
		{"exec", "exec", execKeys, "2s", "", "", 0, []string{"heater  exec    for the request under way, 2s at most"}},
		{"exec that hangs", "exec", execKeys, "1s", "", "", 0, []string{"where the child hangs, until it has ended (4s at most) and another has started"}},
		{"exec too long", "exec", execKeys, "3s", "", "", 3,
			[]string{"heater.toml:7: device.heater.reply_timeout: 3s is longer than safe_wait of [safety] (2s)", `write safe_wait = "3s"`}},
		{"exec allowed", "exec", execKeys, "3s", "", `safe_wait = "3s"`, 0, []string{"3s at most"}},
		{"serial", "serial", serialKeys, "1s", "", "", 0, []string{"heater  serial  for the request under way, 1.6s at most"}},
		{"serial too long", "serial", serialKeys, "2500ms", "", "", 3, []string{"heater.toml:7: device.heater.reply_timeout: 2.5s is longer"}},
		{"a read of the same line", "serial", serialKeys, "1s", `, timeout = "9s"`, "", 3, []string{"heater.toml:12: device.heater.channel.temperature.read.timeout: 9s is longer"}},
		{"a lease that readings outlast", "serial", serialKeys, "100ms", "", "", 0,
			[]string{"safety.variable.power.lease  1.5s may run out: the readings of device \"heater\" may take 600ms ((1 + retries) x reply_timeout x 2 channels that are read)",
				"a third of the lease (500ms)", "a lease of 1.8s or more"}},
		{"a channel that is slow", "serial", serialKeys, "10ms", `, timeout = "400ms"`, "", 0, []string{"the readings of device \"heater\" may take 1.2s"}},
		{"a child and its lease", "exec", execKeys, "600ms", "", "", 0, []string{"the readings of device \"heater\" may take 600ms (reply_timeout)"}},
		{"a lease that can be kept", "serial", serialKeys, "80ms", "", "", 0, []string{"!may run out"}},
		{"mqtt", "mqtt", mqttKeys, "1h", "", "", 0, []string{"heater  mqtt    for nothing: it overtakes what is under way", "power: set over MQTT without a lease",
			"over a link that has died without a sign it leaves again after 2s", "an interlock over MQTT may be silent for 10s"}},
		{"mqtt, exposed", "mqtt", mqttKeys, "1s", "", "", 0, []string{"held, at most 5  heater.power", "above 5 W for 10s at most"}},
		{"serial has no broker", "serial", serialKeys, "1s", "", "", 0, []string{"!an interlock over MQTT", "!the last of its actuators"}},
		{"two on one line", "serial", serialKeys, "1s", "", "", 0, []string{"for the request under way, 1.6s at most; the last of its actuators, which are told one after the other, 3.2s",
			"device.heater  its actuators get their safe values one after the other; the last may wait 3.2s, longer than safe_wait of [safety] (2s)"}},
		{"two on one line, allowed", "serial", serialKeys, "1s", "", `safe_wait = "3200ms"`, 0, []string{"one after the other, 3.2s", "!the last may wait"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			lease := ""
			keys := strings.NewReplacer("%T%", c.timeout, "%MORE%", c.more).Replace(c.keys)
			if strings.Contains(c.name, "lease") || strings.Contains(c.name, "slow") {
				lease = "lease = \"1500ms\"\n"
			}
			if strings.Contains(c.name, "exposed") {
				lease = "on_fault = \"safe\"\nexposure = { above = 5.0, time = \"10s\" }\n"
			}
			text := strings.NewReplacer("%DRIVER%", c.driver, "%KEYS%\n", keys, "%SAFETY%", c.safety, "safe = 0.0\n", "safe = 0.0\n"+lease).Replace(heaterFile)
			if strings.Contains(c.name, "two") {
				text += second
			}
			if c.driver == "mqtt" {
				text += "[[safety.interlock]]\nsensor = \"temperature\"\nrange = [0.0, 90.0]\n"
			}
			if err := os.WriteFile(filepath.Join(".", "heater.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			e, out, errOut, _ := hosttest.Env("check", "heater.toml")
			code := commands.Execute(t.Context(), e)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if says := out.String() + errOut.String(); strings.HasPrefix(want, "!") && strings.Contains(says, want[1:]) {
					t.Errorf("%q is in\n%s", want[1:], says)
				} else if !strings.HasPrefix(want, "!") && !strings.Contains(says, want) {
					t.Errorf("%q is not in\n%s", want, says)
				}
			}
		})
	}
}
