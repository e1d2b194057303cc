package link

import (
	"context"
	"sync"
	"time"
)

const (
	// queueLength and queueBytes bound the messages that wait for the goroutine
	// that reads them.
	QueueLength = 1024
	queueBytes  = 4 << 20
)

// Arrived is one message as it came.
type Arrived struct {
	Topic    string
	Payload  []byte
	Retained bool
	At       time.Time   // by the environment's clock, when it came
	From     *Connection // that it came over
}

// size is what a message counts for in a queue.
func (m *Arrived) size() int { return len(m.Topic) + len(m.Payload) }

// queue holds messages between the client library's goroutine, which must never
// wait, and the one that reads them. When it is full, the oldest go: a new
// reading is worth more.
type queue struct {
	ready chan struct{} // holds one while there may be messages

	mu      sync.Mutex
	waiting []Arrived
	bytes   int
	dropped int64
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// put never blocks.
func (q *queue) put(m Arrived) {
	q.mu.Lock()
	q.waiting = append(q.waiting, m)
	q.bytes += m.size()
	for len(q.waiting) > QueueLength || q.bytes > queueBytes {
		q.bytes -= q.waiting[0].size()
		q.waiting[0] = Arrived{}
		q.waiting = q.waiting[1:]
		q.dropped++
	}
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take waits for the oldest message and gives it with the number of those that
// were dropped so far; false when ctx ends.
func (q *queue) take(ctx context.Context) (m Arrived, dropped int64, ok bool) {
	for {
		q.mu.Lock()
		if len(q.waiting) > 0 && ctx.Err() == nil {
			m, q.waiting[0] = q.waiting[0], Arrived{}
			q.waiting = q.waiting[1:]
			q.bytes -= m.size()
			dropped = q.dropped
			q.mu.Unlock()
			return m, dropped, true
		}
		q.mu.Unlock()
		select {
		case <-q.ready:
		case <-ctx.Done():
			return Arrived{}, 0, false
		}
	}
}
