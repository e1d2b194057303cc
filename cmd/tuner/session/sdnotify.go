package session

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
)

// notifyShare is the part of the manager's patience after which it gets a sign of
// life. A quarter, so that a sign and a tick together stay under the half that
// sd_watchdog_enabled(3) asks for.
const notifyShare = 4

// statusPause is the shortest time between two status lines: they are for people.
const statusPause = time.Second

// notifier tells the manager that the instrument has been read, that the loop goes
// on, how the run stands and that it ends. The signs of life come from the loop's own
// goroutine after a tick that was completed: a loop that stands still is silent. A
// goroutine of its own delivers, so that the loop never waits for the manager. A nil
// notifier has no manager.
type notifier struct {
	manager *host.Manager
	clock   drivers.Clock
	every   time.Duration
	lines   chan string
	quit    chan struct{}
	done    chan struct{}
	once    sync.Once

	// The rest belongs to the loop's goroutine.
	ready, stopping bool
	beat, told      time.Time
	status          string
}

// newNotifier begins to notify m; it refuses a tick that is too long to satisfy it.
func newNotifier(m *host.Manager, clock drivers.Clock, tick time.Duration) (*notifier, error) {
	if m == nil {
		return nil, nil
	}
	n := &notifier{manager: m, clock: clock, every: m.Watchdog / notifyShare,
		lines: make(chan string, 32), quit: make(chan struct{}), done: make(chan struct{})}
	if n.every > 0 && tick > n.every {
		return nil, fault.Usage(fault.WithHint(
			fmt.Errorf("the service manager wants a sign of life every %v, and a tick takes %v", m.Watchdog, tick),
			fmt.Sprintf("set WatchdogSec= of the unit to at least %v, or make the key tick shorter", notifyShare*tick)))
	}
	go n.run()
	return n, nil
}

func (n *notifier) run() {
	defer close(n.done)
	// A message that cannot be delivered is not tried again: a manager that misses
	// signs of life acts on that.
	for {
		select {
		case line := <-n.lines:
			_ = n.manager.Send(line)
		case <-n.quit:
			for len(n.lines) > 0 {
				_ = n.manager.Send(<-n.lines)
			}
			return
		}
	}
}

// post queues a message. It is dropped where the manager is far behind.
func (n *notifier) post(lines ...string) {
	select {
	case n.lines <- strings.Join(lines, "\n"):
	default:
	}
}

// tick reports a completed tick to the service manager, with the status in one line.
func (n *notifier) tick(p control.Progress, status func() string) {
	if n == nil {
		return
	}
	now := n.clock.Now()
	if p.Read && !n.ready {
		n.ready, n.beat = true, now
		n.post(daemon.SdNotifyReady, n.say(now, status()))
	}
	if p.Ending && !n.stopping {
		n.stopping = true
		n.post(daemon.SdNotifyStopping, n.say(now, status()))
	}
	if n.every > 0 && n.ready && now.Sub(n.beat) >= n.every {
		n.beat = now
		n.post(daemon.SdNotifyWatchdog)
	}
	if now.Sub(n.told) >= statusPause {
		if line := status(); line != n.status {
			n.post(n.say(now, line))
		}
	}
}

// say makes a status message of one line.
func (n *notifier) say(now time.Time, status string) string {
	n.told, n.status = now, status
	return statusLine(status)
}

func statusLine(text string) string { return "STATUS=" + show.Printable(text) }

// reloading and reloaded enclose a reload; any goroutine may call them.
func (n *notifier) reloading() {
	if n != nil {
		n.post(daemon.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", n.manager.Monotonic().Microseconds()))
	}
}

func (n *notifier) reloaded(status string) {
	if n != nil {
		n.post(daemon.SdNotifyReady, statusLine(status))
	}
}

// close sends a last status and waits until all is delivered, but not for ever.
func (n *notifier) close(last string) {
	if n == nil {
		return
	}
	n.once.Do(func() {
		n.post(statusLine(last))
		close(n.quit)
		select {
		case <-n.done:
		case <-time.After(show.OutboxPatience):
		}
	})
}
