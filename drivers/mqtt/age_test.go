package mqtt

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// meter reads with the device's own time, and takes what the broker has kept.
func meter(retained bool) ChannelOptions {
	return ChannelOptions{Channel: "x", Read: &ReadTopic{Topic: "lab/x", Path: "v", TimePath: "at", AcceptRetained: retained}}
}

// noon is when messages come in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The oracle: how old the value counts, written out from the rule in read.accept_retained and
// time_path. NaN: it is not taken.
func TestAge(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		at       string // JSON
		retained bool
		age      float64 // s
		why      string
	}{
		{`"2026-03-01T11:59:00Z"`, true, 60, ""},
		{`"2026-03-01T12:59:00+01:00"`, true, 60, ""},
		{`"2026-03-01T12:59:00+0100"`, true, 60, ""},
		{`"2026-03-01 11:59:00.5+00:00"`, true, 59.5, ""},
		{fmt.Sprint(noon.Unix() - 90), true, 90, ""},
		{fmt.Sprint(noon.UnixMilli() - 1500), true, 1.5, ""},
		{`"2026-03-01T12:00:04Z"`, true, 0, ""}, // ahead by less than clocks differ
		{`"2026-03-01T12:00:06Z"`, true, none, "6s ahead of this computer's"},
		{`"2026-03-01T12:00:06Z"`, false, none, "6s ahead of this computer's"},
		{`"2026-03-01T11:59:00"`, true, none, "has no zone"},
		{`"yesterday"`, true, none, "is no time"},
		{`-5`, true, none, "is no time"},
		{`null`, true, none, "is no time"},
		{`true`, true, none, "is no time"},
		{`"2026-03-01T11:59:57Z"`, false, 0, ""},    // said just now, by a clock that is near
		{`"2026-03-01T11:00:00Z"`, false, 3600, ""}, // repeated from someone's memory
	} {
		d, _ := idle(t, meter(true))
		got := hears(t, d, link.Arrived{Topic: "lab/x", Payload: []byte(`{"v":7,"at":` + c.at + `}`), Retained: c.retained, At: noon})
		switch {
		case math.IsNaN(c.age):
			if len(got) != 0 || !strings.Contains(fmt.Sprint(d.refused["x"].err), c.why) {
				t.Errorf("%s: %+v, %v; want no value and %q", c.at, got, d.refused["x"].err, c.why)
			}
		case len(got) != 1 || got[0].Values["x"] != 7 || noon.Sub(got[0].At).Seconds() != c.age:
			t.Errorf("%s: %+v (%v), want an age of %g s", c.at, got, d.refused, c.age)
		}
	}
	d, _ := idle(t, meter(true))
	if got := hears(t, d, link.Arrived{Topic: "lab/x", Payload: []byte(`{"v":7}`), At: noon}); len(got) != 0 || !strings.Contains(fmt.Sprint(d.refused["x"].err), "has nothing at time_path") {
		t.Errorf("no time: %+v, %v", got, d.refused)
	}
}

// What the broker has kept counts once, however often a connection brings it again, shows nothing
// of the device, and confirms nothing.
func TestRetainedCountsOnce(t *testing.T) {
	d, _ := idle(t, meter(true))
	kept := link.Arrived{Topic: "lab/x", Payload: []byte(`{"v":7,"at":"2026-03-01T11:59:00Z"}`), Retained: true, At: noon}
	if got := hears(t, d, kept); len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if !d.heard.IsZero() || d.latest["x"].order != 0 || len(d.spoken) != 0 {
		t.Errorf("the device counts as heard: %v, order %d", d.heard, d.latest["x"].order)
	}
	kept.At = noon.Add(time.Minute)
	if got := hears(t, d, kept); len(got) != 0 || !strings.Contains(fmt.Sprint(d.refused["x"].err), "was taken before") {
		t.Errorf("again: %+v, %v", got, d.refused)
	}
	live := kept
	live.Retained = false
	if got := hears(t, d, live); len(got) != 1 {
		t.Errorf("live: %+v", got)
	}
	if d, _ := idle(t, meter(false)); len(hears(t, d, kept)) != 0 || !strings.Contains(fmt.Sprint(d.refused["x"].err), "retained") {
		t.Errorf("where it is not asked for: %v", d.refused)
	}
}

// Why a message is not taken is told with the channel, in the sink and once in the run, for each
// reason.
func TestReasonsAreTold(t *testing.T) {
	o := ChannelOptions{Channel: "x", Read: &ReadTopic{Topic: "lab/x", Path: "v", Off: &OffRule{Path: "state", Is: "OFF"}}}
	d, _ := idle(t, o)
	var told []string
	d.Notify(func(text string) { told = append(told, text) })
	var missing []string
	d.sink = func(r drivers.Reading) {
		if err := r.Missing["x"]; err != nil {
			missing = append(missing, err.Error())
		}
	}
	for _, payload := range []string{`{"v":1}`, `{"state":"ON"}`, `{"state":"ON"}`, `{"state":"ON","v":"high"}`, `off`, `{"state":"ON","v":2}`, `{"state":"ON"}`} {
		d.receive(link.Arrived{Topic: "lab/x", Payload: []byte(payload), At: noon})
	}
	want := []string{"nothing at off.path", `nothing at the path "v"`, "is not a decimal number", "is not strict JSON", `nothing at the path "v"`}
	if len(missing) != len(want) {
		t.Fatalf("told %q", missing)
	}
	for i, text := range want {
		if !strings.Contains(missing[i], text) || !strings.Contains(missing[i], "topic lab/x") {
			t.Errorf("%d: %q, want %q", i, missing[i], text)
		}
	}
	if len(told) != 4 { // the last one was told before
		t.Errorf("in the run: %q", told)
	}
}

// Several values of one message are one instant; off is 0 for its channel alone.
func TestOneMessageIsOneInstant(t *testing.T) {
	d, _ := idle(t, ChannelOptions{Channel: "b", Read: &ReadTopic{Topic: "lamp", Path: "brightness", Off: &OffRule{Path: "state", Is: "OFF"}}},
		ChannelOptions{Channel: "t", Read: &ReadTopic{Topic: "lamp", Path: "color_temp"}})
	got := hears(t, d, link.Arrived{Topic: "lamp", Payload: []byte(`{"state":"OFF","brightness":215,"color_temp":325}`), At: noon})
	if len(got) != 1 || got[0].Values["b"] != 0 || got[0].Values["t"] != 325 || !got[0].At.Equal(noon) {
		t.Errorf("%+v", got)
	}
}
