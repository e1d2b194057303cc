package driverstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// fake is a device that keeps the contract, but for what its flaw says.
type fake struct {
	flaw string

	mu     sync.Mutex
	open   bool
	opened int
	halts  int
	knob   float64
	sink   func(drivers.Reading)
	speak  *sync.WaitGroup
}

func (f *fake) channels() []drivers.Channel {
	nan := math.NaN()
	list := []drivers.Channel{
		{Name: "knob", Unit: "V", Access: drivers.ReadWrite, Min: 0, Max: 10, Safe: 0, CanRelease: true},
		{Name: "meter", Unit: "W", Min: nan, Max: nan, Safe: nan},
	}
	switch f.flaw {
	case "twice":
		list[1].Name = "knob"
	case "upside down":
		list[0].Min, list[0].Max = 10, 0
	case "unsafe":
		list[0].Safe = 11
	case "release of meter":
		list[1].CanRelease = true
	case "changes":
		list[1].Unit = fmt.Sprint(f.opened)
	}
	return list
}

func (f *fake) Open(context.Context) ([]drivers.Channel, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = true
	f.opened++
	if f.flaw == "leaks" {
		go forever()
	}
	if f.sink != nil && f.flaw != "mute" {
		sink := f.sink
		f.speak = &sync.WaitGroup{}
		f.speak.Go(func() { sink(drivers.Reading{Values: map[string]float64{"meter": 1}, At: time.Now()}) })
	}
	return f.channels(), nil
}

// forever blocks for ever.
func forever() { select {} }

func (f *fake) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open && f.flaw != "reads closed" {
		return drivers.Reading{}, errors.New("closed")
	}
	if f.flaw != "deaf to context" && ctx.Err() != nil {
		return drivers.Reading{}, ctx.Err()
	}
	r := drivers.Reading{Values: map[string]float64{}, At: time.Now()}
	for _, name := range channels {
		switch name {
		case "knob":
			r.Values[name] = f.knob
		case "meter":
			r.Values[name] = 1
		default:
			if f.flaw != "invents" {
				return drivers.Reading{}, errors.New("unknown")
			}
		}
	}
	switch f.flaw {
	case "nan":
		r.Values["meter"] = math.NaN()
	case "tells more":
		r.Values["meter"], r.Values["knob"] = 1, 1
	case "timeless":
		r.At = time.Time{}
	}
	return r, nil
}

func (f *fake) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		return drivers.Reading{}, errors.New("closed")
	}
	if ctx.Err() != nil {
		return drivers.Reading{}, ctx.Err()
	}
	if err := s.Late(time.Now()); err != nil {
		return drivers.Reading{}, errors.Join(drivers.ErrNotSent, err)
	}
	for name, v := range s.Values {
		bad := name != "knob" || !(v >= 0 && v <= 10)
		if bad && !(f.flaw == "takes all") {
			return drivers.Reading{}, drivers.ErrRefused
		}
		f.knob = v
	}
	for _, name := range s.Release {
		if _, set := s.Values[name]; name != "knob" || set {
			return drivers.Reading{}, drivers.ErrRefused
		}
	}
	if f.flaw == "changes argument" {
		clear(s.Values)
	}
	return drivers.Reading{Values: maps.Clone(s.Values), At: time.Now()}, nil
}

func (f *fake) Halt(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open && f.flaw != "halts closed" {
		return errors.New("closed")
	}
	f.halts++
	if f.flaw == "halts once" && f.halts > 1 {
		return errors.New("already halted")
	}
	f.knob = 0
	return nil
}

func (f *fake) Close() error {
	f.mu.Lock()
	was := f.open
	f.open = false
	speak := f.speak
	f.mu.Unlock()
	if speak != nil {
		speak.Wait()
	}
	if f.flaw == "closes once" && !was {
		return errors.New("not open")
	}
	return nil
}

// talker is a fake that speaks on its own.
type talker struct{ *fake }

func (t talker) Listen(sink func(drivers.Reading)) { t.sink = sink }
