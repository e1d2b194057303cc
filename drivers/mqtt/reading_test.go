package mqtt

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// hears opens nothing: it gives the device one message and says what its sink
// got.
func hears(t *testing.T, d *Device, m link.Arrived) []drivers.Reading {
	t.Helper()
	var got []drivers.Reading
	d.sink = func(r drivers.Reading) {
		if len(r.Values) > 0 {
			got = append(got, r)
		}
	}
	d.receive(m)
	return got
}

// idle is a device that was never opened, ready to be given messages.
func idle(t testing.TB, channels ...ChannelOptions) (*Device, *records) {
	t.Helper()
	d, said := newDevice(t, optionsFor("tcp://127.0.0.1:1"), channels...)
	d.refusedOnce, d.refused, d.spoken, d.status = map[string]bool{}, map[string]refusal{}, map[string]time.Time{}, map[string]status{}
	d.latest, d.acks, d.changed, d.askNow = map[string]latest{}, map[string]ack{}, make(chan struct{}, 1), make(chan struct{}, 1)
	return d, said
}

func TestReadings(t *testing.T) {
	plain := ChannelOptions{Channel: "x", Read: &ReadTopic{Topic: "lab/x"}}
	nested := ChannelOptions{Channel: "x", Read: &ReadTopic{Topic: "lab/x", Path: "tank.ph[1]"}}
	for _, c := range []struct {
		channel ChannelOptions
		payload string
		want    float64 // NaN: no reading
	}{
		{plain, "12.5", 12.5},
		{plain, " -1e3\n", -1000},
		{plain, "+.5", 0.5},
		{plain, `"7"`, 7},
		{plain, "", math.NaN()},
		{plain, "NaN", math.NaN()},
		{plain, "inf", math.NaN()},
		{plain, "1e999", math.NaN()},
		{plain, "0x10", math.NaN()},
		{plain, "1_000", math.NaN()},
		{plain, "3,14", math.NaN()},
		{plain, "12 mg/L", math.NaN()},
		{plain, `{"value":1}`, math.NaN()},
		{plain, "null", math.NaN()},
		{plain, "true", math.NaN()},
		{nested, `{"tank":{"ph":[6.9,7.1]}}`, 7.1},
		{nested, `{"tank":{"ph":[6.9,"7.1"]}}`, 7.1},
		{nested, `{"tank":{"ph":[6.9,"7,1"]}}`, math.NaN()},
		{nested, `{"tank":{"ph":[6.9,null]}}`, math.NaN()},
		{nested, `{"tank":{"ph":[6.9,NaN]}}`, math.NaN()},
		{nested, `{"tank":{"ph":[6.9]}}`, math.NaN()},
		{nested, `{"tank":{"ph":[6.9,7.1],"ph":[6.9,7.2]}}`, math.NaN()},
		{nested, "7.1", math.NaN()},
		{nested, strings.Repeat(" ", link.MaxPayload) + `{"tank":{"ph":[6.9,7.1]}}`, math.NaN()},
	} {
		d, said := idle(t, c.channel)
		at := time.Unix(1000, 0)
		got := hears(t, d, link.Arrived{Topic: "lab/x", Payload: []byte(c.payload), At: at})
		if math.IsNaN(c.want) {
			if len(got) > 0 || !strings.Contains(said.String(), "a message without a number for the channel is no data") {
				t.Errorf("%.40q gives %v; the log says %q", c.payload, got, said)
			}
			continue
		}
		if len(got) != 1 || got[0].Values["x"] != c.want || !got[0].At.Equal(at) {
			t.Errorf("%.40q gives %v; want %v", c.payload, got, c.want)
		}
	}
}

// Channels of one topic are one reading; a missing one leaves the others.
func TestOneMessageOneReading(t *testing.T) {
	channels := []ChannelOptions{
		{Channel: "ph", Read: &ReadTopic{Topic: "tank", Path: "ph"}},
		{Channel: "ec", Read: &ReadTopic{Topic: "tank", Path: "ec"}},
	}
	d, _ := idle(t, channels...)
	got := hears(t, d, link.Arrived{Topic: "tank", Payload: []byte(`{"ph":6.5,"ec":1.2}`), At: time.Unix(1, 0)})
	if len(got) != 1 || len(got[0].Values) != 2 {
		t.Errorf("one message of two channels gives %v", got)
	}
	got = hears(t, d, link.Arrived{Topic: "tank", Payload: []byte(`{"ph":6.6}`), At: time.Unix(2, 0)})
	if len(got) != 1 || len(got[0].Values) != 1 || got[0].Values["ph"] != 6.6 {
		t.Errorf("a message without ec gives %v", got)
	}
	if d.latest["ec"].value != 1.2 || !d.latest["ec"].at.Equal(time.Unix(1, 0)) {
		t.Errorf("the missing ec is now %+v", d.latest["ec"])
	}
}

// A channel that talks nonsense for weeks must not fill the log.
func TestComplaintsAreFew(t *testing.T) {
	d, said := idle(t, ChannelOptions{Channel: "x", Read: &ReadTopic{Topic: "lab/x"}})
	for _, payload := range []string{"bad", "bad", "worse", "1", "2", "bad"} {
		hears(t, d, link.Arrived{Topic: "lab/x", Payload: []byte(payload)})
	}
	if n := strings.Count(said.String(), "is no data"); n != 2 {
		t.Errorf("%d complaints for two spells of nonsense:\n%s", n, said)
	}
	if n := strings.Count(said.String(), "good again"); n != 1 {
		t.Errorf("%d recoveries for one:\n%s", n, said)
	}
}

// FuzzReading checks that only finite numbers come through, from any bytes, and that
// no bytes pass for the confirmation of a session that they do not name.
func FuzzReading(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "readings.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		f.Add(bytes.TrimSuffix(line, []byte("\n")))
	}
	huge := 1e300
	d, _ := idle(f,
		ChannelOptions{Channel: "plain", Read: &ReadTopic{Topic: "x"}},
		ChannelOptions{Channel: "key", Read: &ReadTopic{Topic: "x", Path: "value"}},
		ChannelOptions{Channel: "deep", Read: &ReadTopic{Topic: "x", Path: "a[0].b", UnitPath: "unit"}, Unit: "K", ScaleKeys: drivers.ScaleKeys{Scale: &huge, Offset: -1}},
		ChannelOptions{Channel: "set", Read: &ReadTopic{Topic: "r"}, Write: &WriteTopic{Topic: "w"}, Confirm: &ConfirmTopic{Topic: "x"}})
	f.Fuzz(func(t *testing.T, payload []byte) {
		d.sink = func(r drivers.Reading) {
			if len(r.Values)+len(r.Missing) == 0 {
				t.Errorf("%q gives an empty reading", payload)
			}
			for name, v := range r.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%q gives %v for %s", payload, v, name)
				}
			}
		}
		d.receive(link.Arrived{Topic: "x", Payload: payload})
		const session = "5f1c0a9be2d34c17"
		if a := d.acked(d.byName["set"]); a.answers(sent{seq: 1}, session) && !bytes.Contains(payload, []byte("5f1c")) && !bytes.Contains(payload, []byte(`\u`)) {
			t.Errorf("%q passes for a confirmation", payload)
		}
		clear(d.acks)
	})
}
