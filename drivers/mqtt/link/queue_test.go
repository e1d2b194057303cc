package link

import (
	"context"
	"testing"
	"time"
)

func TestQueueKeepsTheNewest(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	for name, c := range map[string]struct {
		payload, put, kept int
	}{
		"few":         {1, 10, 10},
		"many":        {1, 3000, QueueLength},
		"large":       {MaxPayload, 200, queueBytes / (MaxPayload + 1)},
		"to the byte": {queueBytes/4 - 1, 5, 4}, // and a topic of one byte
		"single huge": {queueBytes, 1, 0},
	} {
		q := newQueue()
		for i := range c.put {
			q.put(Arrived{Topic: "t", Payload: make([]byte, c.payload), At: time.Unix(int64(i), 0)})
		}
		if q.bytes > queueBytes || len(q.waiting) > QueueLength {
			t.Errorf("%s: %d bytes in %d messages wait", name, q.bytes, len(q.waiting))
		}
		for i := c.put - c.kept; i < c.put; i++ {
			m, dropped, ok := q.take(ctx)
			if !ok || !m.At.Equal(time.Unix(int64(i), 0)) || dropped != int64(c.put-c.kept) {
				t.Fatalf("%s: got message %d with %d dropped, %v; want %d with %d", name, m.At.Unix(), dropped, ok, i, c.put-c.kept)
			}
		}
		if q.bytes != 0 || len(q.waiting) != 0 {
			t.Errorf("%s: emptied, %d bytes in %d messages wait", name, q.bytes, len(q.waiting))
		}
	}
	q := newQueue()
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, _, ok := q.take(ctx); ok {
		t.Error("an empty queue gave a message")
	}
	q.put(Arrived{Topic: "t"})
	if _, _, ok := q.take(ctx); ok {
		t.Error("a queue gave a message after the end")
	}
}

// Every message is given once, in order, however putting and taking interleave.
func TestQueueTogether(t *testing.T) {
	q := newQueue()
	const many = 20_000
	go func() {
		for i := range many {
			q.put(Arrived{Topic: "t", At: time.Unix(int64(i), 0)})
		}
	}()
	last, taken := int64(-1), int64(0)
	for last != many-1 {
		m, dropped, ok := q.take(context.Background())
		if !ok || m.At.Unix() <= last {
			t.Fatalf("message %d comes after %d, %v", m.At.Unix(), last, ok)
		}
		last = m.At.Unix()
		taken++
		if last == many-1 && taken+dropped != many {
			t.Errorf("%d taken and %d dropped of %d", taken, dropped, many)
		}
	}
}
