package protocol

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// Served is the device behind an instrument.
type Served struct {
	Dev drivers.Device
	Log *slog.Logger
	// doses counts those that were told, which have no names on this line.
	doses int
}

// shotEvery is how often a served device is asked for a shot that is awaited.
const shotEvery = 2 * time.Millisecond

// Now reads channels once. A device that cannot be reached says nothing.
func (s *Served) Now(ctx context.Context, names []string) (map[string]float64, error) {
	r, err := s.Dev.Read(ctx, names)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Warn("the served device failed to read", slog.Any("error", err))
		}
		return nil, err
	}
	return r.Values, nil
}

// After reads channels at an instant after the call: what comes in shots is
// awaited for limit. Without an answer it returns nil.
func (s *Served) After(ctx context.Context, names []string, limit time.Duration) map[string]float64 {
	if _, err := s.Now(ctx, names); err != nil { // what was measured before the question
		return nil
	}
	for deadline := time.Now().Add(limit); ; {
		values, err := s.Now(ctx, names)
		if err != nil {
			return nil
		}
		if len(values) == len(names) {
			return values
		}
		if time.Now().After(deadline) || port.Pause(ctx, shotEvery) != nil {
			return nil
		}
	}
}

// Write sets or releases one channel.
func (s *Served) Write(ctx context.Context, set drivers.Setpoints) error {
	a, ok := s.Dev.(drivers.Actuator)
	if !ok {
		return fmt.Errorf("%w: the served device can only be read", drivers.ErrRefused)
	}
	_, err := a.Write(ctx, set)
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("the served device failed to write", slog.Any("error", err))
	}
	return err
}

// Set sets one channel.
func (s *Served) Set(ctx context.Context, c *Channel, v float64) error {
	set := drivers.Setpoints{Values: map[string]float64{c.Name: v}}
	if c.Dose {
		s.doses++
		set.Dose = fmt.Sprintf("line-%d", s.doses)
	}
	return s.Write(ctx, set)
}

// Halt brings the device to its safe state.
func (s *Served) Halt(ctx context.Context) error {
	a, ok := s.Dev.(drivers.Actuator)
	if !ok {
		return nil
	}
	return a.Halt(ctx)
}
