package serial

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// answers is an instrument that recognises the greeting and answers everything
// else with given bytes.
func answers(t *testing.T, identify, name string, heard []byte) func([]byte) []byte {
	return func(data []byte) []byte {
		switch command := strings.TrimRight(string(data), "\r\n"); {
		case command == identify:
			return []byte(name)
		case strings.HasPrefix(command, "C,") || strings.HasPrefix(command, "*OK"):
			return []byte("*OK\r")
		}
		return heard
	}
}

// fuzzDevice reads every channel of a description from an instrument that answers
// with text, and looks at what comes out.
func fuzzDevice(t *testing.T, o Options, channels []ChannelOptions, hear func([]byte) []byte) {
	o.Port = "/dev/fake"
	o.Retries = 0
	b := &bench{}
	b.set(func() *porttest.Fake { return porttest.NewFake(t, hear) })
	o.Open = b.open
	dev, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := dev.Open(context.Background()); err != nil {
		t.Fatalf("the greeting failed: %v", err)
	}
	for _, c := range channels {
		r, err := dev.Read(context.Background(), []string{c.Channel})
		for name, v := range r.Values {
			if err != nil || !drivers.Finite(v) || name != c.Channel {
				t.Errorf("%s is %v, %v", name, v, err)
			}
		}
		if c.Write != nil {
			dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{c.Channel: 1}})
		}
	}
}

// FuzzLine: whatever a line instrument answers, no crash and no value that is not
// finite.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"1.5\n", "NaN\n", "1,5\n", "\n\n", "1.5\n2.5\n", "1e999\n", "OK\n", "9.9e37\n", "\x00", strings.Repeat("9", 2000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, heard []byte) {
		synctest.Test(t, func(t *testing.T) {
			o, channels := abOptions()
			fuzzDevice(t, o, channels, answers(t, "ID?", "COUNTER\n", heard))
		})
	})
}

// FuzzEZO: the same for a circuit with codes.
func FuzzEZO(f *testing.F) {
	for _, s := range []string{"7.0\r*OK\r", "*ER\r", "*RS\r*RE\r7\r*OK\r", "nan\r*OK\r", "*OK\r*OK\r", "1\r2\r*OK\r", strings.Repeat("*OV\r", 40)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, heard []byte) {
		synctest.Test(t, func(t *testing.T) {
			o, channels, err := fromProfile("ezo-pump")
			if err != nil {
				t.Fatal(err)
			}
			fuzzDevice(t, o, channels, answers(t, "i", "?i,PMP,1.0\r*OK\r", heard))
		})
	})
}

// FuzzSCPI: the same for an instrument with an error queue that says anything.
func FuzzSCPI(f *testing.F) {
	for _, s := range []string{"+0,\"No error\"\n", "1.5\n", "-113\n", "9.91E+37\n", "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, heard []byte) {
		synctest.Test(t, func(t *testing.T) {
			o, channels, err := fromProfile("scpi-meter")
			if err != nil {
				t.Fatal(err)
			}
			channels[0].Write = &Write{WriteKeys: text.WriteKeys{Out: "LEV %f"}}
			greeted := false
			fuzzDevice(t, o, channels, func(data []byte) []byte {
				switch command := strings.TrimRight(string(data), "\n"); {
				case command == "*IDN?":
					return []byte("A,B,C,D\n")
				case command == "SYST:ERR?" && !greeted:
					greeted = true
					return []byte("+0,\"No error\"\n")
				case strings.HasSuffix(command, "?"):
					return heard
				}
				return nil
			})
		})
	})
}

// FuzzSpeaker: whatever is said to a served instrument, it does not crash, and
// takes no value that is not finite or beyond its limits.
func FuzzSpeaker(f *testing.F) {
	for _, s := range []string{"A 1.5\n", "A nan\nA?\n", "A 1e9\n", "\x18\nID?\n", "AL\n", strings.Repeat("A", 5000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, channels := abOptions()
		c := newCounter()
		if _, err := speak(t, o, channels, c).Hear(context.Background(), data); err != nil {
			t.Fatal(err)
		}
		for name, v := range c.values {
			if !drivers.Finite(v) || (name == "a" && (v < -100 || v > 100)) {
				t.Errorf("%s was set to %v", name, v)
			}
		}
	})
}
