package control

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/labtuner/tuner/loop/journal"
)

// News is one thing that happened: an event or a concluded step, and before it how many
// others a slow subscriber has missed.
type News struct {
	// Lost is how many came before this one and were dropped because the subscriber's ring
	// was full.
	Lost int
	// Event is a line of the run's story, nil where this is none.
	Event *journal.Event
	// Decision and Outcome are a concluded step, nil where this is none. Nobody may change
	// what they point to.
	Decision *journal.Decision
	Outcome  *journal.Outcome
}

// ErrEnded is what Next returns when the run has ended, or the subscription was closed,
// and everything before has been read.
var ErrEnded = errors.New("no more news")

// Subscription is one subscriber's ring of news: the loop puts in, one goroutine takes
// out. When it is full the oldest goes.
type Subscription struct {
	panel *Panel
	ready chan struct{}

	mu    sync.Mutex
	ring  []News
	first int // index of the oldest
	count int
	lost  int
	ended bool
}

// Subscribe returns a subscription whose ring holds up to size news (at least 1). It
// gets what happens from now on.
func (p *Panel) Subscribe(size int) *Subscription {
	s := &Subscription{panel: p, ready: make(chan struct{}, 1), ring: make([]News, max(size, 1))}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		s.ended = true
		return s
	}
	p.subs = append(slices.Clip(p.subs), s) // a copy: tell reads without the lock
	return s
}

// Next waits for the oldest news. Its error is ErrEnded, or ctx's.
func (s *Subscription) Next(ctx context.Context) (News, error) {
	for {
		n, ok, ended := s.take()
		switch {
		case ok:
			return n, nil
		case ended:
			return News{}, ErrEnded
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return News{}, ctx.Err()
		}
	}
}

// Close ends the subscription; the loop forgets it.
func (s *Subscription) Close() {
	s.panel.mu.Lock()
	s.panel.subs = slices.DeleteFunc(slices.Clone(s.panel.subs), func(x *Subscription) bool { return x == s })
	s.panel.mu.Unlock()
	s.end()
}

func (s *Subscription) take() (n News, ok, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == 0 {
		return News{}, false, s.ended
	}
	n = s.ring[s.first]
	n.Lost, s.lost = s.lost, 0
	s.ring[s.first] = News{}
	s.first = (s.first + 1) % len(s.ring)
	s.count--
	return n, true, false
}

// put adds n; it waits for nothing but another put or take.
func (s *Subscription) put(n News) {
	s.mu.Lock()
	if s.count == len(s.ring) {
		s.ring[s.first] = News{}
		s.first = (s.first + 1) % len(s.ring)
		s.count--
		s.lost++
	}
	s.ring[(s.first+s.count)%len(s.ring)] = n
	s.count++
	s.mu.Unlock()
	s.wake()
}

func (s *Subscription) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.wake()
}

func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Publish hands news to every subscriber.
func (p *Panel) Publish(n News) {
	if p == nil {
		return
	}
	p.mu.Lock()
	subs := p.subs
	p.mu.Unlock()
	for _, s := range subs {
		s.put(n)
	}
}
