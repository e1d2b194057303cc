// Lamp is a lamp with a photodiode as an instrument of tuner, in Go.
//
// It shows how little a Go program needs: a type with the methods of
// drivers.Device and drivers.Actuator, and exec.Serve. Build it and name it in the
// configuration:
//
//	[[device]]
//	name = "lamp"
//	driver = "exec"
//	command = ["./lamp"]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec"
)

// maxCurrent is the lamp's rating, in mA.
const maxCurrent = 20

// lamp is simulated: its light rises with the current and less than in proportion.
type lamp struct {
	current float64 // mA
}

// Open implements drivers.Device: it says what there is and moves nothing.
func (*lamp) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{
		{Name: "current", Unit: "mA", Access: drivers.ReadWrite, Min: 0, Max: maxCurrent, Safe: 0},
		{Name: "light", Unit: "lx", Access: drivers.ReadOnly, Min: 0, Max: 1000},
	}, nil
}

// Read implements drivers.Device.
func (l *lamp) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	values := map[string]float64{"current": l.current, "light": 1000 * l.current / (l.current + 10)}
	out := drivers.Reading{At: time.Now(), Values: map[string]float64{}}
	for _, name := range channels {
		v, ok := values[name]
		if !ok {
			return drivers.Reading{}, fmt.Errorf("%w: there is no channel %q", drivers.ErrRefused, name)
		}
		out.Values[name] = v
	}
	return out, nil
}

// Write implements drivers.Actuator and returns the readback.
func (l *lamp) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	for name := range s.Values {
		if name != "current" {
			return drivers.Reading{}, fmt.Errorf("%w: %q cannot be set", drivers.ErrRefused, name)
		}
	}
	l.current = s.Values["current"]
	return drivers.Reading{At: time.Now(), Values: map[string]float64{"current": l.current}}, nil
}

// Halt implements drivers.Actuator: the safe state is dark.
func (l *lamp) Halt(context.Context) error {
	l.current = 0
	return nil
}

// Close implements drivers.Device.
func (*lamp) Close() error { return nil }

func main() {
	signal.Ignore(syscall.SIGPIPE) // a host that died must not end the program before it is safe
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := exec.Serve(ctx, os.Stdin, os.Stdout, "lamp", &lamp{}); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "E!", err)
		os.Exit(1)
	}
}
