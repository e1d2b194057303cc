package serial

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// TestHalt: halt commands first, then safe values, then releases; twice is as good
// as once.
func TestHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.Halt = []text.Exchange{{Out: "STOP", Ack: "^OK$"}}
		dev, _, c := onBench(t, o, channels)
		if err := set(dev, "a", 9); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := dev.Halt(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.written("a"); !slices.Equal(got, []float64{9, 0, 0}) || c.halts != 2 {
			t.Errorf("a was written %v, %d halts", got, c.halts)
		}
		last := c.log[len(c.log)-1]
		if !slices.Equal(last.Release, []string{"b"}) {
			t.Errorf("last came %v; b, which has no safe value, is to be released", last)
		}
	})
}

// TestHaltIsConfirmed: what no answer and no reading confirms is said not to be.
func TestHaltIsConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ChannelOptions)
		answer string // in place of what a says
		why    string // "": confirmed
	}{
		"answer":              {func(c *ChannelOptions) {}, "", ""},
		"reading":             {func(c *ChannelOptions) { c.Write.Ack = "" }, "", ""},
		"reading nearby":      {func(c *ChannelOptions) { c.Write.Ack, c.SafeTolerance = "", 0.1 }, "0.09", ""},
		"reading elsewhere":   {func(c *ChannelOptions) { c.Write.Ack, c.SafeTolerance = "", 0.1 }, "0.11", "says 0.11 after 10s"},
		"no reading":          {func(c *ChannelOptions) { c.Write.Ack = "" }, "error", "no reading confirmed it within 10s"},
		"nothing to ask":      {func(c *ChannelOptions) { c.Write.Ack, c.Read = "", nil }, "", "neither ack nor read"},
		"neither":             {func(c *ChannelOptions) { c.Safe, c.Release = nil, nil }, "", "neither safe nor release"},
		"release in the dark": {func(c *ChannelOptions) { c.Safe = nil; c.Release.Ack = "" }, "", "no answer (ack) that would confirm it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, channels := abOptions()
				c.change(&channels[0])
				dev, b, _ := onBench(t, o, channels)
				if c.answer != "" {
					meddle(b.last(), "A?", 1<<30, func([]byte) []byte { return []byte(c.answer + "\n") })
				}
				err := dev.Halt(t.Context())
				switch {
				case c.why == "" && err != nil:
					t.Error(err)
				case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), "safe state not confirmed")):
					t.Errorf("%v does not say %q", err, c.why)
				}
			})
		})
	}
}

// TestHaltReconnects: a halt does not wait for the next attempt.
func TestHaltReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.ReconnectMin, o.ReconnectMax = time.Minute, time.Minute
		dev, b, c := onBench(t, o, channels)
		b.last().Unplug()
		if err := set(dev, "a", 9); !errors.Is(err, drivers.ErrUnavailable) {
			t.Fatal(err)
		}
		if err := set(dev, "a", 9); err == nil || !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("between attempts: %v", err)
		}
		if err := dev.Halt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.written("a"); !slices.Equal(got, []float64{0}) {
			t.Errorf("a was written %v", got)
		}
		b.last().Unplug()
		b.set(nil)
		if err := dev.Halt(t.Context()); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "safe state not confirmed") {
			t.Errorf("without an instrument: %v", err)
		}
	})
}
