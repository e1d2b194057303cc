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
)

// circuit is an EZO circuit as its data sheet describes it, written apart from the
// driver: it takes its time, has a continuous mode that is on at first, and codes
// that can be switched off.
type circuit struct {
	port    *porttest.Fake
	kind    string // "pH"
	delay   time.Duration
	value   string
	coded   bool
	heard   string
	log     []string
	dosing  string
	runs    time.Duration // of a dose; 0: for ever
	stopped chan struct{}
	// answers, if any, are given to the commands that begin so, in place of its own.
	answers map[string]string
}

func (c *circuit) hear(data []byte) []byte {
	c.heard += string(data)
	for {
		command, rest, whole := strings.Cut(c.heard, "\r")
		if !whole {
			return nil
		}
		c.heard = rest
		c.log = append(c.log, command)
		answer := c.answer(command)
		time.AfterFunc(c.delay, func() { c.port.Say([]byte(answer)) })
	}
}

func (c *circuit) answer(command string) string {
	ok := ""
	if c.coded {
		ok = "*OK\r"
	}
	if text, there := c.answers[command]; there {
		return text
	}
	if text, there := c.answers["D"]; there && strings.HasPrefix(command, "D,") && command != "D,?" {
		c.dosing = command
		return text
	}
	switch name, args, _ := strings.Cut(strings.ToLower(command), ","); {
	case command == "*OK,1":
		c.coded = true
		return "*OK\r"
	case name == "i":
		return "?i," + c.kind + ",1.98\r" + ok
	case name == "c":
		if args == "0" && c.stopped != nil {
			close(c.stopped)
			c.stopped = nil
		}
		return ok
	case name == "r":
		return c.value + "\r" + ok
	case name == "tv":
		return "?TV,434.50\r" + ok
	case command == "D,?":
		running := "0"
		if c.dosing != "" {
			running = "1"
		}
		return "?D,1.50," + running + "\r" + ok
	case name == "x":
		c.dosing = ""
		return "*DONE,1.50\r"
	case name == "dc" && strings.HasPrefix(args, "100"):
		return "*TOOFAST\r*ER\r"
	case name == "d" || name == "dc":
		c.dosing = command
		if name == "d" && c.runs > 0 {
			time.AfterFunc(c.runs, func() {
				if c.dosing == command {
					c.dosing = ""
					c.port.Say([]byte("*DONE," + c.value + "\r"))
				}
			})
		}
		return ok
	}
	return "*ER\r"
}

// chatter says a reading every second until C,0.
func (c *circuit) chatter() {
	stop := make(chan struct{})
	c.stopped = stop
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
				c.port.Say([]byte(c.value + "\r"))
			}
		}
	}()
}

// onCircuit opens a profile on a circuit.
func onCircuit(t *testing.T, profile string, c *circuit) *Device {
	t.Helper()
	o, channels, err := fromProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	o.Port = "/dev/fake"
	c.port = porttest.NewFake(t, nil)
	c.port.Hear = c.hear
	b := &bench{}
	b.set(func() *porttest.Fake { return c.port })
	o.Open = b.open
	dev, err := New(o, channels, env(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := dev.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dev
}

// TestEZOProbe: a circuit with codes switched off and in continuous mode, as it may
// come out of the drawer.
func TestEZOProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &circuit{kind: "pH", delay: 900 * time.Millisecond, value: "7.002"}
		c.port = porttest.NewFake(t, nil)
		dev := func() *Device {
			o, channels, err := fromProfile("ezo-ph")
			if err != nil {
				t.Fatal(err)
			}
			o.Port = "/dev/fake"
			c.port.Hear = c.hear
			b := &bench{}
			b.set(func() *porttest.Fake { return c.port })
			o.Open = b.open
			dev, err := New(o, channels, env(t))
			if err != nil {
				t.Fatal(err)
			}
			return dev
		}()
		defer dev.Close()
		c.chatter()
		if _, err := dev.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if got := value(t, dev, "ph"); got != 7.002 {
				t.Errorf("pH %v", got)
			}
		}
		if c.stopped != nil {
			t.Error("the circuit is still in continuous mode")
		}
	})
}

// TestEZOCodes: what the codes mean, wherever they come.
func TestEZOCodes(t *testing.T) {
	for text, want := range map[string]struct {
		value float64
		kind  error  // nil: the value comes
		why   string // in the error
	}{
		"7.002\r*OK\r":             {value: 7.002},
		"*OV\r7.002\r*OK\r":        {value: 7.002},
		"7.002\r*UV\r*OK\r":        {value: 7.002},
		"*WA\r7.002\r*OK\r":        {value: 7.002},
		"7.002\r*OK\r*DONE,1.5\r":  {value: 7.002},
		"*ER\r":                    {kind: drivers.ErrRefused, why: "*ER"},
		"*TOOFAST\r*ER\r":          {kind: drivers.ErrRefused, why: "*TOOFAST"},
		"*OK\r":                    {kind: drivers.ErrUnavailable, why: "no data"},
		"7.002\r7.003\r*OK\r":      {kind: drivers.ErrUnavailable, why: "one line of data"},
		"7.002,8\r*OK\r":           {kind: drivers.ErrUnavailable, why: "full stop"},
		"nan\r*OK\r":               {kind: drivers.ErrUnavailable, why: "no value"},
		"*RS\r*RE\r":               {kind: drivers.ErrUnavailable, why: "restarted"},
		"7.002\r*OK\r8.000\r*OK\r": {kind: drivers.ErrUnavailable, why: "follows"},
		"7.002\r":                  {value: 7.002}, // the greeting after it switches the codes on again
		"?Status\r*OK\r":           {kind: drivers.ErrUnavailable, why: "expected digits"},
	} {
		t.Run(strings.ReplaceAll(text, "\r", "|"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &circuit{kind: "pH", value: strings.TrimSuffix(text, "\r")}
				dev := onCircuit(t, "ezo-ph", c)
				c.coded = false // text has the codes
				r, err := dev.Read(t.Context(), []string{"ph"})
				c.coded = true
				got, there := r.Values["ph"]
				switch {
				case want.kind == nil && (err != nil || got != want.value):
					t.Errorf("%v, %v; want %v", got, err, want.value)
				case want.kind != nil && (there || !errors.Is(err, want.kind) || !strings.Contains(err.Error(), want.why)):
					t.Errorf("%v, %v; want %v with %q", r.Values, err, want.kind, want.why)
				}
			})
		})
	}
}

// TestEZOPump: a dose is sent once, a flow ends by itself, and X stops both.
func TestEZOPump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &circuit{kind: "PMP", delay: 300 * time.Millisecond}
		dev := onCircuit(t, "ezo-pump", c)
		c.value, c.runs = "12.40", 20*time.Second
		began := time.Now()
		r, err := give(dev, "dose", 12.5)
		if took := time.Since(began); err != nil || r.Values["dose"] != 12.4 || !slices.Contains(c.log, "D,12.50") || took < 20*time.Second || took > 23*time.Second {
			t.Errorf("%v after %v, %v; it heard %q", r.Values, took, err, c.log)
		}
		c.dosing = "D,1.00"
		if r, err := dev.Read(t.Context(), []string{"rate"}); err != nil || len(r.Values) > 0 {
			t.Errorf("a rate that nobody set: %v, %v", r.Values, err)
		}
		if err := set(dev, "rate", 25); err != nil || c.dosing != "DC,25.00,10" {
			t.Errorf("%q, %v", c.dosing, err)
		}
		if got := value(t, dev, "rate"); got != 25 {
			t.Errorf("rate %v", got)
		}
		c.dosing = "" // the ten minutes are over
		if got := value(t, dev, "rate"); got != 0 {
			t.Errorf("rate %v of a pump that stands still", got)
		}
		c.dosing = "DC"
		if got := value(t, dev, "rate"); got != 25 {
			t.Errorf("rate %v", got)
		}
		if err := set(dev, "rate", 100); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "*TOOFAST") {
			t.Errorf("too fast: %v", err)
		}
		if got := value(t, dev, "total"); got != 434.5 {
			t.Errorf("total %v", got)
		}
		if err := dev.Halt(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(c.log); c.log[n-1] != "X" || !slices.Contains(c.log, "*OK,1") {
			t.Errorf("it heard %q", c.log)
		}
		// The answer to a dose is lost: nobody knows, and nothing is sent again.
		before := len(c.log)
		c.coded = false
		if _, err := give(dev, "dose", 3); err == nil || errors.Is(err, drivers.ErrNotSent) || errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("a dose without answer: %v", err)
		}
		if doses := slices.DeleteFunc(slices.Clone(c.log[before:]), func(s string) bool { return !strings.HasPrefix(s, "D,") }); len(doses) != 1 {
			t.Errorf("it heard %q", c.log[before:])
		}
	})
}

// TestEZORestart: word of a restart between two questions has the settings made
// again.
func TestEZORestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &circuit{kind: "pH", value: "7.002"}
		dev := onCircuit(t, "ezo-ph", c)
		value(t, dev, "ph")
		c.chatter()
		before := len(c.log)
		c.port.Say([]byte("*RS\r*RE\r"))
		value(t, dev, "ph")
		if got := c.log[before:]; !slices.Contains(got, "C,0") || !slices.Contains(got, "i") {
			t.Errorf("after a restart it heard %q", got)
		}
	})
}
