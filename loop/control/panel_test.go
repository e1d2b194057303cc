package control

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// TestStopIsListedWhenItIsAsked: whoever sees that a stop is asked for finds it listed, so
// that it is answered and recorded with what it does.
func TestStopIsListedWhenItIsAsked(t *testing.T) {
	const runs = 20_000
	unlisted := 0
	for range runs {
		p := NewPanel("test")
		var both sync.WaitGroup
		both.Go(func() { p.Post(Request{Command: CommandStop}) })
		for !p.StopAsked() {
			runtime.Gosched()
		}
		if len(p.TakeStops()) != 1 {
			unlisted++
		}
		both.Wait()
	}
	if unlisted > 0 {
		t.Errorf("%d of %d stops were asked for before they were listed", unlisted, runs)
	}
}

// TestNoStopIsLost: of stops that come all at once, each is listed or told that one is under
// way, and the loop is asked.
func TestNoStopIsLost(t *testing.T) {
	p := NewPanel("test")
	var all sync.WaitGroup
	told := make(chan Response, 3*PanelMax)
	for i := range 3 * PanelMax {
		all.Go(func() {
			o := p.Post(Request{Command: CommandStop, Transaction: fmt.Sprint(i)})
			select {
			case r := <-o.Answer:
				told <- r
			default:
			}
		})
	}
	all.Wait()
	if n := len(p.TakeStops()); n != PanelMax || len(told) != 2*PanelMax || !p.StopAsked() {
		t.Errorf("%d listed, %d told", n, len(told))
	}
	p.End()
	if r := p.Do(t.Context(), Request{Command: CommandStop}); r.OK || r.Code != CodeEnding {
		t.Errorf("after the end: %+v", r)
	}
}
