package serial

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
)

// The driver's own gates before a setpoint, and what a safe one finds there. Those of the
// loop are in loop/makesafe_test.go.
//
//	gate                                   setpoint                  safe setpoint
//	read of several channels, with retries waits for all of it       waits for one exchange
//	two sides out of step                  waits for a greeting      leaves at once, and again after it
//	greeting under way                     waits for it              ends it
//	no connection, next attempt later      not sent                  has one made at once
//	an answer to another channel missing   waits for its repeats     waits for one exchange
//	dose that is still running             waits for its end         waits for one exchange

// sniffer notes what is sent to a fake port, and when.
type sniffer struct {
	mu   sync.Mutex
	said []string
	at   []time.Time
	mute bool // the instrument does not answer
}

func sniff(f *porttest.Fake) *sniffer {
	s := &sniffer{}
	hear := f.Hear
	f.Hear = func(data []byte) []byte {
		s.mu.Lock()
		s.said, s.at = append(s.said, string(data)), append(s.at, time.Now())
		mute := s.mute
		s.mu.Unlock()
		answer := hear(data)
		if mute {
			return nil
		}
		return answer
	}
	return s
}

func (s *sniffer) silence(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
}

// first is when what holds a text was first sent after a time.
func (s *sniffer) first(text string, after time.Time) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, said := range s.said {
		if strings.Contains(said, text) && !s.at[i].Before(after) {
			return s.at[i].Sub(after), true
		}
	}
	return 0, false
}

// overtakenAfter calls with a context that is overtaken after a time.
func overtakenAfter(d time.Duration, call func(ctx context.Context) error) error {
	ctx, end := context.WithCancelCause(context.Background())
	time.AfterFunc(d, func() { end(drivers.ErrPreempted) })
	return call(ctx)
}

func setSafe(dev *Device, v float64) error {
	_, err := dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"a": v}, Safe: true})
	return err
}

func TestReadGivesWay(t *testing.T) {
	for _, mute := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o, channels := abOptions()
			dev, b, c := onBench(t, o, channels)
			if !mute { // each answer takes its time
				f := b.last()
				hear := f.Hear
				f.Hear = func(data []byte) []byte {
					time.AfterFunc(o.ReplyTimeout*3/4, func() { f.Say(hear(data)) })
					return nil
				}
			}
			s := sniff(b.last())
			s.silence(mute)
			const after = 10 * time.Millisecond
			began := time.Now()
			if err := overtakenAfter(after, func(ctx context.Context) error {
				_, err := dev.Read(ctx, []string{"a", "b", "s"})
				return err
			}); !errors.Is(err, drivers.ErrPreempted) && !mute || err == nil {
				t.Errorf("overtaken: %v", err)
			}
			if took := time.Since(began); took > o.ReplyTimeout {
				t.Errorf("it gave way after %v, later than one exchange of %v", took, o.ReplyTimeout)
			}
			s.silence(false)
			if err := setSafe(dev, 7); err != nil {
				t.Error(err)
			}
			if got := c.written("a"); len(got) == 0 || got[len(got)-1] != 7 {
				t.Errorf("written %v", got)
			}
			if took, there := s.first("A 7", began); !there || took > o.ReplyTimeout {
				t.Errorf("the safe value left after %v (%v): %q", took, there, s.said)
			}
		})
	}
}

// TestGreetingGivesWay: the two sides are out of step and a read waits for silence; the safe
// value ends that wait, leaves at once, and is confirmed after a greeting.
func TestGreetingGivesWay(t *testing.T) {
	for name, make := range map[string]func() (Options, []ChannelOptions){"lines": abOptions, "modbus": ovenOptions} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, channels := make()
				o.Retries = 0
				dev, b, c := onBench(t, o, channels)
				s := sniff(b.last())
				s.silence(true)
				if _, err := dev.Read(t.Context(), []string{"a"}); err == nil {
					t.Fatal("a mute instrument answers")
				}
				if dev.doubt == nil {
					t.Fatal("the two sides are in step")
				}
				began := time.Now()
				const after = 20 * time.Millisecond
				if err := overtakenAfter(after, func(ctx context.Context) error {
					_, err := dev.Read(ctx, []string{"a"})
					return err
				}); !errors.Is(err, drivers.ErrPreempted) || time.Since(began) > after+o.ReadTimeout {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				s.silence(false)
				began = time.Now()
				if err := setSafe(dev, 7); err != nil {
					t.Error(err)
				}
				got := c.written("a")
				if len(got) != 2 || got[0] != 7 || got[1] != 7 {
					t.Errorf("written %v, want 7 at once and 7 after the greeting", got)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				for i, at := range s.at {
					if !at.Before(began) {
						if at.Sub(began) > 10*time.Millisecond {
							t.Errorf("the first was sent after %v: %q", at.Sub(began), s.said[i])
						}
						break
					}
				}
			})
		})
	}
}

func TestSafeConnectsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, c := onBench(t, o, channels)
		good := b.plug
		b.set(nil)
		b.last().Unplug()
		for dev.Wait() < 5*time.Second { // the next attempt is far away
			dev.Read(t.Context(), []string{"a"})
			time.Sleep(dev.Wait())
			dev.Read(t.Context(), []string{"a"})
		}
		b.set(good)
		if err := set(dev, "a", 5); !errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("a setpoint: %v", err)
		}
		if err := setSafe(dev, 7); err != nil {
			t.Errorf("a safe setpoint: %v", err)
		}
		if got := c.written("a"); len(got) != 1 || got[0] != 7 {
			t.Errorf("written %v", got)
		}
	})
}

// TestDoseGivesWay: a dose that runs is asked about again and again; the safe value does not
// wait for its end. What was given of it is not known.
func TestDoseGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pump := &circuit{kind: "PMP", value: "3.00", runs: time.Hour}
		dev := onCircuit(t, "ezo-pump", pump)
		began := time.Now()
		err := overtakenAfter(5*time.Second, func(ctx context.Context) error {
			_, err := giveIn(ctx, dev, "dose", 3)
			return err
		})
		if !errors.Is(err, drivers.ErrPreempted) || errors.Is(err, drivers.ErrNotSent) || time.Since(began) > 5*time.Second+dev.opt.ReplyTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := dev.Write(t.Context(), drivers.Setpoints{Release: []string{"dose"}, Safe: true}); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

// TestWriteLeavesInTime: of a write of two channels one has left when the time is over, on an
// instrument that takes its time; the other does not leave later, nor is one whose answer was
// lost said again. What a write waits for before, a greeting, counts too.
func TestWriteLeavesInTime(t *testing.T) {
	for name, make := range map[string]func() (Options, []ChannelOptions){"lines": abOptions, "modbus": ovenOptions} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, channels := make()
				dev, b, c := onBench(t, o, channels)
				f, slow := b.last(), true
				hear := f.Hear
				f.Hear = func(data []byte) []byte {
					if !slow {
						return hear(data)
					}
					time.AfterFunc(o.ReplyTimeout*3/4, func() { f.Say(hear(data)) })
					return nil
				}
				write := func(by time.Duration, values map[string]float64) error {
					_, err := dev.Write(context.Background(), drivers.Setpoints{Values: values, SendBy: time.Now().Add(by)})
					return err
				}
				err := write(o.ReplyTimeout/4, map[string]float64{"a": 3, "b": 4})
				if !errors.Is(err, drivers.ErrLate) || errors.Is(err, drivers.ErrNotSent) {
					t.Errorf("one of two left: %v", err)
				}
				if a, b := c.written("a"), c.written("b"); len(a) != 1 || len(b) != 0 {
					t.Errorf("written %v and %v, want only the first channel", a, b)
				}
				slow = false
				if err := write(time.Second, map[string]float64{"a": 3, "b": 4}); err != nil || len(c.written("b")) != 1 {
					t.Errorf("in time: %v", err)
				}

				s := sniff(f)
				s.silence(true)
				if err := write(o.ReplyTimeout/2, map[string]float64{"b": 5}); err == nil || errors.Is(err, drivers.ErrNotSent) {
					t.Errorf("no answer: %v", err)
				}
				if len(s.said) != 1 {
					t.Errorf("said %q, want it once: its time was over when the answer had not come", s.said)
				}
				s.silence(false) // now the two sides are out of step, and must find together first
				err = write(time.Millisecond, map[string]float64{"a": 6, "b": 6})
				if !errors.Is(err, drivers.ErrLate) || !errors.Is(err, drivers.ErrNotSent) {
					t.Errorf("after a greeting: %v", err)
				}
				if a := c.written("a"); a[len(a)-1] == 6 {
					t.Errorf("written %v", a)
				}
			})
		})
	}
}

// A channel that does not answer does not keep the others from their safe values.
func TestSafeTellsEveryChannelFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.Retries = 2
		dev, b, c := onBench(t, o, channels)
		f := b.last()
		hear := f.Hear
		f.Hear = func(data []byte) []byte {
			before := len(c.written("a"))
			answer := hear(data)
			if len(c.written("a")) > before {
				return nil
			}
			return answer
		}
		began := time.Now()
		var told atomic.Int64
		time.AfterFunc(o.ReplyTimeout+o.WriteTimeout+o.ReadTimeout+o.Pause, func() {
			if b := c.written("b"); len(b) == 1 {
				told.Store(int64(time.Since(began)))
			}
		})
		_, err := dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"a": 1, "b": 1}, Safe: true})
		if err == nil || errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("channel a does not answer: %v", err)
		}
		if a := c.written("a"); told.Load() == 0 || len(a) < 2 {
			t.Errorf("b was not told within one exchange; a %v, b %v", a, c.written("b"))
		}
	})
}
