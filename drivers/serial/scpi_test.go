package serial

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// scpi is an instrument with an error queue, written apart from the driver.
type scpi struct {
	queue []string
	level string
	log   []string
	heard string
}

func (s *scpi) hear(data []byte) []byte {
	s.heard += string(data)
	answer := ""
	for {
		command, rest, whole := strings.Cut(s.heard, "\n")
		if !whole {
			return []byte(answer)
		}
		s.heard = rest
		s.log = append(s.log, command)
		name, arg, _ := strings.Cut(command, " ")
		switch name {
		case "*IDN?":
			answer += "ACME,M1,0,1.0\n"
		case "*CLS":
			s.queue = nil
		case "READ?":
			answer += "+" + s.level + "\n"
		case "LEV":
			if len(arg) > 4 {
				s.queue = append(s.queue, `-222,"Data out of range"`, `-221,"Settings conflict"`)
				continue
			}
			s.level = arg + "E+00"
		case "SYST:ERR?":
			first := `+0,"No error"`
			if len(s.queue) > 0 {
				first, s.queue = s.queue[0], s.queue[1:]
			}
			answer += first + "\n"
		default:
			s.queue = append(s.queue, `-113,"Undefined header"`)
		}
	}
}

func onSCPI(t *testing.T, s *scpi) *Device {
	t.Helper()
	o, channels, err := fromProfile("scpi-meter")
	if err != nil {
		t.Fatal(err)
	}
	o.Port = "/dev/fake"
	b := &bench{}
	b.set(func() *porttest.Fake { return porttest.NewFake(t, s.hear) })
	o.Open = b.open
	channels = append(channels, ChannelOptions{Channel: "level", Write: &Write{WriteKeys: text.WriteKeys{Out: "LEV %.1f"}}})
	return openDevice(t, o, channels)
}

// TestSCPIErrors: a command without answer is known to have worked by the error
// queue, which is read until it is empty.
func TestSCPIErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scpi{level: "1.0E+00", queue: []string{`-350,"Queue overflow"`}}
		dev := onSCPI(t, s)
		if len(s.queue) > 0 {
			t.Errorf("errors from before: %q", s.queue)
		}
		if err := set(dev, "level", 2.5); err != nil {
			t.Error(err)
		}
		if got := value(t, dev, "value"); got != 2.5 {
			t.Errorf("value %v", got)
		}
		err := set(dev, "level", 1000)
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "-222") || !strings.Contains(err.Error(), "-221") {
			t.Errorf("out of range: %v", err)
		}
		if len(s.queue) > 0 {
			t.Errorf("left in the queue: %q", s.queue)
		}
		if err := set(dev, "level", 3); err != nil {
			t.Errorf("after an error: %v", err)
		}
	})
}

// TestSCPIEndlessErrors: a queue that never ends is told, not read for ever.
func TestSCPIEndlessErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scpi{level: "1.0E+00"}
		dev := onSCPI(t, s)
		for i := range 1000 {
			s.queue = append(s.queue, fmt.Sprintf(`-%d,"x"`, 100+i))
		}
		if err := set(dev, "level", 2.5); err == nil || !strings.Contains(err.Error(), "after 32 answers") {
			t.Errorf("%v", err)
		}
	})
}

// TestSCPIOverload: 9.9E37 and 9.91E37 are no data.
func TestSCPIOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scpi{level: "1.0E+00"}
		dev := onSCPI(t, s)
		for _, level := range []string{"9.90000000E+37", "9.91000000E+37"} {
			s.level = level
			if r, err := dev.Read(t.Context(), []string{"value"}); err == nil || !strings.Contains(err.Error(), "stands for an overload") {
				t.Errorf("%s gave %v, %v", level, r.Values, err)
			}
		}
	})
}

// TestSpoilIsNoError: that an instrument does not understand the cancel character of a greeting is
// no error of the instrument; two errors from before are told.
func TestSpoilIsNoError(t *testing.T) {
	for _, c := range []struct {
		before []string
		told   bool
	}{{nil, false}, {[]string{`-222,"Data out of range"`}, true}, {[]string{`-113,"Undefined header"`}, true}} {
		synctest.Test(t, func(t *testing.T) {
			s := &scpi{queue: c.before, level: "1"}
			o, channels := abOptions()
			o.Identify = &text.Identify{Out: "*IDN?", Match: "ACME"}
			o.Errors = &text.Errors{Out: "SYST:ERR?", OK: "^[+]?0,"}
			b := &bench{}
			b.set(func() *porttest.Fake { return porttest.NewFake(t, s.hear) })
			o.Open = b.open
			var said strings.Builder
			dev, err := New(o, channels, drivers.Env{Clock: wall{}, Log: slog.New(slog.NewTextHandler(&said, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			if _, err := dev.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(said.String(), "had errors"); told != c.told {
				t.Errorf("with %q before: %q", c.before, said.String())
			}
			if !strings.Contains(s.log[0], "\x18") {
				t.Errorf("the greeting was %q", s.log)
			}
		})
	}
}
