package driverstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/labtuner/tuner/drivers"
)

// Playback gives a device that answers as the transcript says. Every call must
// be the next one of the transcript, with the same arguments (the order of
// channels and releases does not matter); another one gets an error that shows
// both, and so does every call after it. Readings that the recorded device spoke
// on its own follow the call before them, through the sink, from a goroutine of
// the playback; that call returns when the sink has them.
//
// The last Close, or any Close after a wrong call, returns an error if calls are
// left over or one was wrong. clock stamps the readings.
func Playback(t Transcript, clock drivers.Clock) drivers.Device {
	p := &player{calls: slices.Clone(t.Calls), clock: clock, lapses: t.Lapses}
	parts := parts{device: p}
	if t.Actuator {
		parts.actuator = playedActuator{p}
	}
	if t.Listener {
		parts.listener = playedListener{p}
	}
	return parts.join()
}

type player struct {
	clock  drivers.Clock
	lapses bool
	sink   func(drivers.Reading)

	mu    sync.Mutex
	calls []Call
	next  int
	wrong error
}

// SafeOnClose implements drivers.SafeCloser.
func (p *player) SafeOnClose() bool { return p.lapses }

// play checks one call and gives its answer.
func (p *player) play(got Call) (Call, error) {
	p.mu.Lock()
	if p.wrong != nil {
		defer p.mu.Unlock()
		return Call{}, p.wrong
	}
	var want *Call
	if p.next < len(p.calls) {
		want = &p.calls[p.next]
	}
	if want == nil || !same(*want, got) {
		expected := "the end"
		if want != nil {
			expected = want.question()
		}
		p.wrong = fmt.Errorf("playback: call %d is %s where %s was expected", p.next+1, got.question(), expected)
		defer p.mu.Unlock()
		return Call{}, p.wrong
	}
	answer := *want
	p.next++
	var said []drivers.Reading
	for p.next < len(p.calls) && p.calls[p.next].Op == OpSaid {
		said = append(said, p.calls[p.next].readingAt(p.clock.Now()))
		p.next++
	}
	sink := p.sink
	p.mu.Unlock()
	p.push(sink, said)
	return answer, nil
}

// push hands readings to the sink, from a separate goroutine as a device does.
func (p *player) push(sink func(drivers.Reading), said []drivers.Reading) {
	if sink == nil || len(said) == 0 {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, r := range said {
			sink(drivers.Reading{Values: maps.Clone(r.Values), At: r.At})
		}
	}()
	<-done
}

// same compares two calls' questions.
func same(a, b Call) bool {
	return a.Op == b.Op && maps.Equal(a.Values, b.Values) &&
		slices.Equal(slices.Sorted(slices.Values(a.Channels)), slices.Sorted(slices.Values(b.Channels))) &&
		slices.Equal(slices.Sorted(slices.Values(a.Release)), slices.Sorted(slices.Values(b.Release))) && a.Dose == b.Dose
}

// question shows a call without its answer.
func (c Call) question() string {
	switch c.Op {
	case OpRead:
		return fmt.Sprintf("read %q", c.Channels)
	case OpWrite:
		return fmt.Sprintf("write %v release %q", c.Values, c.Release)
	}
	return string(c.Op)
}

// Open plays an opening.
func (p *player) Open(context.Context) ([]drivers.Channel, error) {
	c, err := p.play(Call{Op: OpOpen})
	return slices.Clone(c.Offered), errors.Join(err, c.Err)
}

// Read plays a reading.
func (p *player) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	c, err := p.play(Call{Op: OpRead, Channels: channels})
	return p.answer(c, err)
}

// Close plays a closing. Closing again after the end is harmless.
func (p *player) Close() error {
	p.mu.Lock()
	atEnd := p.wrong == nil && p.next == len(p.calls)
	p.mu.Unlock()
	if atEnd {
		return nil
	}
	c, err := p.play(Call{Op: OpClose})
	if err == nil {
		err = p.remaining()
	}
	return errors.Join(err, c.Err)
}

// remaining says which calls did not come, if no other closing is due.
func (p *player) remaining() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := p.calls[p.next:]
	if len(rest) == 0 || slices.ContainsFunc(rest, func(c Call) bool { return c.Op == OpClose }) {
		return nil
	}
	return fmt.Errorf("playback: %d calls are left over, the first is %s", len(rest), rest[0].question())
}

func (p *player) answer(c Call, err error) (drivers.Reading, error) {
	if err = errors.Join(err, c.Err); err != nil {
		return drivers.Reading{}, err
	}
	return drivers.Reading{Values: maps.Clone(c.Reading), At: p.clock.Now()}, nil
}

type playedActuator struct{ p *player }

func (a playedActuator) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	c, err := a.p.play(Call{Op: OpWrite, Values: s.Values, Release: s.Release, Dose: s.Dose})
	return a.p.answer(c, err)
}

func (a playedActuator) Halt(context.Context) error {
	c, err := a.p.play(Call{Op: OpHalt})
	return errors.Join(err, c.Err)
}

type playedListener struct{ p *player }

func (l playedListener) Listen(sink func(drivers.Reading)) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.sink = sink
}
