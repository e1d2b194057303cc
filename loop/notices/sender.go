package notices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// attemptTime bounds one attempt to deliver. Not longer: another notice may be more urgent.
	attemptTime = 10 * time.Second
	// firstWait and lastWait bound the time until the next attempt, which doubles.
	firstWait = time.Second
	lastWait  = time.Minute
)

// ErrRefused: the other side will not take this notice, however often it comes.
var ErrRefused = errors.New("refused")

// Way delivers one notice. An error that is not ErrRefused is tried again.
type Way interface {
	Deliver(ctx context.Context, n Notice) error
}

// Options say how notices are sent.
type Options struct {
	Way Way
	// Kinds are those that are sent.
	Kinds []string
	// Every is the shortest time between two of a kind that were delivered.
	Every time.Duration
	// Retry is the wait before the second attempt, which doubles with each; 0: a second.
	Retry time.Duration
	// Tell is called when delivery begins to fail, and when it works again; it must not wait.
	Tell func(text string)
}

// Sender delivers notices. Its methods may be called from any goroutine.
type Sender struct {
	o    Options
	bell chan struct{}
	end  chan struct{}
	done chan struct{}

	mu sync.Mutex
	// waiting has the newest notice of each kind, with its number.
	waiting map[string]numbered
	// free is when the next of a kind may be sent.
	free   map[string]time.Time
	number int
	ended  bool
}

type numbered struct {
	Notice
	number int
}

// NewSender returns one that delivers until Close.
func NewSender(o Options) *Sender {
	s := &Sender{o: o, bell: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{}), waiting: map[string]numbered{}, free: map[string]time.Time{}}
	go s.run()
	return s
}

// Put has a notice sent, soon; it does not wait. A kind that is not asked for is dropped.
func (s *Sender) Put(n Notice) {
	if s == nil {
		return
	}
	for _, kind := range s.o.Kinds {
		if kind == n.Event {
			s.put(n)
		}
	}
}

func (s *Sender) put(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.waiting[n.Event]; ok {
		n.Replaces = before.Replaces + 1
	}
	s.number++
	s.waiting[n.Event] = numbered{n, s.number}
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// Close delivers what waits, whatever Every says, and gives up after patience.
func (s *Sender) Close(patience time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	if !s.ended {
		s.ended = true
		close(s.end)
	}
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-time.After(patience):
	}
}

// next is the most urgent notice that may be sent now; wait is how long the first may not be
// yet, 0 where none waits.
func (s *Sender) next(now time.Time, hurry bool) (n numbered, ok bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		if until := s.free[w.Event].Sub(now); until > 0 && !hurry {
			if wait == 0 || until < wait {
				wait = until
			}
			continue
		}
		if !ok || w.urgency() < n.urgency() {
			n, ok = w, true
		}
	}
	return n, ok, wait
}

// sent forgets a notice, unless a newer one has taken its place.
func (s *Sender) sent(n numbered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[n.Event] = time.Now().Add(s.o.Every)
	if w := s.waiting[n.Event]; w.number == n.number {
		delete(s.waiting, n.Event)
	} else {
		w.Replaces = max(w.Replaces-n.Replaces-1, 0)
		s.waiting[n.Event] = w
	}
}

func (s *Sender) run() {
	defer close(s.done)
	var failing time.Duration
	end := (<-chan struct{})(s.end)
	for {
		n, ok, wait := s.next(time.Now(), end == nil)
		switch {
		case ok:
			if failing = s.deliver(n, failing); failing > 0 {
				end = s.pause(failing, end, nil)
			}
		case end == nil:
			return
		case wait > 0:
			end = s.pause(wait, end, s.bell)
		default:
			select {
			case <-s.bell:
			case <-end:
				end = nil
			}
		}
	}
}

// pause waits, or until the end or the bell; it returns the end that is left.
func (s *Sender) pause(wait time.Duration, end <-chan struct{}, bell <-chan struct{}) <-chan struct{} {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-bell:
	case <-end:
		return nil
	}
	return end
}

// deliver makes one attempt, and returns the wait before the next where it was in vain.
func (s *Sender) deliver(n numbered, failing time.Duration) time.Duration {
	err := s.attempt(n.Notice)
	if err != nil && !errors.Is(err, ErrRefused) {
		if failing == 0 {
			s.o.Tell(fmt.Sprintf("the notice %q is not delivered yet, and is tried again: %v", n.Event, err))
		}
		return min(max(2*failing, cmp.Or(s.o.Retry, firstWait)), lastWait)
	}
	s.sent(n)
	if err != nil {
		s.o.Tell(fmt.Sprintf("the notice %q cannot be delivered: %v", n.Event, err))
	} else if failing > 0 {
		s.o.Tell("notices are delivered again")
	}
	return 0
}

func (s *Sender) attempt(n Notice) error {
	ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
	defer cancel()
	return s.o.Way.Deliver(ctx, n)
}
