package main

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
)

// listener collects what a service manager hears.
type listener struct {
	mu    sync.Mutex
	heard []string
}

func (l *listener) send(message string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, message)
	return nil
}

func (l *listener) messages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

// lines are the assignments that were heard, without the status.
func (l *listener) lines() (out []string) {
	for _, m := range l.messages() {
		for line := range strings.Lines(m) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "STATUS=") {
				out = append(out, line)
			}
		}
	}
	return out
}

func (l *listener) manager(watchdog time.Duration) *host.Manager {
	return &host.Manager{Send: l.send, Watchdog: watchdog, Monotonic: func() time.Duration { return 90 * time.Second }}
}

// TestNotifierFollowsTheLoop runs the ticks of a short life in a bubble: what is said
// depends on the ticks alone, and nothing is said while there are none.
func TestNotifierFollowsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l listener
		n, err := newNotifier(l.manager(4*time.Second), loop.RealClock{}, 100*time.Millisecond)
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
		if got := l.lines(); slices.Contains(got, "READY=1") {
			t.Errorf("ready before the instrument was read: %q", got)
		}
		status = "step 1, measuring"
		ticks(1, control.Progress{Read: true})
		if got := l.messages(); got[len(got)-1] != "READY=1\nSTATUS=step 1, measuring" {
			t.Errorf("heard %q", got)
		}
		// A quarter of the watchdog's four seconds, so three signs in 3.5 s.
		before := len(l.lines())
		ticks(35, control.Progress{Read: true})
		if got := l.lines()[before:]; !slices.Equal(got, []string{"WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"}) {
			t.Errorf("heard %q", got)
		}
		before = len(l.messages())
		time.Sleep(time.Minute) // the loop stands still
		synctest.Wait()
		if got := l.messages()[before:]; len(got) != 0 {
			t.Errorf("heard %q from a loop that stands still", got)
		}
		n.reloading()
		n.reloaded("narrowed\n\x1b[31m")
		synctest.Wait()
		if got := l.messages()[before:]; !slices.Equal(got, []string{"RELOADING=1\nMONOTONIC_USEC=90000000", `READY=1` + "\n" + `STATUS=narrowed; \x1b[31m`}) {
			t.Errorf("heard %q", got)
		}
		before = len(l.lines())
		ticks(3, control.Progress{Read: true, Ending: true})
		n.close("ended: interrupted; actuator pump: at its safe value, 60 A")
		n.close("again")
		if got := l.lines()[before:]; !slices.Equal(got, []string{"STOPPING=1", "WATCHDOG=1"}) {
			t.Errorf("heard %q", got)
		}
		if got := l.messages(); got[len(got)-1] != "STATUS=ended: interrupted; actuator pump: at its safe value, 60 A" {
			t.Errorf("the last words were %q", got[len(got)-1])
		}
	})
}

// TestNotifierNeverWaits: a manager that does not listen costs the loop nothing.
func TestNotifierNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		n, err := newNotifier(&host.Manager{Send: func(string) error { <-free; return nil }, Watchdog: time.Second}, loop.RealClock{}, time.Millisecond)
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
	var l listener
	_, err := newNotifier(l.manager(30*time.Second), loop.RealClock{}, 10*time.Second)
	if fault.ExitCode(err) != fault.ExitUsage || !strings.Contains(err.Error(), "every 30s, and a tick takes 10s") {
		t.Errorf("error %v", err)
	}
	if n, err := newNotifier(nil, loop.RealClock{}, time.Minute); n != nil || err != nil {
		t.Errorf("%v, %v without a manager", n, err)
	}
}

// TestSystemdSocket delivers by a real socket, as the environment names it.
func TestSystemdSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "30000000")
	m := host.Systemd(func(name string) (string, bool) { return path, name == "NOTIFY_SOCKET" })
	if m == nil || m.Watchdog != 30*time.Second || m.Monotonic() <= 0 {
		t.Fatalf("manager %+v", m)
	}
	if err := m.Send("READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, err := socket.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("heard %q, %v", b[:n], err)
	}
	if m := host.Systemd(func(string) (string, bool) { return "", false }); m != nil {
		t.Errorf("a manager without a socket: %+v", m)
	}
}

// TestServiceSaysHowItEnds runs as a service in real time, on a plant in this process.
func TestServiceSaysHowItEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	writeService(t)
	var l listener
	e, _, errOut, signals := testEnv("run", "service.toml")
	e.Manager, e.Now = l.manager(time.Second), time.Now
	done := make(chan int)
	go func() { done <- execute(t.Context(), e) }()
	waitUntil(t, func() bool {
		return slices.Contains(l.lines(), "WATCHDOG=1") && strings.Contains(strings.Join(l.messages(), " "), "STATUS=step 2")
	})
	signals <- stopSignal
	if code := <-done; code != fault.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	lines := l.lines()
	if lines[0] != "READY=1" || !slices.Contains(lines, "STOPPING=1") {
		t.Errorf("heard %q", lines)
	}
	all := l.messages()
	if want := "STATUS=ended: interrupted; actuator x: at its safe value, 0.25 V; actuator y"; !strings.HasPrefix(all[len(all)-1], want) {
		t.Errorf("the last words were %q, want %q", all[len(all)-1], want)
	}
	if !strings.Contains(errOut.String(), "tuner: actuator x: at its safe value, 0.25 V\n") {
		t.Errorf("stderr:\n%s", errOut)
	}
}
