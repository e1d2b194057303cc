package drivers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// bench notes what is called.
type bench struct {
	calls    []string
	opening  error
	halting  error
	haltWith error // of Halt's context
}

func (b *bench) Open(context.Context) ([]drivers.Channel, error) {
	b.calls = append(b.calls, "open")
	return []drivers.Channel{{Name: "power", Access: drivers.ReadWrite}, {Name: "temp"}}, b.opening
}

func (b *bench) Read(context.Context, []string) (drivers.Reading, error) {
	return drivers.Reading{}, nil
}

func (b *bench) Write(context.Context, drivers.Setpoints) (drivers.Reading, error) {
	return drivers.Reading{}, nil
}

func (b *bench) Halt(ctx context.Context) error {
	b.calls, b.haltWith = append(b.calls, "halt"), ctx.Err()
	return b.halting
}

func (b *bench) Close() error { b.calls = append(b.calls, "close"); return nil }

// However serving ends, the device is halted with time to do so, then closed, and every
// error is told.
func TestPlay(t *testing.T) {
	serving, stuck := errors.New("the line is gone"), errors.New("stuck")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &bench{halting: stuck}
	err := drivers.ServeDevice(ctx, b, time.Minute, func(offered []drivers.Channel) error {
		b.calls = append(b.calls, offered[0].Name)
		return serving
	})
	if !errors.Is(err, serving) || !errors.Is(err, stuck) || b.haltWith != nil || strings.Join(b.calls, " ") != "open power halt close" {
		t.Errorf("%v, calls %q, Halt's context %v", err, b.calls, b.haltWith)
	}
	b = &bench{opening: stuck}
	if err := drivers.ServeDevice(ctx, b, time.Minute, nil); !errors.Is(err, stuck) || strings.Join(b.calls, " ") != "open close" {
		t.Errorf("%v, calls %q", err, b.calls)
	}
	if err := drivers.ServeDevice(ctx, nil, time.Minute, nil); err == nil {
		t.Error("no device is served")
	}
}

func TestLacking(t *testing.T) {
	offered := []drivers.Channel{{Name: "power", Access: drivers.ReadWrite}, {Name: "temp"}}
	if err := drivers.MissingChannels(&bench{}, offered, offered); err != nil {
		t.Error(err)
	}
	for want, c := range map[string]drivers.Channel{
		`no channel "fan"`: {Name: "fan"},
		`channel "temp" is to be written, but the served device can only read it`:    {Name: "temp", Access: drivers.ReadWrite},
		`channel "power" has dose = true, and the served device says false`:          {Name: "power", Access: drivers.ReadWrite, Dose: true},
		`channel "power" is to be released, but the served device cannot release it`: {Name: "power", CanRelease: true},
	} {
		if err := drivers.MissingChannels(&bench{}, offered, []drivers.Channel{c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := drivers.MissingChannels(readOnly{&bench{}}, offered, offered); err == nil || !strings.Contains(err.Error(), `channel "power" is to be written`) {
		t.Errorf("a device that can only be read: %v", err)
	}
}

// readOnly hides what can be set.
type readOnly struct{ drivers.Device }
