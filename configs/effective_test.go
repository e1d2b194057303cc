package configs

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/configs/internal/schema"
)

func settingOf(t *testing.T, list []Setting, key string) Setting {
	t.Helper()
	i := slices.IndexFunc(list, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		t.Fatalf("no setting %q", key)
	}
	return list[i]
}

func TestEffectiveSaysValueAndOrigin(t *testing.T) {
	c := deviceConfig(t)
	list := c.Effective()
	for _, want := range []Setting{
		{Key: "name", Value: `"bench"`, Origin: "bench.toml:2"},
		{Key: "tick", Value: `"100ms"`, Origin: "default"},
		{Key: "objective.sensor", Value: `"power"`, Origin: "bench.toml:3"},
		{Key: "objective.timeout", Value: `"10s"`, Origin: "default"},
		{Key: "sensor.power.range", Value: "[0.0, 1.0]", Origin: "bench.toml:12"},
		{Key: "variable.gap.readback.tolerance", Value: "0.1", Origin: "bench.toml:21"},
		{Key: "variable.gap.readback.timeout", Value: `"5s"`, Origin: "default"},
		{Key: "safety.variable.gap.slew", Value: "1.0", Origin: "bench.toml:25"},
		{Key: "device.meter.env.A", Value: `"1"`, Origin: "bench.toml:34"},
		{Key: "device.meter.channel.p.match", Value: `"P=%f"`, Origin: "bench.toml:46"},
	} {
		if got := settingOf(t, list, want.Key); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	for _, s := range list {
		if strings.HasPrefix(s.Key, "mqtt") || s.Key == "objective.formula" || s.Key == "device.meter.baud" {
			t.Errorf("%s is absent, yet listed as %s", s.Key, s.Value)
		}
	}
	if again := c.Effective(); !slices.Equal(list, again) {
		t.Error("the list differs from call to call")
	}
}

// TestEffectiveHasDriverDefaults: once a driver has read its keys, its defaults
// are part of the list.
func TestEffectiveHasDriverDefaults(t *testing.T) {
	c := deviceConfig(t)
	d, _ := c.Device("meter")
	options := driverOptions{Baud: 9600}
	if problems := d.Decode(&options); problems != nil {
		t.Fatal(problems)
	}
	options.Baud = 1 // what a driver does with its options later is not the file's
	list := c.Effective()
	for _, want := range []Setting{
		{Key: "device.meter.baud", Value: "9600", Origin: "default"},
		{Key: "device.meter.reply_timeout", Value: `"2s"`, Origin: "bench.toml:32"},
		{Key: "device.meter.init.2.match", Value: `"ok"`, Origin: "bench.toml:39"},
		{Key: "device.meter.channel.p.out", Value: `"P?"`, Origin: "bench.toml:45"},
	} {
		if got := settingOf(t, list, want.Key); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestEffectiveCoversTheFile: every key of every sample is listed with its own
// line, and every value reads back as TOML.
func TestEffectiveCoversTheFile(t *testing.T) {
	for _, s := range Samples() {
		c, err := Parse(s.Name+".toml", s.Text, known())
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		lines := strings.Split(string(s.Text), "\n")
		for _, setting := range c.Effective() {
			if _, err := toml.Decode("v = "+setting.Value, &map[string]any{}); err != nil {
				t.Errorf("%s: value of %s is not TOML: %v", s.Name, setting.Key, err)
			}
			if setting.Origin == schema.OriginDefault {
				continue
			}
			listed[setting.Origin] = true
			n, _ := strconv.Atoi(strings.TrimPrefix(setting.Origin, s.Name+".toml:"))
			last := setting.Key[strings.LastIndexByte(setting.Key, '.')+1:]
			if n < 1 || n > len(lines) || !strings.Contains(lines[n-1], last+" = ") {
				t.Errorf("%s: %s is said to stand on %s: %q", s.Name, setting.Key, setting.Origin, lines[max(n-1, 0)])
			}
		}
		for i, line := range lines {
			if strings.Contains(line, " = ") && !strings.HasPrefix(line, "#") && !listed[s.Name+".toml:"+strconv.Itoa(i+1)] {
				t.Errorf("%s: line %d is not listed: %q", s.Name, i+1, line)
			}
		}
	}
}

// TestTomlStringReadsBack: text is quoted in TOML's way, not in Go's.
func TestTomlStringReadsBack(t *testing.T) {
	for _, want := range []string{"", "a b", "\"\\\n\r\t\b\x01\x7f", "é→😀\u2028", "\r\n"} {
		var got struct{ V string }
		if _, err := toml.Decode("V = "+schema.TomlString(want), &got); err != nil || got.V != want {
			t.Errorf("%q became %s, read back as %q (%v)", want, schema.TomlString(want), got.V, err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for text, want := range map[string]string{
		"336h": "336h", "90s": "1m30s", "60m": "1h", "1h0m5s": "1h0m5s", "0s": "0s", "250ms": "250ms", "10m": "10m", "20h": "20h", "-1h": "-1h",
	} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := schema.FormatDuration(d); got != want {
			t.Errorf("%s formatted as %s, want %s", text, got, want)
		}
	}
}
