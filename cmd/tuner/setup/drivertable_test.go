package setup

import (
	"strings"
	"testing"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/exec"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/serial"
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

// TestDriversBoundsHold: bounds and words of a driver's keys stand in its tags alone, and a
// file that leaves them is refused key by key.
func TestDriversBoundsHold(t *testing.T) {
	for _, c := range []struct {
		options, channel any
		device, keys     string
		wrong            []string
	}{
		{ptr(serial.Default()), &serial.ChannelOptions{}, `driver = "serial"
port = ""
protocol = "odd"
baud = 1
parity = "mark"
data_bits = 9
read_timeout = "0s"
retries = -1
max_line = 1
address = 0
open_delay = "-1s"
halt_timeout = "0s"
errors = { out = "E?", ok = "0", most = 0 }`, `read.register = { function = 3, address = -1, type = "int8", order = "AB" }`,
			[]string{"port", "protocol", "baud", "parity", "data_bits", "read_timeout", "retries", "max_line", "address", "open_delay", "halt_timeout", "errors.most",
				"read.register.address", "read.register.type", "read.register.order"}},
		{ptr(mqtt.Default()), &mqtt.ChannelOptions{}, `driver = "mqtt"
broker = "tcp://h"
keep_alive = "0s"
ping_timeout = "0s"
halt_timeout = "-1s"`, `write = { topic = "w", ttl = "-1s", format = "xml" }
confirm = { topic = "c", timeout = "-1s" }
safe_tolerance = -1`, []string{"keep_alive", "ping_timeout", "halt_timeout", "write.ttl", "write.format", "confirm.timeout", "safe_tolerance"}},
		{ptr(exec.Default()), &exec.ChannelOptions{}, `driver = "exec"
command = ["x"]
reply_timeout = "0s"`, ``, []string{"reply_timeout"}},
	} {
		// The rest of the file is of no consequence here.
		text := "schema = 1\n[[device]]\nname = \"d\"\n" + c.device + "\n[device.channel.x]\n" + c.keys + "\n"
		cfg, _ := configs.Parse("d.toml", []byte(text), Known())
		d, ok := cfg.Device("d")
		if !ok {
			t.Fatalf("no device in %s", text)
		}
		problems := d.Decode(c.options)
		channel, _ := d.Channel("x")
		problems = append(problems, channel.Decode(c.channel)...)
		for _, key := range c.wrong {
			found := false
			for _, p := range problems {
				found = found || strings.HasSuffix(p.Key, "."+key)
			}
			if !found {
				t.Errorf("%s is not refused: %v", key, problems)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }
