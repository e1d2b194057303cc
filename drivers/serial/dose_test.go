package serial

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// give writes a dose.
func give(dev *Device, name string, amount float64) (drivers.Reading, error) {
	return giveIn(context.Background(), dev, name, amount)
}

func giveIn(ctx context.Context, dev *Device, name string, amount float64) (drivers.Reading, error) {
	return dev.Write(ctx, drivers.Setpoints{Values: map[string]float64{name: amount}, Dose: "run-1"})
}

// doses counts what a circuit has been told to give.
func (c *circuit) doses() (n int) {
	for _, command := range c.log {
		if strings.HasPrefix(command, "D,") && command != "D,?" {
			n++
		}
	}
	return n
}

// TestDoseIsSentOnce: a dose whose answer is lost, garbled, refused or late, or during
// which the connection breaks, is never sent again: not at once, not by the next call,
// not by a new connection. Only a refusal is certain.
func TestDoseIsSentOnce(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(*circuit)
		certain bool
	}{
		"no answer":    {func(c *circuit) { c.coded = false }, false},
		"another code": {func(c *circuit) { c.answers = map[string]string{"D": "*WHAT\r"} }, false},
		"data":         {func(c *circuit) { c.answers = map[string]string{"D": "3.00\r*OK\r"} }, false},
		"refused":      {func(c *circuit) { c.answers = map[string]string{"D": "*ER\r"} }, true},
		"restarted":    {func(c *circuit) { c.answers = map[string]string{"D": "*RS\r*RE\r"} }, false},
		"no status":    {func(c *circuit) { c.answers = map[string]string{"D,?": "?D,1.5\r*OK\r"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pump := &circuit{kind: "PMP", value: "3.00", runs: 5 * time.Second}
				dev := onCircuit(t, "ezo-pump", pump)
				c.spoil(pump)
				_, err := give(dev, "dose", 3)
				if err == nil || errors.Is(err, drivers.ErrRefused) != c.certain || errors.Is(err, drivers.ErrNotSent) || errors.Is(err, drivers.ErrProtocol) {
					t.Errorf("error %v", err)
				}
				pump.answers, pump.coded = nil, true
				for range 5 {
					time.Sleep(30 * time.Second)
					if _, err := dev.Read(t.Context(), []string{"total"}); err != nil {
						t.Logf("read: %v", err)
					}
				}
				if n := pump.doses(); n != 1 {
					t.Errorf("told %d times: %q", n, pump.log)
				}
			})
		})
	}
}

// TestDoseIsCutByItsContext: a dose that runs does not keep its line from being used to
// stop it.
func TestDoseIsCutByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pump := &circuit{kind: "PMP", value: "3.00"}
		dev := onCircuit(t, "ezo-pump", pump)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := giveIn(ctx, dev, "dose", 3); err == nil || errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("error %v", err)
		}
		if _, err := dev.Write(t.Context(), drivers.Setpoints{Release: []string{"dose"}}); err != nil || pump.dosing != "" || pump.doses() != 1 {
			t.Errorf("stopped: %v, %q, %q", err, pump.dosing, pump.log)
		}
	})
}

// TestNothingWasSent: what never left is told apart from what may have.
func TestNothingWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pump := &circuit{kind: "PMP", value: "3.00", runs: time.Second}
		dev := onCircuit(t, "ezo-pump", pump)
		for what, s := range map[string]drivers.Setpoints{
			"a setpoint":             {Values: map[string]float64{"dose": 3}},
			"a dose to a setpoint":   {Values: map[string]float64{"rate": 3}, Dose: "run-1"},
			"two at once":            {Values: map[string]float64{"dose": 3, "rate": 1}, Dose: "run-1"},
			"more than it can give":  {Values: map[string]float64{"dose": 3000}, Dose: "run-1"},
			"what is not a number":   {Values: map[string]float64{"dose": math.NaN()}, Dose: "run-1"},
			"with something let go":  {Values: map[string]float64{"dose": 3}, Release: []string{"rate"}, Dose: "run-1"},
			"of no channel there is": {Values: map[string]float64{"drip": 3}, Dose: "run-1"},
		} {
			if _, err := dev.Write(t.Context(), s); !errors.Is(err, drivers.ErrNotSent) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := dev.Halt(t.Context()); err != nil || pump.doses() != 0 {
			t.Errorf("halt: %v, %q", err, pump.log)
		}
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := give(dev, "dose", 3); err == nil || pump.doses() != 0 {
			t.Errorf("closed: %v, %q", err, pump.log)
		}
	})
}

func TestBadDoseChannels(t *testing.T) {
	write := func() *Write { return &Write{WriteKeys: text.WriteKeys{Out: "D %.2f", Ack: "^OK$"}} }
	for want, spoil := range map[string]func(*ChannelOptions){
		"write = ":                 func(o *ChannelOptions) { o.Write, o.Read = nil, &Read{ReadKeys: text.ReadKeys{Out: "R", In: "%f"}} },
		"a dose has no safe value": func(o *ChannelOptions) { zero := 0.0; o.Safe = &zero },
		"idempotent":               func(o *ChannelOptions) { o.Write.Idempotent = true },
		"verify":                   func(o *ChannelOptions) { o.Write.Verify = &text.Verify{Out: "R", In: "%f"} },
		"write has no ack":         func(o *ChannelOptions) { o.Write.Ack = "" },
		"which reports a dose":     func(o *ChannelOptions) { o.Dose = false; o.Write.Done = &text.Done{Out: "B", In: "%d"} },
		"done.in: ":                func(o *ChannelOptions) { o.Write.Done = &text.Done{Out: "B", In: "idle"} },
	} {
		options := Default()
		options.Port = "/dev/fake"
		c := ChannelOptions{Channel: "feed", Dose: true, Write: write()}
		spoil(&c)
		_, err := New(options, []ChannelOptions{c}, env(t))
		if want == "write = " {
			want = "no write to give it with"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if !slices.Contains(profileNames(), "ezo-pump") {
		t.Error("there is no profile of a dosing pump")
	}
}
