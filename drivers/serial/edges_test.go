package serial

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// tap counts what is said to an instrument, and can spoil it.
func tap(b *bench, said *[]string, spoil func(command string)) {
	f := b.last()
	hear := f.Hear
	f.Hear = func(data []byte) []byte {
		*said = append(*said, string(data))
		if spoil != nil {
			spoil(string(data))
		}
		return hear(data)
	}
}

// TestLostLineEndsARead: once the connection has gone, nothing else is asked in the same read, and no
// half of a reading comes back as a whole one.
func TestLostLineEndsARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		f, before := b.last(), len(b.tries)
		var said []string
		tap(b, &said, func(string) { f.Unplug() })
		r, err := dev.Read(t.Context(), []string{"a", "b", "s"})
		if !errors.Is(err, drivers.ErrUnavailable) || len(r.Values) != 0 || len(r.Missing) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if len(said) != 1 || len(b.tries) != before {
			t.Errorf("asked %q and opened %d times after the loss", said, len(b.tries)-before)
		}
	})
}

// TestLostLineEndsADose: where the connection breaks during a dose, nobody asks over another one
// whether it is over: that instrument may have been switched off and on.
func TestLostLineEndsADose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pump := &circuit{kind: "PMP", value: "3.00", runs: time.Minute}
		dev := onCircuit(t, "ezo-pump", pump)
		first := pump.port
		hear := first.Hear
		first.Hear = func(data []byte) []byte {
			if strings.Contains(string(data), "D,?") {
				first.Unplug()
				return nil
			}
			return hear(data)
		}
		began := time.Now()
		_, err := give(dev, "dose", 3)
		if !errors.Is(err, drivers.ErrUnavailable) || errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the loss was told after %v", took)
		}
		asked := 0
		for _, command := range pump.log {
			if command == "D,?" {
				asked++
			}
		}
		if asked != 0 {
			t.Errorf("another connection was asked %d times: %q", asked, pump.log)
		}
	})
}

// TestBlindSafeValueSaysItsLease: a safe value that is said to a line in doubt says how long it
// stands, as any other.
func TestBlindSafeValueSaysItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		channels[0].Write = &Write{WriteKeys: text.WriteKeys{Out: "A %.3f", Ack: "^OK$"}}
		channels[1].Write = &Write{WriteKeys: text.WriteKeys{Out: "B %.3f %*.1f", Ack: "^OK$", Lasts: "s"}}
		var said []string
		b := &bench{}
		b.set(func() *porttest.Fake {
			return porttest.NewFake(t, func(data []byte) []byte {
				said = append(said, string(data))
				if strings.HasPrefix(string(data), "ID?") {
					return []byte("COUNTER\n")
				}
				return nil // silent from then on
			})
		})
		o.Open = b.open
		dev, err := New(o, channels, env(t))
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		if _, err := dev.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := dev.Read(t.Context(), []string{"a"}); err == nil {
			t.Fatal("a silent instrument was read")
		}
		said = nil
		_, _ = dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"b": 4}, For: map[string]time.Duration{"b": 2500 * time.Millisecond}, Safe: true})
		if all := strings.Join(said, "|"); !strings.Contains(all, "B 4.000 2.5") {
			t.Errorf("said %q", all)
		}
	})
}

// TestAnotherInstrumentIsAskedOnce: an answer that is whole and says another instrument is no fault of
// the line, so the question is not repeated.
func TestAnotherInstrumentIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := ovenOptions()
		other := o
		other.Expect = &modbus.Expect{Register: o.Expect.Register, Value: 4712}
		var said []string
		b, c := &bench{}, newCounter()
		b.set(func() *porttest.Fake {
			hear := hearing(t, speak(t, other, channels, c))
			return porttest.NewFake(t, func(data []byte) []byte { said = append(said, string(data)); return hear(data) })
		})
		o.Open = b.open
		dev, err := New(o, channels, env(t))
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		if _, err := dev.Open(t.Context()); !errors.Is(err, drivers.ErrProtocol) || len(said) != 1 {
			t.Errorf("%v after %d questions", err, len(said))
		}
	})
}
