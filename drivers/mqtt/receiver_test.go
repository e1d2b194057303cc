package mqtt

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// receiverFor is the receiver of the file's channel "ca".
func receiverFor(t testing.TB) *receiver {
	t.Helper()
	channels, err := parseChannels(doserChannels())
	if err != nil {
		t.Fatal(err)
	}
	return &receiver{channel: channels[0]}
}

func setMessage(session string, seq int, value float64) link.Arrived {
	return link.Arrived{Topic: "lab/ca/set", Payload: fmt.Appendf(nil, `{"value":%v,"seq":%d,"ttl_ms":1000,"session":%q}`, value, seq, session), At: time.Unix(0, 0)}
}

func TestInletOrder(t *testing.T) {
	now := time.Unix(0, 0)
	in := receiverFor(t)
	for i, step := range []struct {
		m    link.Arrived
		want string // what the refusal says; empty: taken
	}{
		{setMessage("a", 1, 10), ""},
		{setMessage("a", 3, 30), ""},
		{setMessage("a", 2, 20), "its seq 2 is not above 3"},
		{setMessage("a", 3, 30), "its seq 3 is not above 3"}, // a repeat
		{link.Arrived{Topic: "lab/ca/release", Payload: []byte(`{"release":true,"seq":3,"ttl_ms":1,"session":"a"}`), At: now}, "its seq 3 is not above 3"},
		{link.Arrived{Topic: "lab/ca/release", Payload: []byte(`{"release":true,"seq":4,"ttl_ms":1,"session":"a"}`), At: now}, ""},
		{setMessage("b", 1, 11), ""}, // tuner was started anew
		{setMessage("a", 5, 50), `its session "a" has been followed by another`},
		{setMessage("b", 2, 12), ""},
	} {
		_, err := in.accept(step.m, now)
		if (err == nil) != (step.want == "") || (err != nil && !strings.Contains(err.Error(), step.want)) {
			t.Errorf("step %d: %v; want %q", i+1, err, step.want)
		}
	}
	for i := range 100 {
		if _, err := in.accept(setMessage(fmt.Sprint("s", i), 1, 1), now); err != nil {
			t.Error(err)
		}
	}
	if len(in.past) != pastSessions {
		t.Errorf("%d past sessions are remembered; the bound is %d", len(in.past), pastSessions)
	}
}

func TestInletAge(t *testing.T) {
	in := receiverFor(t)
	m := setMessage("a", 1, 10) // ttl 1 s, arrived at 0
	if _, err := in.accept(m, time.Unix(1, 1)); err == nil || !strings.Contains(err.Error(), "longer than its ttl of 1s") {
		t.Errorf("a setpoint that waited too long: %v", err)
	}
	if s, err := in.accept(m, time.Unix(1, 0)); err != nil || *s.Value != 10 {
		t.Errorf("a setpoint that waited its ttl: %v", err)
	}
	m = setMessage("a", 2, 20)
	m.Retained = true
	if _, err := in.accept(m, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), "retained") {
		t.Errorf("a retained setpoint: %v", err)
	}
}

func TestInletRefusesBadMessages(t *testing.T) {
	for _, payload := range []string{
		``, `120`, `{"value":120}`, `{"value":NaN,"seq":1,"ttl_ms":1,"session":"a"}`, `{"value":"120","seq":1,"ttl_ms":1,"session":"a"}`,
		`{"value":1,"seq":0,"ttl_ms":1,"session":"a"}`, `{"value":1,"seq":1.5,"ttl_ms":1,"session":"a"}`, `{"value":1,"seq":1e30,"ttl_ms":1,"session":"a"}`,
		`{"value":1,"seq":1,"ttl_ms":0,"session":"a"}`, `{"value":1,"seq":1,"session":"a"}`, `{"value":1,"seq":1,"ttl_ms":1,"session":""}`,
		`{"value":1,"seq":1,"ttl_ms":1}`, `{"value":1,"value":2,"seq":1,"ttl_ms":1,"session":"a"}`, `{"release":true,"seq":1,"ttl_ms":1,"session":"a"}`,
		`{"value":1,"seq":1,"ttl_ms":1,"session":"` + strings.Repeat("x", 65) + `"}`,
		strings.Repeat(" ", link.MaxPayload) + `{"value":1,"seq":1,"ttl_ms":1,"session":"a"}`,
	} {
		in := receiverFor(t)
		if s, err := in.accept(link.Arrived{Topic: "lab/ca/set", Payload: []byte(payload)}, time.Time{}); err == nil {
			t.Errorf("%.60q passes as %+v", payload, s)
		}
		if in.session != "" {
			t.Errorf("%.60q left a trace: %+v", payload, in)
		}
	}
	in := receiverFor(t)
	if _, err := in.accept(link.Arrived{Topic: "lab/ca/release", Payload: []byte(`{"release":false,"seq":1,"ttl_ms":1,"session":"a"}`)}, time.Time{}); err == nil {
		t.Error(`"release":false passes as a release`)
	}
}

func TestCompose(t *testing.T) {
	served := func(name, path, write string) *channel {
		p, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		return &channel{Scaled: drivers.Scaled{Channel: drivers.Channel{Name: name}, Scale: 1}, read: "r", path: p, write: write}
	}
	one, seven := 1.0, setpoint{Session: "s", Seq: 7}
	seven.Value = &one
	values := map[string]float64{"a": 1, "b": 2.5}
	for what, c := range map[string]struct {
		channels []*channel
		taken    map[string]setpoint // by write topic
		want     string
	}{
		"plain":         {[]*channel{served("a", "", "")}, nil, `1`},
		"object":        {[]*channel{served("a", "value", "")}, nil, `{"value":1}`},
		"two":           {[]*channel{served("a", "x.y", ""), served("b", "x.z[1]", "")}, nil, `{"x":{"y":1,"z":[null,2.5]}}`},
		"echo":          {[]*channel{served("a", "value", "w")}, map[string]setpoint{"w": seven}, `{"released":false,"seq":7,"session":"s","value":1}`},
		"two receivers": {[]*channel{served("a", "x", "w"), served("b", "y", "v")}, map[string]setpoint{"w": seven, "v": seven}, `{"x":1,"y":2.5}`},
		"key in use":    {[]*channel{served("a", "seq", "w")}, map[string]setpoint{"w": seven}, `{"seq":1}`},
		"plain, set":    {[]*channel{served("a", "", "w")}, map[string]setpoint{"w": seven}, `1`},
		"nothing new":   {[]*channel{served("c", "value", "")}, nil, ``},
	} {
		receivers := map[string]*receiver{}
		for _, ch := range c.channels {
			if s, taken := c.taken[ch.write]; taken {
				receivers[ch.Name] = &receiver{echo: s}
			}
		}
		got, err := compose(c.channels, values, receivers, time.Time{})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", what, got, err, c.want)
		}
	}
}

// TestState: what stands where a message says whether a device is off.
func TestState(t *testing.T) {
	for _, c := range []struct {
		offIs   string
		off, on any
	}{{"false", false, true}, {"true", true, false}, {"OFF", "OFF", "ON"}} {
		ch := channel{offIs: c.offIs}
		if off, on := ch.state(0), ch.state(2); off != c.off || on != c.on {
			t.Errorf("off is %q: %v and %v, want %v and %v", c.offIs, off, on, c.off, c.on)
		}
	}
}

// FuzzSetpoint checks that what passes is finite, whole where it must be, and
// survives being sent again.
func FuzzSetpoint(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "setpoints.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f.Add([]byte(strings.TrimSuffix(line, "\n")), strings.Contains(line, "release"))
	}
	f.Fuzz(func(t *testing.T, payload []byte, release bool) {
		s, err := parseSetpoint(payload, release)
		if err != nil {
			return
		}
		if s.Seq < 1 || s.TTLMS < 1 || s.Session == "" || s.Release != release || (s.Value == nil) != release {
			t.Errorf("%q gives %+v", payload, s)
		}
		if s.Value != nil && (math.IsNaN(*s.Value) || math.IsInf(*s.Value, 0)) {
			t.Errorf("%q gives the value %v", payload, *s.Value)
		}
	})
}
