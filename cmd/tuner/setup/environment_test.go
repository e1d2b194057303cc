package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/worker"
)

const brokerFile = `schema = 1
name = "oven"
[[device]]
name = "oven"
driver = "mqtt"
broker = "tcp://127.0.0.1:1"
username = "lab"
password_env = "OVEN_PASSWORD"
connect_timeout = "1s"
[device.channel.temperature]
read = { topic = "oven/temperature" }
[device.channel.power]
write = { topic = "oven/power" }
read = { topic = "oven/power/now" }
[objective]
sensor = "temperature"
[[sensor]]
name = "temperature"
unit = "degC"
range = [0.0, 100.0]
device = "oven"
channel = "temperature"
max_age = "10s"
[[variable]]
name = "power"
unit = "W"
range = [0.0, 10.0]
device = "oven"
channel = "power"
readback = { tolerance = 0.1 }
[safety.variable.power]
hard = [0.0, 10.0]
slew = 1.0
safe = 0.0
lease = "10s"
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

// A device reads its password from the environment that the command was given, and from no
// other.
func TestPasswordComesFromTheGivenEnvironment(t *testing.T) {
	const variable = "OVEN_PASSWORD"
	file := filepath.Join(t.TempDir(), "oven.toml")
	if err := os.WriteFile(file, []byte(brokerFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, given := range []bool{true, false} {
		asked := false
		e := &host.Env{Lookup: func(name string) (string, bool) {
			asked = asked || name == variable
			return "sesame", given && name == variable
		}}
		t.Setenv(variable, "of the process")
		s, err := Load(file, e)
		if err != nil {
			t.Fatal(err)
		}
		dev, err := s.Devices[0].Build(drivers.Env{Clock: worker.RealClock{}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = dev.Open(t.Context())
		if !asked || err == nil {
			t.Errorf("given %v: asked %v, error %v", given, asked, err)
		}
		if missing := err != nil && strings.Contains(err.Error(), variable); missing == given {
			t.Errorf("given %v: %v", given, err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}
