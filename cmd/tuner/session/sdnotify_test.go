package session

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/worker"
)

// TestNotifierFollowsTheLoop runs the ticks of a short life in a bubble: what is said
// depends on the ticks alone, and nothing is said while there are none.
func TestNotifierFollowsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l hosttest.Listener
		n, err := newNotifier(l.Manager(4*time.Second), worker.RealClock{}, 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		status := "step 0, booting"
		ticks := func(count int, p control.Progress) {
			for range count {
				time.Sleep(100 * time.Millisecond)
				n.tick(p, func() string { return status })
			}
			synctest.Wait()
		}
		ticks(5, control.Progress{})
		if got := l.Lines(); slices.Contains(got, "READY=1") {
			t.Errorf("ready before the instrument was read: %q", got)
		}
		status = "step 1, measuring"
		ticks(1, control.Progress{Read: true})
		if got := l.Messages(); got[len(got)-1] != "READY=1\nSTATUS=step 1, measuring" {
			t.Errorf("heard %q", got)
		}
		// A quarter of the watchdog's four seconds, so three signs in 3.5 s.
		before := len(l.Lines())
		ticks(35, control.Progress{Read: true})
		if got := l.Lines()[before:]; !slices.Equal(got, []string{"WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"}) {
			t.Errorf("heard %q", got)
		}
		before = len(l.Messages())
		time.Sleep(time.Minute) // the loop stands still
		synctest.Wait()
		if got := l.Messages()[before:]; len(got) != 0 {
			t.Errorf("heard %q from a loop that stands still", got)
		}
		n.reloading()
		n.reloaded("narrowed\n\x1b[31m")
		synctest.Wait()
		if got := l.Messages()[before:]; !slices.Equal(got, []string{"RELOADING=1\nMONOTONIC_USEC=90000000", `READY=1` + "\n" + `STATUS=narrowed; \x1b[31m`}) {
			t.Errorf("heard %q", got)
		}
		before = len(l.Lines())
		ticks(3, control.Progress{Read: true, Ending: true})
		n.close("ended: interrupted; actuator pump: at its safe value, 60 A")
		n.close("again")
		if got := l.Lines()[before:]; !slices.Equal(got, []string{"STOPPING=1", "WATCHDOG=1"}) {
			t.Errorf("heard %q", got)
		}
		if got := l.Messages(); got[len(got)-1] != "STATUS=ended: interrupted; actuator pump: at its safe value, 60 A" {
			t.Errorf("the last words were %q", got[len(got)-1])
		}
	})
}

// TestNotifierNeverWaits: a manager that does not listen costs the loop nothing.
func TestNotifierNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		n, err := newNotifier(&host.Manager{Send: func(string) error { <-free; return nil }, Watchdog: time.Second}, worker.RealClock{}, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 1000 {
			n.tick(control.Progress{Read: true}, func() string { return strconv.Itoa(i) })
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("1000 ticks of 10 ms took %v", took)
		}
		n.close("ended") // returns though nothing was delivered
		if took := time.Since(began); took != 10*time.Second+show.OutboxPatience {
			t.Errorf("the end took until %v", took)
		}
		close(free)
	})
}

func TestNotifierRefusesASlowTick(t *testing.T) {
	var l hosttest.Listener
	_, err := newNotifier(l.Manager(30*time.Second), worker.RealClock{}, 10*time.Second)
	if fault.ExitCode(err) != fault.ExitUsage || !strings.Contains(err.Error(), "every 30s, and a tick takes 10s") {
		t.Errorf("error %v", err)
	}
	if n, err := newNotifier(nil, worker.RealClock{}, time.Minute); n != nil || err != nil {
		t.Errorf("%v, %v without a manager", n, err)
	}
}
