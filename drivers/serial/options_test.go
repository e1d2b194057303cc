package serial

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// TestOptionProblems: what does not fit together is named, all of it at once.
func TestOptionProblems(t *testing.T) {
	o, channels := abOptions()
	o.ReconnectMin, o.ReconnectMax = o.ReconnectMax, o.ReconnectMin
	o.Identify = &text.Identify{Out: "ID?\n", Match: "("}
	o.Spoil = ptr("\x18\n")
	o.Init = []text.Exchange{{}}
	o.Expect = &modbus.Expect{}
	channels[0].Read.In = "A=%x"
	channels[1].Write.Out = "B"
	channels[2].Read.In = "%f %f"
	channels = append(channels, ChannelOptions{Channel: "a", Write: &Write{WriteKeys: text.WriteKeys{Out: "%f"}}}, ChannelOptions{Channel: "q"},
		ChannelOptions{Channel: "r", Read: &Read{ReadKeys: text.ReadKeys{Out: "R", In: "%f"}}, ScaleKeys: drivers.ScaleKeys{Safe: ptr(1.0)}},
		ChannelOptions{Channel: "u", Write: &Write{WriteKeys: text.WriteKeys{Out: "U %f"}}, ScaleKeys: drivers.ScaleKeys{Min: ptr(2.0), Max: ptr(1.0)}},
		ChannelOptions{Channel: "v", Read: &Read{ReadKeys: text.ReadKeys{Out: "V", In: "%f"}}, ScaleKeys: drivers.ScaleKeys{Scale: ptr(0.0)}})
	_, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"reconnect_min is 10s", "identify.out: \"ID?\\n\" holds the terminator",
		"identify: \"(\" is no regular expression", "spoil is", "init.0.out: is empty", "expect is for protocol",
		`channel "a": is listed twice`, `channel "q": has neither read nor write`, `channel "r": has safe = 1 but no write`,
		`channel "u": min is 2 and max 1`, `channel "v": scale is 0`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
	o, channels = abOptions()
	channels[0].Read.In, channels[1].Write.Out, channels[2].Read.In = "A=%x", "B", "%f %f"
	_, err = New(o, channels, drivers.Env{Clock: wall{}})
	for _, want := range []string{`channel "a": read.in: "A=%x": %x is not taken`, `channel "b": write.out: "B" must have one conversion`, `channel "s": read.in: "%f %f" has 2 values`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
}

func TestModbusOptionProblems(t *testing.T) {
	for want, change := range map[string]func(*Options, []ChannelOptions){
		"identify describes lines":                   func(o *Options, _ []ChannelOptions) { o.Identify = &text.Identify{Out: "A", Match: "B"} },
		"data_bits is 7":                             func(o *Options, _ []ChannelOptions) { o.DataBits = 7 },
		"function is 6 and must be one of [1 2 3 4]": func(_ *Options, c []ChannelOptions) { c[0].Read.Register.Function = 6 },
		"function 6 writes one register": func(_ *Options, c []ChannelOptions) {
			c[1].Write.Register.Function = 6
		},
		"address is 65535":               func(_ *Options, c []ChannelOptions) { c[1].Read.Register.Address = 65535 },
		"read has no register":           func(_ *Options, c []ChannelOptions) { c[0].Read.Register = nil },
		"read has out, in or none":       func(_ *Options, c []ChannelOptions) { c[0].Read.Out = "A?" },
		"has release":                    func(_ *Options, c []ChannelOptions) { c[0].Release = &text.Exchange{Out: "X"} },
		"does not fit into int16":        func(_ *Options, c []ChannelOptions) { c[0].Max = ptr(1e6) },
		"expect.register: function is 6": func(o *Options, _ []ChannelOptions) { o.Expect.Register.Function = 6 },
	} {
		o, channels := ovenOptions()
		change(&o, channels)
		if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestSample: the sample's keys are the options', its commented lines the defaults.
func TestSample(t *testing.T) {
	sample, err := os.ReadFile("sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (Options, []ChannelOptions) {
		var file struct {
			Device []struct {
				Name   string
				Driver string
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
	o, channels := read(string(sample))
	all := Default()
	all.Port, all.Identify, all.Init, all.Halt = o.Port, o.Identify, o.Init, o.Halt
	if _, err := New(all, channels, drivers.Env{Clock: wall{}}); err != nil {
		t.Errorf("sample.toml: %v", err)
	}
	o, _ = read(regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(string(sample), "$1"))
	got, want := reflect.ValueOf(o), reflect.ValueOf(Default().filled())
	compared := 0
	for _, f := range reflect.VisibleFields(got.Type()) {
		switch key := f.Tag.Get("toml"); key {
		case "", "profile", "port", "identify", "init", "halt", "errors", "address", "expect", "in_terminator", "out_terminator", "-":
		default:
			compared++
			if g, w := reflect.Indirect(got.FieldByIndex(f.Index)).Interface(), reflect.Indirect(want.FieldByIndex(f.Index)).Interface(); g != w {
				t.Errorf("sample.toml shows %s = %v; the default is %v", key, g, w)
			}
		}
	}
	if compared < 15 {
		t.Errorf("%d keys were compared", compared)
	}
	if o.Errors == nil || o.Errors.Most != text.ErrorsMost {
		t.Errorf("sample.toml shows errors.most as %+v; the default is %d", o.Errors, text.ErrorsMost)
	}
}

// TestReadmeExamples: every device that the README shows can be made.
func TestReadmeExamples(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(text, -1)
	for _, block := range blocks {
		var file struct {
			Device []struct {
				Name, Driver, Profile string
			}
		}
		if _, err := toml.Decode(string(block[1]), &file); err != nil || len(file.Device) != 1 {
			t.Fatalf("%s: %v", block[1], err)
		}
		o, channels, err := fromProfile(file.Device[0].Profile)
		if err != nil {
			t.Fatal(err)
		}
		var full struct {
			Device []struct {
				Name, Driver string
				*Options
				Channel map[string]ChannelOptions
			}
		}
		meta, err := toml.Decode(string(block[1]), &full)
		if err != nil || len(meta.Undecoded()) > 0 {
			t.Fatalf("%s: %v, unknown %v", block[1], err, meta.Undecoded())
		}
		own := full.Device[0].Options
		o.Port = own.Port
		if own.Protocol != "" {
			o.Protocol = own.Protocol
		}
		o.Expect, o.Identify, o.Terminator = own.Expect, own.Identify, own.Terminator
		for name, c := range full.Device[0].Channel {
			c.Channel = name
			channels = append(channels, c)
		}
		if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err != nil {
			t.Errorf("%s: %v", block[1], err)
		}
	}
	if len(blocks) != 3 {
		t.Errorf("the README has %d examples, and the test knows 3", len(blocks))
	}
}
