package mqtt

import (
	"context"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/drivers"
)

func TestOptionsProblems(t *testing.T) {
	for want, change := range map[string]func(*Options){
		`broker "" is not an address; write tcp://HOST:PORT`:                  func(o *Options) { o.Broker = "" },
		`broker "127.0.0.1:1883" is not an address`:                           func(o *Options) { o.Broker = "127.0.0.1:1883" },
		`broker "tcp://:1883" is not an address`:                              func(o *Options) { o.Broker = "tcp://:1883" },
		`has the scheme "http"; it must be one of tcp, mqtt, tls, ssl, mqtts`: func(o *Options) { o.Broker = "http://h" },
		`ca_file is "ca", but broker "tcp://127.0.0.1:1883" is not encrypted`: func(o *Options) { o.CAFile = "ca" },
		`server_name is "h", but broker "tcp://127.0.0.1:1883" is not`:        func(o *Options) { o.ServerName = "h" },
		`cert_file is "c", but there is no key_file`:                          func(o *Options) { o.Broker, o.CertFile = "tls://h", "c" },
		`key_file is "k", but there is no cert_file`:                          func(o *Options) { o.Broker, o.KeyFile = "tls://h", "k" },
		`broker holds a user or password; write username and password_file`:   func(o *Options) { o.Broker = "tcp://me:secret@h:1" },
		`password_credential is "c", and nothing here reads it`:               func(o *Options) { o.Username, o.PasswordCred = "u", "c" },
		`the password is kept in more than one place`: func(o *Options) {
			o.Username, o.PasswordFile, o.PasswordEnv = "u", "f", "E"
			o.Password = func() (string, error) { return "", nil }
		},
		`password_file is "f", but there is no username; the broker needs both`: func(o *Options) { o.PasswordFile = "f" },
		`status: topic "s/#" has a wildcard`:                                    func(o *Options) { o.Status = &StatusTopic{Topic: "s/#"} },
		`status: online and offline are both "offline"; they must differ`:       func(o *Options) { o.Status = &StatusTopic{Topic: "s", Online: "offline"} },
		`status: topic "lab/ca" is one of channel "ca"`:                         func(o *Options) { o.Status = &StatusTopic{Topic: "lab/ca"} },
	} {
		o := optionsFor("tcp://127.0.0.1:1883")
		change(&o)
		_, err := New(o, doserChannels(), drivers.Env{Clock: wall{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, which should say %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in the message %q", err)
		}
	}
}

func TestChannelProblems(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	for want, c := range map[string]ChannelOptions{
		`channel "x": has no read`:                                               {},
		`read: topic is empty`:                                                   {Read: &ReadTopic{}},
		`read: topic "lab/+" has a wildcard`:                                     {Read: &ReadTopic{Topic: "lab/+"}},
		`read: path "a..b" has an empty key`:                                     {Read: &ReadTopic{Topic: "r", Path: "a..b"}},
		`write: topic "a/#" has a wildcard`:                                      {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "a/#"}},
		`has a release topic but no write topic`:                                 {Read: &ReadTopic{Topic: "r"}, Release: &ReleaseTopic{Topic: "l"}},
		`has safe = 1 but no write topic`:                                        {Read: &ReadTopic{Topic: "r"}, ScaleKeys: drivers.ScaleKeys{Safe: number(1)}},
		`safe is NaN and must be finite`:                                         {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, ScaleKeys: drivers.ScaleKeys{Safe: number(math.NaN())}},
		`channel "x" reads on topic "w", where setpoints`:                        {Read: &ReadTopic{Topic: "w"}, Write: &WriteTopic{Topic: "w"}},
		`topic "w" carries setpoints or releases of both "x" and "x"`:            {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, Release: &ReleaseTopic{Topic: "w"}},
		`has a confirm topic but no write topic`:                                 {Read: &ReadTopic{Topic: "r"}, Confirm: &ConfirmTopic{Topic: "c"}},
		`confirm: topic "+" has a wildcard`:                                      {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, Confirm: &ConfirmTopic{Topic: "+"}},
		`channel "x" is confirmed on topic "w", where setpoints`:                 {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, Confirm: &ConfirmTopic{Topic: "w"}},
		`a device that takes numbers alone, or a template, cannot say which one`: {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w", Format: "number"}, Confirm: &ConfirmTopic{Topic: "c"}},
		`release: payload is "" and write.format "number"`:                       {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w", Format: "number"}, Release: &ReleaseTopic{Topic: "l"}},
		`release: payload is "off" and write.format ""`:                          {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, Release: &ReleaseTopic{Topic: "l", Payload: "off"}},
		`unit_path is "u", but the channel has no unit`:                          {Read: &ReadTopic{Topic: "r", UnitPath: "u"}},
		`scale is 0; then every value would be the same`:                         {Read: &ReadTopic{Topic: "r"}, ScaleKeys: drivers.ScaleKeys{Scale: number(0)}},
		`scale is +Inf and must be finite`:                                       {Read: &ReadTopic{Topic: "r"}, ScaleKeys: drivers.ScaleKeys{Scale: number(math.Inf(1))}},
		`min is 3 and max 3; the first must be less`:                             {Read: &ReadTopic{Topic: "r"}, ScaleKeys: drivers.ScaleKeys{Min: number(3), Max: number(3)}},
		`safe is 5 and must lie within min and max`:                              {Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, ScaleKeys: drivers.ScaleKeys{Min: number(1), Max: number(3), Safe: number(5)}},
	} {
		c.Channel = "x"
		_, err := New(optionsFor("tcp://h"), []ChannelOptions{c}, drivers.Env{Clock: wall{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, which should say %q", err, want)
		}
	}
	both := doserChannels()
	both[1].Channel = "ca"
	_, err := New(optionsFor("tcp://h"), append(both, ChannelOptions{Channel: "y"}), drivers.Env{Clock: wall{}})
	for _, want := range []string{`channel "ca": is listed twice`, `channel "y": has no read`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, which should say %q beside the others", err, want)
		}
	}
	if _, err := New(optionsFor("tcp://h"), nil, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), "there is no channel") {
		t.Errorf("no channels: %v", err)
	}
}

// A plant must have what the topics promise.
func TestServeChecksTheDevice(t *testing.T) {
	env, _ := environment()
	for want, change := range map[string]func(c []ChannelOptions) []ChannelOptions{
		`the served device has no channel "b"`: func(c []ChannelOptions) []ChannelOptions {
			c[1].Channel = "b"
			return c
		},
		`channel "area" is to be written, but the served device can only read it`: func(c []ChannelOptions) []ChannelOptions {
			c[1].Write = &WriteTopic{Topic: "w"}
			return c
		},
		`channels "ca" and "twin" cannot both be served on topic "lab/ca": one path lies within the other`: func(c []ChannelOptions) []ChannelOptions {
			return append(c, ChannelOptions{Channel: "twin", Read: &ReadTopic{Topic: "lab/ca", Path: "value.x"}})
		},
	} {
		dev := &doser{}
		err := Serve(context.Background(), Plant{Options: optionsFor("tcp://127.0.0.1:1"), Channels: change(doserChannels()), Device: dev, Period: 1e9, Env: env})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, which should say %q", err, want)
		}
	}
}

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
	var file struct{ Device []section }
	meta, err := toml.Decode(string(text), &file)
	if err != nil || len(meta.Undecoded()) > 0 {
		t.Fatalf("sample.toml: %v, keys that are no options: %v", err, meta.Undecoded())
	}
	var channels []ChannelOptions
	for name, c := range file.Device[0].Channel {
		c.Channel = name
		channels = append(channels, c)
	}
	o := Default()
	o.Broker = file.Device[0].Broker
	if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err != nil {
		t.Errorf("sample.toml: %v", err)
	}
	// Commented keys that have a default must show it.
	uncommented := regexp.MustCompile(`(?m)^# (\w+ = "\d+\w+")`).ReplaceAllString(string(text), "$1")
	file.Device = nil
	if _, err := toml.Decode(uncommented, &file); err != nil {
		t.Fatal(err)
	}
	got := file.Device[0].Options
	want := Default()
	want.Broker = got.Broker
	got.Username, got.PasswordFile, got.ClientID = "", "", ""
	if got.KeepAlive != want.KeepAlive || got.PingTimeout != want.PingTimeout || got.WriteTimeout != want.WriteTimeout ||
		got.ConnectTimeout != want.ConnectTimeout || got.HaltTimeout != want.HaltTimeout {
		t.Errorf("sample.toml shows the defaults %+v; they are %+v", got, want)
	}
}
