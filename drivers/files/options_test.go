package files

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/drivers"
)

func TestOptionsProblems(t *testing.T) {
	for want, change := range map[string]func(*Options, []ChannelOptions){
		`input is "a/b" and must be the name of a file`:                     func(o *Options, _ []ChannelOptions) { o.Input = "a/b" },
		`output is "" and must be`:                                          func(o *Options, _ []ChannelOptions) { o.Output = "" },
		`input and output are both "exp_input.txt"`:                         func(o *Options, _ []ChannelOptions) { o.Output = o.Input },
		`style is "json" and must be "array" or "list"`:                     func(o *Options, _ []ChannelOptions) { o.Style = "json" },
		`cost_unit is empty`:                                                func(o *Options, _ []ChannelOptions) { o.CostUnit = "" },
		`quiet is 0s and must be above 0s`:                                  func(o *Options, _ []ChannelOptions) { o.Quiet = 0 },
		`parameters is empty`:                                               func(o *Options, _ []ChannelOptions) { o.Parameters = nil },
		`parameter "power" has no section; add [device.channel.power]`:      func(o *Options, _ []ChannelOptions) { o.Parameters = append(o.Parameters, "power") },
		`parameters names "current" twice`:                                  func(o *Options, _ []ChannelOptions) { o.Parameters[1] = "current" },
		`channel "detuning" is none of the parameters, current`:             func(o *Options, _ []ChannelOptions) { o.Parameters = o.Parameters[:1] },
		`a parameter is called "cost"`:                                      func(o *Options, _ []ChannelOptions) { o.Parameters[0] = "cost" },
		`channel "detuning" has no unit`:                                    func(_ *Options, c []ChannelOptions) { c[0].Unit = "" },
		`channel "detuning" has no start`:                                   func(_ *Options, c []ChannelOptions) { c[0].Start = nil },
		`channel "current": start (9 A) must lie within its limits, 0 to 2`: func(_ *Options, c []ChannelOptions) { c[1].Start = number(9) },
		`channel "current": min (3 A) must be below max (2 A)`:              func(_ *Options, c []ChannelOptions) { c[1].Min = number(3) },
	} {
		o, channels := parameters()
		change(&o, channels)
		if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestSample: the sample's keys are the options', its commented lines the defaults.
func TestSample(t *testing.T) {
	text, err := os.ReadFile("sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (Options, []ChannelOptions) {
		var file struct {
			Device []struct {
				Name, Driver string
				Options
				Channel map[string]ChannelOptions
			}
		}
		meta, err := toml.Decode(text, &file)
		if err != nil || len(meta.Undecoded()) > 0 {
			t.Fatalf("sample.toml: %v, keys that are no options: %v", err, meta.Undecoded())
		}
		var channels []ChannelOptions
		for name, c := range file.Device[0].Channel {
			c.Channel = name
			channels = append(channels, c)
		}
		return file.Device[0].Options, channels
	}
	o, channels := read(string(text))
	all := Default()
	all.Parameters = o.Parameters
	if _, err := New(all, channels, drivers.Env{Clock: wall{}}); err != nil {
		t.Errorf("sample.toml: %v", err)
	}
	got, _ := read(regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(string(text), "$1"))
	all.Folder = "." // absent means the same
	if !reflect.DeepEqual(got, all) {
		t.Errorf("sample.toml shows the defaults %+v; they are %+v", got, all)
	}
}
