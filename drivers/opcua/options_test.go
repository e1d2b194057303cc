package opcua

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// The sample's keys are the options', its commented lines the defaults.
func TestSample(t *testing.T) {
	text, err := os.ReadFile("sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	type section struct {
		Name   string
		Driver string
		Options
		Channel map[string]ChannelOptions
	}
	decode := func(text string) section {
		var file struct{ Device []section }
		meta, err := toml.Decode(text, &file)
		if err != nil || len(meta.Undecoded()) > 0 {
			t.Fatalf("sample.toml: %v, keys that are no options: %v", err, meta.Undecoded())
		}
		return file.Device[0]
	}
	s := decode(string(text))
	var channels []ChannelOptions
	for name, c := range s.Channel {
		c.Channel = name
		channels = append(channels, c)
	}
	o := Default()
	o.Endpoint = s.Endpoint
	if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err != nil {
		t.Errorf("sample.toml: %v", err)
	}
	all := decode(regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(string(text), "$1"))
	got, want := all.Options, Default()
	want.Endpoint = got.Endpoint
	for _, example := range []*string{&got.ServerCertFile, &got.CertFile, &got.KeyFile, &got.Username, &got.PasswordFile, &got.PasswordCred, &got.PasswordEnv} {
		if *example == "" {
			t.Error("an example of a key is missing")
		}
		*example = ""
	}
	if got.Endpoint, want.Password = want.Endpoint, nil; !same(got, want) {
		t.Errorf("sample.toml shows the defaults %+v; they are %+v", got, want)
	}
}

func same(a, b Options) bool {
	return a.Security == b.Security && a.Mode == b.Mode && a.Interval == b.Interval && a.Poll == b.Poll && a.ReplyTimeout == b.ReplyTimeout &&
		a.ConnectTimeout == b.ConnectTimeout && a.SessionTimeout == b.SessionTimeout && a.HaltTimeout == b.HaltTimeout && a.ClockTolerance == b.ClockTolerance
}

// Each mistake is told by its key.
func TestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Options, []ChannelOptions){
		`write opc.tcp://HOST:PORT/PATH`:               func(o *Options, _ []ChannelOptions) { o.Endpoint = "http://plc" },
		`endpoint holds a user or password`:            func(o *Options, _ []ChannelOptions) { o.Endpoint = "opc.tcp://a:b@plc" },
		`there is no key_file`:                         func(o *Options, _ []ChannelOptions) { o.Security = "Basic256Sha256" },
		`cert_file is "x", but security is "none"`:     func(o *Options, _ []ChannelOptions) { o.CertFile = "x" },
		`password_file is "x", but there is no`:        func(o *Options, _ []ChannelOptions) { o.PasswordFile = "x" },
		`the password could be read on the way to plc`: func(o *Options, _ []ChannelOptions) { o.Endpoint, o.Username = "opc.tcp://plc", "anna" },
		`kept in more than one place`: func(o *Options, _ []ChannelOptions) {
			o.Username, o.PasswordFile, o.PasswordEnv = "anna", "x", "X"
		},
		`read.node is "Laser.Energy" and no node id`: func(_ *Options, c []ChannelOptions) { c[1].Read.Node = "Laser.Energy" },
		`has safe = 1 but no write`: func(_ *Options, c []ChannelOptions) {
			one := 1.0
			c[1].Safe = &one
		},
		`has release but no write`: func(_ *Options, c []ChannelOptions) { c[0].Write = nil },
		`has no read`:              func(_ *Options, c []ChannelOptions) { c[1].Read = nil },
		`is listed twice`:          func(_ *Options, c []ChannelOptions) { c[1].Channel = "power" },
		`two channels would set one actuator`: func(_ *Options, c []ChannelOptions) {
			c[1].Write = &WriteNode{Node: "ns=1;s=power"}
		},
	} {
		o, channels := quick(4840), bench()
		change(&o, channels)
		if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// Every number that a node can hold is written as its own type and read as the same number.
func TestNumbers(t *testing.T) {
	for kind := ua.TypeIDBoolean; kind <= ua.TypeIDDouble; kind++ {
		v, err := variant(kind, 1)
		if err != nil || v.Type() != kind {
			t.Fatalf("1 as a %v: %v, %v", kind, v, err)
		}
		if x, err := number(v); err != nil || x != 1 {
			t.Errorf("1 as a %v and back: %v, %v", kind, x, err)
		}
		if b, isWhole := whole[kind]; isWhole {
			for _, x := range []float64{b.low, b.high} {
				v, err := variant(kind, x)
				if back, e := number(v); err != nil || e != nil || back != x {
					t.Errorf("%v as a %v and back: %v, %v, %v", x, kind, back, err, e)
				}
			}
			for _, x := range []float64{1.001*b.low - 1, 1.001*b.high + 1} {
				if v, err := variant(kind, x); err == nil {
					t.Errorf("%v as a %v: %v", x, kind, v)
				}
			}
		}
	}
	for _, bad := range []any{math.NaN(), math.Inf(1), "1", []float64{1}} {
		if x, err := number(ua.MustVariant(bad)); err == nil {
			t.Errorf("%v is the number %v", bad, x)
		}
	}
	if _, err := variant(ua.TypeIDFloat, 1e39); err == nil {
		t.Error("1e39 as single precision")
	}
	if _, err := variant(ua.TypeIDString, 1); err == nil {
		t.Error("1 as a text")
	}
}

// What the server says of a node narrows what the file says, and the other way round.
func TestDescriptionNarrows(t *testing.T) {
	file, err := parseChannels(bench())
	if err != nil {
		t.Fatal(err)
	}
	c := file[0]
	nodes := map[string]*described{}
	for _, n := range []*ua.NodeID{c.read, c.lease, c.release} {
		nodes[n.String()] = &described{kind: ua.TypeIDDouble, low: math.NaN(), high: math.NaN()}
	}
	power := nodes[c.read.String()]
	power.low, power.high, power.unit = -5, 8, "W"
	log := discard()
	if got, err := c.over(nodes, log); err != nil || got.Min != 0 || got.Max != 8 {
		t.Errorf("0 to 10 of the file and -5 to 8 of the server: %v, %v", got.Scaled, err)
	}
	c.Scale = -1 // what the server calls -8 is 8 here
	if got, err := c.over(nodes, log); err != nil || got.Min != 0 || got.Max != 5 {
		t.Errorf("turned round: %v, %v", got.Scaled, err)
	}
	c.Scale, power.low, power.high = 1, 20, 30
	if _, err := c.over(nodes, log); err == nil || !strings.Contains(err.Error(), "nothing in common") {
		t.Error(err)
	}
	power.low, power.high = 1, 8
	if _, err := c.over(nodes, log); err == nil || !strings.Contains(err.Error(), "not within the server's EURange") {
		t.Error(err)
	}
	c.Unit, power.low, power.unit = "", 0, unitName("°C")
	if got, err := c.over(nodes, log); err != nil || got.Unit != "degC" {
		t.Errorf("the server's unit: %q, %v", got.Unit, err)
	}
	power.access, power.knowsAccess = ua.AccessLevelTypeCurrentRead, true
	if _, err := c.over(nodes, log); err == nil || !strings.Contains(err.Error(), "does not let this user write") {
		t.Error(err)
	}
}
