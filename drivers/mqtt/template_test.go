package mqtt

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The bytes are those that the vendors' pages show; see presets.
func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		text, off string
		value     float64
		want      string
	}{
		{`{"state":"ON","brightness":%d}`, `{"state":"OFF"}`, 215, `{"state":"ON","brightness":215}`},
		{`{"state":"ON","brightness":%d}`, `{"state":"OFF"}`, 0, `{"state":"OFF"}`},
		{`{"state":"ON","brightness":%d}`, `{"state":"OFF"}`, 0.4, `{"state":"OFF"}`},
		{`{"state":"ON","brightness":%d}`, ``, -0.2, `{"state":"ON","brightness":0}`},
		{"%d", "", 1e6, "1000000"},
		{"%d", "", 1e21, "1000000000000000000000"},
		{"%f", "", 1e-7, "0.0000001"},
		{"%.2f", "", 1.005, "1.00"},
		{"%.1f %%", "", 55.55, "55.5 %"},
	} {
		tp, err := parseTemplate(c.text, c.off)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := tp.render(c.value); got != c.want {
			t.Errorf("%q of %g: %s, want %s", c.text, c.value, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"":                           "has 0 places",
		"on":                         "has 0 places",
		"%d %d":                      "has 2 places",
		"100%":                       "is no place for a number",
		"%s":                         "is no place for a number",
		"%5d":                        "is no place for a number",
		"%.99f":                      "is no place for a number",
		"%.f":                        "is no place for a number",
		`{"brightness":%d`:           "looks like JSON",
		`{brightness:%d}`:            "looks like JSON",
		`{"a":%d,"a":1}`:             "looks like JSON",
		`{"brightness":0%d}`:         "looks like JSON",
		`[1,%d,]`:                    "looks like JSON",
		` {"state":on,"value":%.1f}`: "looks like JSON",
	} {
		if _, err := parseTemplate(text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := parseTemplate(`{"b":%d}`, `{"state":OFF}`); err == nil || !strings.Contains(err.Error(), `off "{\"state\":OFF}" looks like JSON`) {
		t.Errorf("off: %v", err)
	}
}

// Whatever the number: JSON stays JSON, no exponent is written, and who plays the device reads
// back what round says that it is told.
func TestTemplateHoldsEveryNumber(t *testing.T) {
	for _, text := range []string{`{"v":%d}`, `{"v":%.3f}`, `{"v":%f}`} {
		tp, err := parseTemplate(text, "")
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			v := rapid.Float64Range(-1e25, 1e25).Draw(t, "v")
			payload := tp.render(v)
			var doc map[string]float64
			if err := json.Unmarshal([]byte(payload), &doc); err != nil || strings.ContainsAny(payload[3:], "eE") {
				t.Fatalf("%s: %v", payload, err)
			}
			back, err := tp.parse(payload)
			if err != nil || back != tp.round(v) || back != doc["v"] {
				t.Fatalf("%s is read as %g (%v), told %g", payload, back, err, tp.round(v))
			}
			if step := tp.step(); math.Abs(back-v) > step/2+1e-15*math.Abs(v) {
				t.Fatalf("%g is told as %g, step %g", v, back, step)
			}
		})
	}
}

func TestTemplateChannelProblems(t *testing.T) {
	half := 0.5
	lamp := func(change func(o *ChannelOptions)) ChannelOptions {
		o := ChannelOptions{Channel: "b", Read: &ReadTopic{Topic: "lamp", Path: "b"}, Write: &WriteTopic{Topic: "lamp/set", Template: `{"b":%d}`}}
		change(&o)
		return o
	}
	for want, o := range map[string]ChannelOptions{
		`format is "number" beside a template`:                   lamp(func(o *ChannelOptions) { o.Write.Format = formatNumber }),
		`safe is 0.5, and the template's nearest message says 0`: lamp(func(o *ChannelOptions) { o.Safe = &half }),
		`max is 0.5, and the template's nearest message says 0`:  lamp(func(o *ChannelOptions) { o.Max = &half }),
		"a template, cannot say which one it took":               lamp(func(o *ChannelOptions) { o.Confirm = &ConfirmTopic{Topic: "c"} }),
		"the message does not say for how long":                  lamp(func(o *ChannelOptions) { o.Write.Lasts = true }),
		"has dose = true but no confirm topic":                   lamp(func(o *ChannelOptions) { o.Dose = true }),
		"accept_retained is true, but there is no time_path":     lamp(func(o *ChannelOptions) { o.Read.AcceptRetained = true }),
		`would set 7: a question must not be a setpoint`:         lamp(func(o *ChannelOptions) { o.Read.Poll = &Poll{Topic: "lamp/set", Payload: `{"b":7}`} }),
		`read: off: path "": is empty`:                           lamp(func(o *ChannelOptions) { o.Read.Off = &OffRule{Is: "OFF"} }),
		`off is "x", but there is no template`:                   {Channel: "b", Read: &ReadTopic{Topic: "l"}, Write: &WriteTopic{Topic: "l/set", Off: "x"}},
	} {
		if _, err := parseChannels([]ChannelOptions{o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	two := lamp(func(o *ChannelOptions) { o.Channel, o.Read.Path, o.Write.Template = "c", "c", `{"c":%d}` })
	if _, err := parseChannels([]ChannelOptions{lamp(func(*ChannelOptions) {}), two}); err != nil {
		t.Errorf("two templates on one topic: %v", err)
	}
	two.Write = &WriteTopic{Topic: "lamp/set"}
	if _, err := parseChannels([]ChannelOptions{lamp(func(*ChannelOptions) {}), two}); err == nil || !strings.Contains(err.Error(), "carries setpoints or releases of both") {
		t.Errorf("a template beside another form: %v", err)
	}
}
