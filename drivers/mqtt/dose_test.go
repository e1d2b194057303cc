package mqtt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// pump is a device that gives doses and counts them.
type pump struct {
	mu    sync.Mutex
	given []float64
	names []string
	stops int
	err   error // in place of the next dose
}

func (p *pump) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{{Name: "feed", Unit: "mL", Access: drivers.ReadWrite, Max: 10, Safe: math.NaN(), CanRelease: true, Dose: true}}, nil
}

func (p *pump) Read(context.Context, []string) (drivers.Reading, error) {
	return drivers.Reading{Values: map[string]float64{"feed": 1}}, nil
}

func (p *pump) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(s.Release) > 0 {
		p.stops++
		return drivers.Reading{}, nil
	}
	if err := p.err; err != nil {
		p.err = nil
		return drivers.Reading{}, err
	}
	p.given, p.names = append(p.given, s.Values["feed"]), append(p.names, s.Dose)
	return drivers.Reading{Values: map[string]float64{"feed": s.Values["feed"] - 0.5}}, nil
}

func (p *pump) Halt(context.Context) error { return nil }
func (p *pump) Close() error               { return nil }

func (p *pump) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.given)
}

func pumpChannels() []ChannelOptions {
	return []ChannelOptions{{Channel: "feed", Dose: true,
		Write: &WriteTopic{Topic: "lab/ca/set", TTL: 30 * time.Second}, Release: &ReleaseTopic{Topic: "lab/ca/stop"},
		Confirm: &ConfirmTopic{Topic: "lab/ca/taken", Timeout: 5 * time.Second}}}
}

func dose(d *Device, name string, amount float64) (drivers.Reading, error) {
	return d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"feed": amount}, Dose: name})
}

// TestDoseIsConfirmedWithItsAmount: the device hears each dose once, by its name, and
// says how much it has given.
func TestDoseIsConfirmedWithItsAmount(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		p := &pump{}
		end := serveVirtual(t, o, pumpChannels(), p)
		d, _ := newDevice(t, o, pumpChannels()...)
		channels, err := d.Open(context.Background())
		if err != nil || !channels[0].Dose {
			t.Fatalf("%+v, %v", channels, err)
		}
		for i := range 3 {
			if r, err := dose(d, fmt.Sprintf("run-%d", i), 2); err != nil || r.Values["feed"] != 1.5 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if got := strings.Join(p.names, " "); got != "run-0 run-1 run-2" {
			t.Errorf("heard %s", got)
		}
		if _, err := d.Write(context.Background(), drivers.Setpoints{Release: []string{"feed"}}); err != nil || p.stops != 1 {
			t.Errorf("stop: %v, %d", err, p.stops)
		}
		p.err = fmt.Errorf("%w: the bottle is empty", drivers.ErrRefused)
		if _, err := dose(d, "run-4", 2); !errors.Is(err, drivers.ErrRefused) {
			t.Errorf("refused: %v", err)
		}
		p.err = fmt.Errorf("%w: the motor stalled", drivers.ErrUnavailable)
		if _, err := dose(d, "run-5", 2); errors.Is(err, drivers.ErrRefused) || !errors.Is(err, drivers.ErrUnavailable) || errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("failed: %v", err)
		}
		if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"feed": 1}}); !errors.Is(err, drivers.ErrNotSent) || p.count() != 3 {
			t.Errorf("a setpoint: %v, given %v", err, p.given)
		}
		if err := d.Halt(context.Background()); err != nil || p.count() != 3 {
			t.Errorf("halt: %v, given %v", err, p.given)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		end()
	})
}

// TestDoseIsNeverSentLater: without a connection nothing leaves and that is said; one
// that was cut while the answer was awaited is not sent again on the next.
func TestDoseIsNeverSentLater(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, _ := newDevice(t, o, pumpChannels()...)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		heard := 0
		if err := v.Listen("lab/ca/set", func([]byte) { mu.Lock(); heard++; mu.Unlock() }); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, v.Cut)
		if _, err := dose(d, "run-1", 2); !errors.Is(err, drivers.ErrUnavailable) || errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("cut while awaited: %v", err)
		}
		for range 5 {
			time.Sleep(time.Second)
			if _, err := dose(d, "run-2", 2); !errors.Is(err, drivers.ErrNotSent) {
				t.Errorf("without a connection: %v", err)
			}
		}
		v.Restore()
		time.Sleep(2 * time.Minute)
		mu.Lock()
		if heard != 1 {
			t.Errorf("the device heard %d doses, want 1", heard)
		}
		mu.Unlock()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadDoseTopics(t *testing.T) {
	for want, spoil := range map[string]func(*ChannelOptions){
		"no confirm topic":      func(o *ChannelOptions) { o.Confirm = nil },
		"no write topic":        func(o *ChannelOptions) { o.Write, o.Release, o.Confirm = nil, nil, nil },
		"has no safe value":     func(o *ChannelOptions) { zero := 0.0; o.Safe = &zero },
		"takes numbers alone":   func(o *ChannelOptions) { o.Write.Format, o.Release.Payload = formatNumber, "off" },
		"only a reading tells ": func(o *ChannelOptions) { o.Dose = false },
	} {
		c := pumpChannels()
		spoil(&c[0])
		env, _ := environment()
		if _, err := New(optionsFor("tcp://127.0.0.1:1"), c, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
