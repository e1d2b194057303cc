package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
)

// fakeLink is a broker that keeps what it is given.
type fakeLink struct {
	mu   sync.Mutex
	sent []Message
	down bool
}

func (f *fakeLink) Publish(_ context.Context, m Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return errors.New("no connection")
	}
	f.sent = append(f.sent, m)
	return nil
}

func (f *fakeLink) Connected() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.down
}

// on lists what was sent on a topic.
func (f *fakeLink) on(topic string) (list []Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.sent {
		if m.Topic == topic {
			list = append(list, m)
		}
	}
	return list
}

// bench is a Remote over a panel whose loop is played by the test.
type bench struct {
	*Remote
	clock *time.Time
	acted []control.Request
}

var testTopics = NewTopics("bench", "oven")

// noon is after firstDay.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	now := noon
	o.Topics, o.Session, o.Commands, o.Now = testTopics, "s-now", true, func() time.Time { return now }
	return &bench{Remote: New(o, control.NewPanel("s-now")), clock: &now}
}

// command is a payload that acts, with changes to it.
func command(change func(*Command)) []byte {
	c := Command{Transaction: "t1", Session: "s-now", Issued: noon, Expires: 5 * time.Second}
	if change != nil {
		change(&c)
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return text
}

// verdict is what judging a payload for a command gives: "" where it may act, else the
// code of the refusal, "repeat" for one that has its answer.
func (b *bench) verdict(name string, payload []byte) string {
	return b.verdictOf(Message{Topic: testTopics.Command(name), Payload: payload, QoS: 1})
}

func (b *bench) verdictOf(m Message) string {
	in, no := b.check(m, *b.clock)
	if no == nil {
		no = b.enqueue(in)
	}
	switch {
	case no == nil:
		return ""
	case no.code == "":
		return "repeat"
	}
	return no.code
}

// work carries out what was queued, as the worker does, with the loop played by answer.
func (b *bench) work(answer func(control.Request) control.Response) {
	for {
		select {
		case in := <-b.commands:
			if in.until.Sub(*b.clock) <= 0 {
				b.carryOut(context.Background(), in)
				continue
			}
			b.acted = append(b.acted, request(in))
			b.finish(in, answer(request(in)))
		default:
			return
		}
	}
}

func yes(control.Request) control.Response {
	return control.Response{OK: true, Code: control.CodeOK, Message: "done"}
}

// answers decodes what waits in the outbox, and empties it.
func (b *bench) answers(t *testing.T) (list []Answer) {
	t.Helper()
	for m, ok := b.out.first(); ok; m, ok = b.out.first() {
		var a Answer
		if err := json.Unmarshal(m.Payload, &a); err != nil {
			t.Fatalf("%v: %s", err, m.Payload)
		}
		if m.Topic != testTopics.Response(a.Command) || m.Retained || m.QoS != 1 {
			t.Errorf("answer %+v", m)
		}
		list = append(list, a)
		b.out.pop()
	}
	return list
}

// testKeys are anna's and bob's.
var testKeys = Keys{{"anna", []byte("0123456789abcdef0123456789abcdef")}, {"bob", []byte("fedcba9876543210fedcba9876543210")}}

func numbered(n int) func(*Command) {
	return func(c *Command) { c.Transaction = fmt.Sprintf("t%d", n) }
}
