package remote

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
)

// lossyLink loses the first commands, whole or but for the broker's word on them, and has the others answered.
type lossyLink struct {
	caller *Caller
	lost   int
	deaf   bool // what is lost has come, and is answered
	said   []string
}

var errLost = errors.New("connection lost")

func (l *lossyLink) Publish(ctx context.Context, m Message) error {
	var w wireCommand
	if err := json.Unmarshal(m.Payload, &w); err != nil {
		return err
	}
	l.said = append(l.said, w.Transaction)
	lost := len(l.said) <= l.lost
	if !lost || l.deaf {
		text, err := json.Marshal(Answer{Answer: control.Answer{Transaction: w.Transaction, OK: true}})
		if err != nil {
			return err
		}
		l.caller.Handle(Message{Topic: l.caller.Topics.Response("stop"), Payload: text})
	}
	if lost && l.deaf {
		<-ctx.Done()
		return ctx.Err()
	}
	if lost {
		return errLost
	}
	return nil
}

func (*lossyLink) Connected() bool { return true }

// TestAskSaysItAgain: a command whose connection ends is said again by the same name, one that was answered is not waited for
// any more, and one that never leaves is told with the link's error.
func TestAskSaysItAgain(t *testing.T) {
	for name, c := range map[string]struct {
		link *lossyLink
		said int
		took time.Duration
		err  error
	}{
		"nothing is lost":           {&lossyLink{}, 1, 0, nil},
		"two are lost":              {&lossyLink{lost: 2}, 3, 2 * sayAgain, nil},
		"the broker's word is lost": {&lossyLink{lost: 1, deaf: true}, 1, 0, nil},
		"nothing ever leaves":       {&lossyLink{lost: 1000}, 28, 5*time.Second + answerMargin, errLost},
	} {
		synctest.Test(t, func(t *testing.T) {
			caller := NewCaller(NewTopics("lab", "laser"))
			c.link.caller = caller
			began := time.Now()
			a, err := caller.Ask(t.Context(), c.link, Presence{Session: "1"}, "stop", nil)
			if !errors.Is(err, c.err) || (err == nil) != a.OK || time.Since(began) != c.took || len(c.link.said) < c.said {
				t.Errorf("%s: %+v, %v after %v, said %d times", name, a, err, time.Since(began), len(c.link.said))
			}
			for _, by := range c.link.said {
				if by != c.link.said[0] {
					t.Errorf("%s: said as %q and as %q", name, c.link.said[0], by)
				}
			}
		})
	}
}
