package serial

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/protocol"
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

// TestLostLineEndsARead: where the connection goes between two questions of a read, what came before
// is not given as a reading.
func TestLostLineEndsARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		f, before := b.last(), len(b.tries)
		var said []string
		tap(b, &said, func(command string) {
			if strings.HasPrefix(command, "B?") {
				f.Unplug()
			}
		})
		r, err := dev.Read(t.Context(), []string{"a", "b", "s"})
		if !errors.Is(err, drivers.ErrUnavailable) || len(r.Values) != 0 || len(r.Missing) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if len(said) != 2 || len(b.tries) != before {
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
		dev := openDevice(t, o, channels)
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := dev.Read(short, []string{"a"}); err == nil || dev.link == nil || dev.doubt == nil {
			t.Fatalf("%v; the line is to be open, and in doubt", err)
		}
		said = nil
		_, _ = dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"b": 4}, For: map[string]time.Duration{"b": 2500 * time.Millisecond}, Safe: true})
		if i := slices.IndexFunc(said, func(command string) bool { return strings.Contains(command, "B 4.000") }); i < 0 || !strings.Contains(said[i], "B 4.000 2.5") {
			t.Errorf("said %q", said)
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

// TestRunningSaysNothingOfAFailedSet: of a pump that only says that it runs, nobody knows at which rate
// once a command has failed.
func TestRunningSaysNothingOfAFailedSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pump := &circuit{kind: "PMP", value: "3.00"}
		dev := onCircuit(t, "ezo-pump", pump)
		if err := set(dev, "rate", 10); err != nil {
			t.Fatal(err)
		}
		pump.dosing = "DC"
		if got := value(t, dev, "rate"); got != 10 {
			t.Fatalf("it runs at %v", got)
		}
		pump.answers = map[string]string{strings.Replace(pump.log[slices.IndexFunc(pump.log, func(c string) bool { return strings.HasPrefix(c, "DC,10") })], "10", "20", 1): "*ER\r"}
		if err := set(dev, "rate", 20); !errors.Is(err, drivers.ErrRefused) {
			t.Fatalf("a command that was refused: %v", err)
		}
		r, err := dev.Read(t.Context(), []string{"rate"})
		if v, there := r.Values["rate"]; there || err != nil {
			t.Errorf("rate %v, %v; nobody knows it", v, err)
		}
	})
}

// TestNothingIsAskedIntoNoise: while a line does not become quiet, no frame is sent that would meet
// what comes.
func TestNothingIsAskedIntoNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := ovenOptions()
		dev, b, _ := onBench(t, o, channels)
		var said []string
		tap(b, &said, nil)
		f, stop := b.last(), make(chan struct{})
		f.Say([]byte("x"))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
					f.Say([]byte("x"))
				}
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if _, err := dev.Read(ctx, []string{"a"}); err == nil || len(said) != 0 {
			t.Errorf("%v after %d questions", err, len(said))
		}
		close(stop)
		<-done
	})
}

// TestBlindlySaidIsNotUnsent: a safe value that was said to an instrument which does not answer has
// left, whatever becomes of the greeting that follows.
func TestBlindlySaidIsNotUnsent(t *testing.T) {
	for _, where := range []string{"/dev/fake", "tcp://instrument:5025"} {
		synctest.Test(t, func(t *testing.T) {
			o, channels := abOptions()
			o.Port = where
			dev, b, _ := onBench(t, o, channels)
			f := b.last()
			var said []string
			f.Hear = func(data []byte) []byte { said = append(said, string(data)); return nil }
			dev.doubt = protocol.ErrSilent
			b.set(nil)
			_, err := dev.Write(t.Context(), drivers.Setpoints{Values: map[string]float64{"a": 0}, Safe: true})
			if len(said) == 0 || !strings.Contains(said[0], "A 0.000") || err == nil || errors.Is(err, drivers.ErrNotSent) {
				t.Errorf("%s: said %q, and Write says %v", where, said, err)
			}
		})
	}
}

// TestSaidOnceIsNotUnsent: the first of several safe values was said, and not answered. That the line
// fails before it is said again does not make the write unsent.
func TestSaidOnceIsNotUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		said := ""
		b.last().Hear = func(data []byte) []byte { said += string(data); return nil }
		b.set(nil) // it is opened no more
		_, err := dev.Write(t.Context(), drivers.Setpoints{Values: map[string]float64{"a": 0, "b": 0}, Safe: true})
		if !strings.Contains(said, "A 0.000") || err == nil || errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("said %q, and Write says %v", said, err)
		}
	})
}
