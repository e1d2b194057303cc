package modbus

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// TestTCPVectors: the frames of simplymodbus.ca/TCP.htm.
func TestTCPVectors(t *testing.T) {
	f := &tcp{}
	if got, want := f.seal(0x11, readRequest(3, 0x6B, 3)), unhex(t, "00 01 00 00 00 06 11 03 00 6B 00 03"); !bytes.Equal(got, want) {
		t.Errorf("request % X, want % X", got, want)
	}
	frame, unit, body, broken := f.split(unhex(t, "00 01 00 00 00 09 11 03 06 AE 41 56 52 43 40 00 02"))
	if len(frame) != 15 || unit != 0x11 || broken {
		t.Fatalf("frame % X, unit %#x, broken %v", frame, unit, broken)
	}
	values, err := parseAnswer(readRequest(3, 0x6B, 3), body)
	if err != nil || !bytes.Equal(values, unhex(t, "AE 41 56 52 43 40")) {
		t.Errorf("% X, %v", values, err)
	}
	for _, bad := range []string{"00 01 00 01 00 06 11 03 00", "00 01 00 00 00 01 11", "00 01 00 00 FF 06 11", "HTTP/1"} {
		b := []byte(bad + " ")
		if strings.HasPrefix(bad, "00") {
			b = unhex(t, bad)
		}
		if _, _, _, broken := f.split(b); !broken {
			t.Errorf("%q is taken for a frame", bad)
		}
	}
}

// link is an open line whose other side is hear.
func link(t *testing.T, hear func([]byte) []byte) (*protocol.Line, *porttest.Fake) {
	fake := porttest.NewFake(t, hear)
	l := &protocol.Line{Port: port.New(fake), Most: 1024, Log: slog.New(slog.DiscardHandler),
		Timing: protocol.Timing{ReadTimeout: 50 * time.Millisecond, ReplyTimeout: time.Second, WriteTimeout: time.Second}}
	t.Cleanup(func() { l.Port.Close(0) })
	return l, fake
}

// numbersOf gives a reader of n channels at neighbouring registers from 10 on.
func numbersOf(t *testing.T, n int) (*Protocol, []*protocol.Channel) {
	t.Helper()
	var channels []*protocol.Channel
	var places []Places
	for i := range n {
		channels = append(channels, &protocol.Channel{Index: i, Readable: true, ReadTimeout: time.Second, WriteTimeout: time.Second,
			Scaled: drivers.Scaled{Scale: 1, Channel: drivers.Channel{Name: string(rune('a' + i))}}})
		places = append(places, Places{Read: &Register{Function: 3, Address: 10 + i, Type: "uint16"}})
	}
	p, err := TCP(Station{Address: 1}, protocol.Timing{ReadTimeout: 50 * time.Millisecond, ReplyTimeout: time.Second}, channels, places)
	if err != nil {
		t.Fatal(err)
	}
	return p, channels
}

// TestTCPLateAnswers: an answer to an earlier request is never taken for the present one, though
// both have the same form; nor is one of another unit, nor one that asks nothing.
func TestTCPLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, channels := numbersOf(t, 1)
		var asked [][]byte
		l, fake := link(t, func(b []byte) []byte { asked = append(asked, bytes.Clone(b)); return nil })
		answer := func(request []byte, v byte) []byte { return (&tcp{}).reply(request, []byte{3, 2, 0, v}) }

		// The first answer comes after the second question.
		if _, err := p.Ask(t.Context(), l, channels); !errors.Is(err, protocol.ErrSilent) {
			t.Fatalf("no answer: %v", err)
		}
		fake.Hear = func(b []byte) []byte {
			asked = append(asked, bytes.Clone(b))
			return append(answer(asked[0], 111), answer(b, 7)...)
		}
		if v, err := p.Ask(t.Context(), l, channels); err != nil || v["a"] != 7 {
			t.Errorf("after a late answer: %v, %v", v, err)
		}
		// Nothing but a late answer is silence, and says so.
		fake.Hear = func([]byte) []byte { return answer(asked[1], 99) }
		if v, err := p.Ask(t.Context(), l, channels); !errors.Is(err, protocol.ErrSilent) || !strings.Contains(err.Error(), "other requests") {
			t.Errorf("a late answer alone: %v, %v", v, err)
		}
		fake.Hear = func(b []byte) []byte { b = bytes.Clone(b); b[6] = 2; return answer(b, 5) }
		if v, err := p.Ask(t.Context(), l, channels); !errors.Is(err, protocol.ErrFrame) {
			t.Errorf("another unit: %v, %v", v, err)
		}
		fake.Hear = func(b []byte) []byte { return (&tcp{}).reply(b, []byte{0x83, 2}) }
		if v, err := p.Ask(t.Context(), l, channels); !errors.Is(err, drivers.ErrRefused) {
			t.Errorf("an exception: %v, %v", v, err)
		}
	})
}

// TestNeighboursInOneRequest: registers and coils that touch are read with one request, of as
// many as an answer holds; those that do not touch are not.
func TestNeighboursInOneRequest(t *testing.T) {
	p, channels := numbersOf(t, 200)
	if got := p.Batches(channels); len(got) != 2 || len(got[0]) != 125 || len(got[1]) != 75 {
		t.Errorf("200 registers in %d requests", len(got))
	}
	p.channels[3].Read.Address = 500
	if got := p.Batches(channels[:6]); len(got) != 3 {
		t.Errorf("a gap: %d requests", len(got))
	}
	for i := range p.channels {
		p.channels[i].Read = &Register{Function: 1, Address: i, Type: "bool"}
	}
	got := p.Batches(channels)
	if len(got) != 1 {
		t.Fatalf("200 coils in %d requests", len(got))
	}
	l, _ := link(t, func(b []byte) []byte {
		// Coils 0, 9 and 199 are on.
		coils := make([]byte, 25)
		coils[0], coils[1], coils[24] = 1, 2, 0x80
		return (&tcp{}).reply(b, append([]byte{1, 25}, coils...))
	})
	values, err := p.Ask(context.Background(), l, got[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range channels {
		want := 0.0
		if i == 0 || i == 9 || i == 199 {
			want = 1
		}
		if v, there := values[c.Name]; !there || v != want {
			t.Errorf("coil %d is %v", i, v)
		}
	}
}

// FuzzTCPFrames: whatever comes over a connection, nothing crashes, and what is taken for values
// has the length that was asked for.
func FuzzTCPFrames(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x00\x06\x11\x03\x00\x6b\x00\x03"))
	f.Add([]byte("\x00\x01\x00\x00\x00\x08\x01\x0f\x00\x05\x00\x01\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, _, body, broken := (&tcp{}).split(data)
		if broken && frame != nil || len(frame) > len(data) || frame != nil && len(body) == 0 {
			t.Errorf("% x: frame % x, body % x, broken %v", data, frame, body, broken)
		}
		if len(body) > 0 && len(frame) > 0 {
			for _, request := range [][]byte{readRequest(3, 10, 2), readRequest(1, 3, 9), writeRequest(6, 1, []byte{0, 3}), writeRequest(5, 1, []byte{1})} {
				if values, err := parseAnswer(request, body); err == nil && reads(request[0]) && len(values) != dataLength(request) {
					t.Errorf("% x answered by % x gives % x", request, body, values)
				}
			}
		}
	})
}
