package makesafe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// deafDevice loses the first of its writes, as a broker may lose the last messages of a
// connection, and reads what it has taken.
type deafDevice struct {
	deaf   int
	writes int
	value  float64
	lost   error // what a write that is lost returns
}

func (*deafDevice) Open(context.Context) ([]drivers.Channel, error) { return nil, nil }
func (*deafDevice) Close() error                                    { return nil }
func (*deafDevice) Halt(context.Context) error                      { return nil }

func (d *deafDevice) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if d.writes++; d.writes <= d.deaf {
		return drivers.Reading{}, d.lost
	}
	d.value = s.Values["x"]
	return drivers.Reading{}, nil
}

func (d *deafDevice) Read(context.Context, []string) (drivers.Reading, error) {
	return drivers.Reading{Values: map[string]float64{"x": d.value}, At: time.Now()}, nil
}

// safeOf asks a device for one safe value, 2 V.
func safeOf(ctx context.Context, d *deafDevice) error {
	v := plan.Variable{Name: "x", Unit: "V", Tolerance: 0.1, Channel: plan.Channel{Name: "x"}, Limits: safety.VariableLimits{Safe: 2}}
	f := faultStates{set: drivers.Setpoints{Values: map[string]float64{"x": 2}}, awaited: []plan.Variable{v}}
	return f.write(ctx, setup.Device{Wired: drivers.Wired{Build: func(drivers.Env) (drivers.Device, error) { return d, nil }}})
}

// TestMakeSafeWritesAgain loses the first write, with and without an error: it is noticed, and written again. What is
// refused is not.
func TestMakeSafeWritesAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, lost := range []error{nil, fmt.Errorf("%w: connection lost", drivers.ErrUnavailable)} {
		d := &deafDevice{deaf: 1, value: 7, lost: lost}
		if err := safeOf(ctx, d); err != nil || d.value != 2 || d.writes != 2 {
			t.Errorf("lost with %v: %v, %d writes, the actuator is at %v", lost, err, d.writes, d.value)
		}
	}
	d := &deafDevice{deaf: 1, value: 7, lost: drivers.ErrRefused}
	if err := safeOf(ctx, d); !errors.Is(err, drivers.ErrRefused) || d.writes != 1 {
		t.Errorf("refused: %v after %d writes", err, d.writes)
	}
}

// TestMakeSafeSaysWhatIsNotSafe has a device that takes nothing.
func TestMakeSafeSaysWhatIsNotSafe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := safeOf(ctx, &deafDevice{deaf: 1000, value: 7})
	if err == nil || !strings.Contains(err.Error(), "actuator x was told its safe value, 2 V, and reads 7 V") {
		t.Errorf("got %v", err)
	}
}

// TestOldReadingConfirmsNothing holds a reading from before the write against the safe
// value: it is of no use.
func TestOldReadingConfirmsNothing(t *testing.T) {
	v := plan.Variable{Name: "x", Unit: "V", Tolerance: 0.1, Channel: plan.Channel{Name: "x"}, Limits: safety.VariableLimits{Safe: 2}}
	left, err := look(t.Context(), &deafDevice{value: 2}, []plan.Variable{v}, time.Now().Add(time.Hour))
	if len(left) != 1 || err != nil {
		t.Errorf("%v is missing, %v", left, err)
	}
	if said := unconfirmed(v, drivers.Reading{}, errors.New("broken")).Error(); !strings.Contains(said, "cannot be read: broken") {
		t.Error(said)
	}
}
