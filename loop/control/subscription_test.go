package control

import (
	"context"
	"errors"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
)

// TestSlowSubscriber: one who does not read loses the oldest and is told how many; the
// loop and the others lose nothing.
func TestSlowSubscriber(t *testing.T) {
	p := NewPanel("s")
	slow, fast := p.Subscribe(3), p.Subscribe(1000)
	for i := range 10 {
		p.Publish(News{Event: &journal.Event{Step: i}})
	}
	n, err := slow.Next(context.Background())
	if err != nil || n.Lost != 7 || n.Event.Step != 7 {
		t.Errorf("got %+v, %v; want 7 lost, then event 7", n, err)
	}
	for i := range 10 {
		if n, err := fast.Next(context.Background()); err != nil || n.Lost != 0 || n.Event.Step != i {
			t.Errorf("event %d: %+v, %v", i, n, err)
		}
	}
	slow.Close()
	p.Publish(News{Event: &journal.Event{Step: 10}})
	for _, want := range []int{8, 9} {
		if n, err := slow.Next(context.Background()); err != nil || n.Event.Step != want {
			t.Errorf("after Close: %+v, %v", n, err)
		}
	}
	if _, err := slow.Next(context.Background()); !errors.Is(err, ErrEnded) {
		t.Errorf("after all: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := fast.Next(context.Background()); err != nil || n.Event.Step != 10 {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := fast.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("without news: %v", err)
	}
	p.End()
	if _, err := fast.Next(context.Background()); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := p.Subscribe(1).Next(context.Background()); !errors.Is(err, ErrEnded) {
		t.Errorf("subscribed after the end: %v", err)
	}
}
