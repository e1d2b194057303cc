package loop

import (
	"sync"
	"sync/atomic"

	"github.com/labtuner/tuner/safety"
)

// Panel is where commands to a running loop come in, from any goroutine. A nil
// Panel has none: then nobody can resume a run, and one that falls back ends.
type Panel struct {
	stop  atomic.Bool
	bell  chan struct{}
	mu    sync.Mutex
	queue []safety.Command
}

// NewPanel returns an empty panel.
func NewPanel() *Panel { return &Panel{bell: make(chan struct{}, 1)} }

// panelMax bounds the commands that wait: one is taken each tick.
const panelMax = 64

// Stop stops the run before anything else that waits. It may be called at any time,
// and as often as one likes.
func (p *Panel) Stop() {
	p.stop.Store(true)
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// Send queues a command (pause, resume, reset); it reports false if too many wait.
func (p *Panel) Send(c safety.Command) bool {
	if c == safety.CommandStop {
		p.Stop()
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) >= panelMax {
		return false
	}
	p.queue = append(p.queue, c)
	return true
}

// stopAsked reports whether a stop has been asked for, and forgets it: the latch
// remembers.
func (p *Panel) stopAsked() bool { return p != nil && p.stop.Swap(false) }

// stopWaits reports the same and forgets nothing.
func (p *Panel) stopWaits() bool { return p != nil && p.stop.Load() }

// rings is a channel that has a token when a stop is asked for.
func (p *Panel) rings() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.bell
}

// take is the next command, CommandNone if none waits.
func (p *Panel) take() safety.Command {
	if p == nil {
		return safety.CommandNone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return safety.CommandNone
	}
	c := p.queue[0]
	p.queue = p.queue[1:]
	return c
}
