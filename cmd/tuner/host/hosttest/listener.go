// Package hosttest has what stands in for the computer in tests: a service manager that only
// listens, and streams that one goroutine writes and another reads.
package hosttest

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
)

// Listener collects what a service manager hears.
type Listener struct {
	mu    sync.Mutex
	heard []string
}

func (l *Listener) send(message string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, message)
	return nil
}

func (l *Listener) Messages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

// Lines are the assignments that were heard, without the status.
func (l *Listener) Lines() (out []string) {
	for _, m := range l.Messages() {
		for line := range strings.Lines(m) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "STATUS=") {
				out = append(out, line)
			}
		}
	}
	return out
}

func (l *Listener) Manager(watchdog time.Duration) *host.Manager {
	return &host.Manager{Send: l.send, Watchdog: watchdog, Monotonic: func() time.Duration { return 90 * time.Second }}
}
