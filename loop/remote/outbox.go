package remote

import "sync"

// outboxMax bounds the messages that wait for the broker.
const outboxMax = 256

// outbox holds answers and events until the broker has them; the oldest go when there
// are too many.
type outbox struct {
	// ready has a token while there may be something to do.
	ready chan struct{}

	mu      sync.Mutex
	list    []Message
	greeted bool // nothing asks for a greeting
	dropped int
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1), greeted: true} }

// put never blocks.
func (b *outbox) put(m Message) {
	b.mu.Lock()
	b.list = append(b.list, m)
	if len(b.list) > outboxMax {
		b.list[0] = Message{}
		b.list = b.list[1:]
		b.dropped++
	}
	b.mu.Unlock()
	b.wake()
}

// greet asks for everything that is retained to be said anew.
func (b *outbox) greet() {
	b.mu.Lock()
	b.greeted = false
	b.mu.Unlock()
	b.wake()
}

// wantsGreeting reports whether that was asked for, and forgets it.
func (b *outbox) wantsGreeting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	wants := !b.greeted
	b.greeted = true
	return wants
}

// first is the oldest message.
func (b *outbox) first() (Message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return Message{}, false
	}
	return b.list[0], true
}

// pop takes the oldest message off, and says how many were dropped since.
func (b *outbox) pop() (dropped int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) > 0 {
		b.list[0] = Message{}
		b.list = b.list[1:]
	}
	dropped, b.dropped = b.dropped, 0
	return dropped
}

func (b *outbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}
