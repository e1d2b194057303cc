package serial

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// TestBackoff: attempts are spaced 0.25, 0.5, 1, ... 10 s; between them calls fail
// at once and say when the next will be.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		value(t, dev, "a")
		b.last().Unplug()
		b.set(nil)
		b.tries = nil
		begin := time.Now()
		for time.Since(begin) < 40*time.Second {
			called := time.Now()
			if _, err := dev.Read(t.Context(), []string{"a"}); !errors.Is(err, drivers.ErrUnavailable) || errors.Is(err, drivers.ErrClosed) {
				t.Fatalf("after %v: %v", time.Since(begin), err)
			}
			if took := time.Since(called); took > 0 && called != begin {
				t.Errorf("after %v a call took %v", time.Since(begin), took)
			}
			time.Sleep(10 * time.Millisecond)
		}
		var gaps []time.Duration
		for i := 1; i < len(b.tries); i++ {
			gaps = append(gaps, b.tries[i].Sub(b.tries[i-1]).Round(50*time.Millisecond))
		}
		want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second}
		if len(gaps) < len(want) || !slices.Equal(gaps[:len(want)], want) {
			t.Errorf("the gaps between attempts are %v, want %v", gaps, want)
		}
		if wait := b.tries[0].Sub(begin); wait < 250*time.Millisecond || wait > 300*time.Millisecond {
			t.Errorf("the first attempt came after %v", wait)
		}
	})
}

// TestReconnect: when the instrument is back, so are its values, and the spacing of
// attempts begins anew.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, c := onBench(t, o, channels)
		for range 5 {
			b.last().Unplug()
			if _, err := dev.Read(t.Context(), []string{"a"}); !errors.Is(err, drivers.ErrUnavailable) {
				t.Fatalf("unplugged: %v", err)
			}
			time.Sleep(dev.Wait())
			if err := set(dev, "a", 5); err != nil {
				t.Fatalf("plugged in again: %v", err)
			}
		}
		if got := c.written("a"); len(got) != 5 {
			t.Errorf("written: %v", got)
		}
	})
}

// TestAnotherInstrument: what is plugged in after an unplug is another instrument,
// on the same path. Nothing but the greeting is ever sent to it.
func TestAnotherInstrument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, c := onBench(t, o, channels)
		good := b.plug
		var heard strings.Builder
		b.set(func() *porttest.Fake {
			return porttest.NewFake(t, func(data []byte) []byte {
				heard.Write(data)
				if strings.HasSuffix(string(data), "ID?\n") {
					return []byte("OVEN\n")
				}
				return nil
			})
		})
		b.last().Unplug()
		for range 3 {
			err := set(dev, "a", 50)
			if !errors.Is(err, drivers.ErrUnavailable) {
				t.Fatalf("write: %v", err)
			}
			time.Sleep(dev.Wait())
		}
		if err := set(dev, "a", 50); err == nil || !strings.Contains(err.Error(), `"OVEN"`) || !strings.Contains(err.Error(), "another instrument") {
			t.Errorf("the error does not name what answered: %v", err)
		}
		for line := range strings.Lines(heard.String()) {
			if line != text.CancelCharacter+"\n" && line != "ID?\n" {
				t.Errorf("the other instrument was told %q", line)
			}
		}
		b.set(good)
		time.Sleep(dev.Wait())
		if err := set(dev, "a", 7); err != nil {
			t.Fatal(err)
		}
		if got := c.written("a"); !slices.Equal(got, []float64{7}) {
			t.Errorf("written: %v", got)
		}
	})
}

// TestHalfCommand: the cable broke in the middle of a command, and the instrument
// still holds its first half. It is spoilt before anything else is sent, so that
// it joins with nothing and is not carried out.
func TestHalfCommand(t *testing.T) {
	full := "A 12.345\n"
	for held := 1; held < 2*len(full); held++ {
		synctest.Test(t, func(t *testing.T) {
			o, channels := abOptions()
			if held >= len(full) { // identify's own retries must not be what saves it
				o.Identify = nil
			}
			held := held % len(full)
			c := newCounter()
			in := speak(t, o, channels, c)
			hear := hearing(t, in)
			hear([]byte(full[:held]))
			b := &bench{}
			b.set(func() *porttest.Fake { return porttest.NewFake(t, hear) })
			o.Open = b.open
			dev := openDevice(t, o, channels)
			if err := set(dev, "b", 3); err != nil {
				t.Fatal(err)
			}
			if a, b := c.written("a"), c.written("b"); len(a) != 0 || !slices.Equal(b, []float64{3}) {
				t.Errorf("after %q: a was set to %v, b to %v", full[:held], a, b)
			}
		})
	}
}

// TestBootNoise: a board that restarts when the port is opened says things for a
// while; they are waited for and thrown away.
func TestBootNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.OpenDelay = 2 * time.Second
		c := newCounter()
		b := &bench{}
		b.set(func() *porttest.Fake {
			awake := time.Now().Add(1900 * time.Millisecond)
			hear := hearing(t, speak(t, o, channels, c))
			f := porttest.NewFake(t, func(data []byte) []byte {
				if time.Now().Before(awake) {
					t.Errorf("%q was said to a board that restarts", data)
				}
				return hear(data)
			})
			f.Say([]byte("\x00\xffboot loader 1.2\r\n12.5\n"))
			return f
		})
		o.Open = b.open
		dev := openDevice(t, o, channels)
		if got := value(t, dev, "a"); got != 1 {
			t.Errorf("a is %v", got)
		}
	})
}

// TestOpenMovesNothing: opening, reading and closing write no setpoint and halt
// nothing.
func TestOpenMovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.Halt = []text.Exchange{{Out: "STOP", Ack: "^OK$"}}
		dev, _, c := onBench(t, o, channels)
		value(t, dev, "a")
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
		if len(c.log)+c.halts != 0 {
			t.Errorf("written %v, %d halts", c.log, c.halts)
		}
	})
}
