package makesafe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

const (
	// makeSafeLook is how often a device is asked whether it is safe.
	makeSafeLook = 50 * time.Millisecond
	// makeSafeAgain is after how long without a confirmation the values are written again:
	// a message may be lost where a connection ends.
	makeSafeAgain = time.Second
	// makeSafeRetry is after how long a write is tried again that the device may not have had.
	makeSafeRetry = 250 * time.Millisecond
)

// faultStates are the writes that make one device safe.
type faultStates struct {
	set drivers.Setpoints
	// awaited are the variables whose value in set is to be read back.
	awaited []plan.Variable
	// words say what has been done when all of it has been.
	words []string
}

// still says that there is nothing to tell the device.
func (f *faultStates) still() bool { return len(f.set.Values)+len(f.set.Release) == 0 }

// write is the whole conversation with one device: the fault states are sent until it
// tells that it has them. The error names those that it has not when ctx ends.
func (f *faultStates) write(ctx context.Context, d setup.Device) (err error) {
	dev, err := d.Build(drivers.Env{Clock: worker.RealClock{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	if _, err := dev.Open(ctx); err != nil {
		return err
	}
	act, ok := dev.(drivers.Actuator)
	if !ok {
		return fmt.Errorf("driver %q cannot set anything", d.Driver)
	}
	missing := f.awaited
	for begun := time.Now(); ; {
		answer, err := act.Write(ctx, f.set)
		if err != nil {
			if !errors.Is(err, drivers.ErrUnavailable) || !waited(ctx, makeSafeRetry) {
				return err
			}
			continue // the way there may have ended, and another one is open soon
		}
		missing = lacking(missing, answer)
		for again := time.Now().Add(makeSafeAgain); len(missing) > 0 && time.Now().Before(again); {
			if missing, err = look(ctx, dev, missing, begun); err != nil {
				return err
			}
		}
		if len(missing) == 0 {
			return nil
		}
	}
}

// waited waits, and reports whether ctx goes on.
func waited(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// look asks a device once for the variables whose safe value it has not reported since begun,
// and returns those that are still missing. Its error comes when ctx ends, and says what
// each of them was last read as.
func look(ctx context.Context, dev drivers.Device, missing []plan.Variable, begun time.Time) ([]plan.Variable, error) {
	var left []plan.Variable
	var errs []error
	for _, v := range missing {
		r, err := dev.Read(ctx, []string{v.Channel.Name})
		if r.At.Before(begun) {
			r.Values = nil
		}
		if len(lacking([]plan.Variable{v}, r)) == 0 {
			continue
		}
		left = append(left, v)
		errs = append(errs, unconfirmed(v, r, err))
	}
	if len(left) == 0 {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return left, errors.Join(errs...)
	case <-time.After(makeSafeLook):
		return left, nil
	}
}

// unconfirmed says what is known of an actuator after its safe value was sent.
func unconfirmed(v plan.Variable, r drivers.Reading, err error) error {
	told := fmt.Sprintf("actuator %s was told its safe value, %s", v.Name, show.Quantity(v.Limits.Safe, v.Unit))
	value, known := r.Values[v.Channel.Name]
	switch {
	case known:
		return fmt.Errorf("%s, and reads %s", told, show.Quantity(value, v.Unit))
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s, and cannot be read: %w", told, err)
	}
	return fmt.Errorf("%s, and tells no value", told)
}

// lacking leaves out the variables that a reading shows at their safe value.
func lacking(of []plan.Variable, r drivers.Reading) (left []plan.Variable) {
	for _, v := range of {
		if value, known := r.Values[v.Channel.Name]; !known || math.Abs(value-v.Limits.Safe) > v.Tolerance {
			left = append(left, v)
		}
	}
	return left
}
