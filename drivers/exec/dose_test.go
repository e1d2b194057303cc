package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/labtuner/tuner/drivers"
)

// feeder opens examples/feeder.py.
func feeder(t *testing.T) *Device {
	t.Helper()
	o := patient()
	o.Command, o.Base = []string{"python3", "feeder.py"}, "examples"
	d, err := New(o, nil, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	channels, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(channels) != 2 || !channels[0].Dose || channels[0].CanRelease || channels[1].Dose {
		t.Fatalf("channels %+v", channels)
	}
	return d
}

// TestDoseOfAChild: a dose adds once, however often it is told under one name, and only
// a refusal is certain.
func TestDoseOfAChild(t *testing.T) {
	t.Parallel()
	d, ctx := feeder(t), context.Background()
	ec := func() float64 {
		r, err := d.Read(ctx, []string{"ec"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Values["ec"]
	}
	dose := func(name string, amount float64) (drivers.Reading, error) {
		return d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"feed": amount}, Dose: name})
	}
	before := ec()
	for range 2 { // the driver sends it twice because it is called twice; the pump knows it
		if r, err := dose("run-1", 3); err != nil || r.Values["feed"] != 3 {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if got := ec() - before; got < 0.599 || got > 0.601 {
		t.Errorf("3 mL raised it by %v, want 0.6", got)
	}
	for what, c := range map[string]struct {
		set      drivers.Setpoints
		refused  bool
		notGiven bool
	}{
		"a setpoint to a pump":  {drivers.Setpoints{Values: map[string]float64{"feed": 1}}, true, true},
		"more than it can give": {drivers.Setpoints{Values: map[string]float64{"feed": 30}, Dose: "run-2"}, true, true},
		"a dose to a probe":     {drivers.Setpoints{Values: map[string]float64{"ec": 1}, Dose: "run-3"}, true, true},
	} {
		_, err := d.Write(ctx, c.set)
		if errors.Is(err, drivers.ErrRefused) != c.refused || errors.Is(err, drivers.ErrNotSent) != c.notGiven {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := dose("run-4", 1); !errors.Is(err, drivers.ErrNotSent) {
		t.Errorf("to a child that is gone: %v", err)
	}
}

// TestUncertainRefusals: a child that failed, gave up or cannot reach its pump does not
// know what it has given; one that refuses does.
func TestUncertainRefusals(t *testing.T) {
	for code, sure := range map[string]bool{CodeRefused: true, CodeBadRequest: true, "busy": true, CodeFault: false, CodeTimeout: false, CodeUnavailable: false} {
		err := certain(&RefusedError{Op: opWrite, Code: code})
		if errors.Is(err, drivers.ErrRefused) != sure || !sure && !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if certain(nil) != nil {
		t.Error("no error became one")
	}
}

func TestHelloOfADose(t *testing.T) {
	for line, want := range map[string]bool{
		`{"protocol":"tuner-exec/1","name":"p","channels":[{"name":"feed","unit":"mL","access":"rw","kind":"dose"}]}`:     true,
		`{"protocol":"tuner-exec/1","name":"p","channels":[{"name":"feed","unit":"mL","access":"rw","kind":"setpoint"}]}`: true,
		`{"protocol":"tuner-exec/1","name":"p","channels":[{"name":"feed","unit":"mL","access":"r","kind":"dose"}]}`:      false,
		`{"protocol":"tuner-exec/1","name":"p","channels":[{"name":"feed","unit":"mL","access":"rw","kind":"drip"}]}`:     false,
		`{"protocol":"tuner-exec/1","name":"p","channels":[{"name":"feed","unit":"mL","access":"rw","kind":1}]}`:          false,
	} {
		if _, err := parseHello([]byte(line)); (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
