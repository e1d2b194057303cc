package text

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// shelf is a device in memory.
type shelf struct{ values map[string]float64 }

func (s *shelf) Open(context.Context) ([]drivers.Channel, error) { return nil, nil }
func (s *shelf) Read(context.Context, []string) (drivers.Reading, error) {
	return drivers.Reading{Values: s.values, At: time.Now()}, nil
}
func (s *shelf) Write(_ context.Context, set drivers.Setpoints) (drivers.Reading, error) {
	for name, v := range set.Values {
		s.values[name] = v
	}
	return drivers.Reading{}, nil
}
func (s *shelf) Halt(context.Context) error { return nil }
func (s *shelf) Close() error               { return nil }

// talk prepares a dialect over channels that can be read, and set where they have a write.
func talk(d Dialect, lines ...Lines) (*Protocol, []*protocol.Channel, error) {
	var channels []*protocol.Channel
	for i, w := range lines {
		c := &protocol.Channel{Index: i, Readable: w.Read != nil, Scaled: drivers.Scaled{Scale: 1, Channel: drivers.Channel{Name: string(rune('a' + i)), Min: math.NaN(), Max: math.NaN()}}}
		c.Safe = math.NaN()
		if w.Write != nil {
			c.Access = drivers.ReadWrite
		}
		channels = append(channels, c)
	}
	d.MaxLine = 1024
	t, err := New(d.Filled(false), protocol.Timing{ReplyTimeout: time.Second}, false, channels, lines, slog.New(slog.DiscardHandler))
	return t, channels, err
}

// TestServedErrorQueueIsEmptiedByInit: what an instrument has in its queue from before is gone after
// the commands that begin a connection.
func TestServedErrorQueueIsEmptiedByInit(t *testing.T) {
	p, channels, err := talk(Dialect{Errors: &Errors{Out: "SYST:ERR?", OK: "^0,"}, Init: []Exchange{{Out: "*CLS"}}}, Lines{Read: &ReadKeys{Out: "A?", In: "%f"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSpeaker(p, channels, &protocol.Served{Dev: &shelf{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.answer(t.Context(), "WHAT")
	s.answer(t.Context(), "WHAT")
	if got := s.answer(t.Context(), "SYST:ERR?"); !strings.HasPrefix(got, "-113") {
		t.Errorf("after a command that it does not know: %q", got)
	}
	s.answer(t.Context(), "*CLS")
	if got := s.answer(t.Context(), "SYST:ERR?"); !strings.HasPrefix(got, "0,") {
		t.Errorf("after *CLS: %q", got)
	}
}

// TestSharedQuestionHasOneForm: channels that share a question are served only where their answers
// differ in nothing but the value that each takes.
func TestSharedQuestionHasOneForm(t *testing.T) {
	for _, c := range []struct {
		first, second string
		served        bool
	}{{"%f,%*f", "%*f,%f", true}, {"%f,%*f", "%*f;%f", false}, {"%f", "%f", true}} {
		p, channels, err := talk(Dialect{}, Lines{Read: &ReadKeys{Out: "Q?", In: c.first}}, Lines{Read: &ReadKeys{Out: "Q?", In: c.second}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = newSpeaker(p, channels, &protocol.Served{Dev: &shelf{}, Log: slog.New(slog.DiscardHandler)})
		if (err == nil) != c.served || err != nil && !strings.Contains(err.Error(), "share the question") {
			t.Errorf("%q and %q: %v", c.first, c.second, err)
		}
	}
}

// TestValueThatFitsNoFormIsSilence: what cannot be written as the answer says is not answered with
// something else.
func TestValueThatFitsNoFormIsSilence(t *testing.T) {
	p, channels, err := talk(Dialect{}, Lines{Read: &ReadKeys{Out: "N?", In: "N=%d"}})
	if err != nil {
		t.Fatal(err)
	}
	dev := &shelf{values: map[string]float64{"a": 3}}
	s, err := newSpeaker(p, channels, &protocol.Served{Dev: dev, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.answer(t.Context(), "N?"); !strings.HasPrefix(got, "N=3") {
		t.Errorf("3: %q", got)
	}
	dev.values["a"] = 1e300
	if got := s.answer(t.Context(), "N?"); got != "" {
		t.Errorf("1e300 as a whole number: %q", got)
	}
}

// TestDoseNeedsAnAck: a dose whose command is acknowledged is taken, one whose command is not is
// refused.
func TestDoseNeedsAnAck(t *testing.T) {
	for ack, ok := range map[string]bool{"^OK$": true, "": false} {
		d := Dialect{MaxLine: 1024}
		c := &protocol.Channel{}
		c.Name, c.Access, c.Dose, c.Scale, c.Min, c.Max, c.Safe = "pump", drivers.ReadWrite, true, 1, 0, 10, math.NaN()
		_, err := New(d.Filled(false), protocol.Timing{}, false, []*protocol.Channel{c}, []Lines{{Write: &WriteKeys{Out: "D %.2f", Ack: ack}}}, slog.New(slog.DiscardHandler))
		if (err == nil) != ok {
			t.Errorf("ack %q: %v", ack, err)
		}
	}
}
