package host

import (
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Manager is the service manager that started this process and wants to know how it
// fares: systemd, where the unit has Type=notify.
type Manager struct {
	// Send delivers one message; it may wait for the manager.
	Send func(message string) error
	// Watchdog is the longest silence that the manager bears, 0: any.
	Watchdog time.Duration
	// Monotonic is the time that the manager's clock shows.
	Monotonic func() time.Duration
}

// systemd is the manager that the environment names, nil if there is none.
func systemd(lookup func(string) (string, bool)) *Manager {
	if socket, _ := lookup("NOTIFY_SOCKET"); socket == "" {
		return nil
	}
	m := &Manager{Monotonic: monotonicTime, Send: func(message string) error {
		_, err := daemon.SdNotify(false, message)
		return err
	}}
	// An interval that cannot be read counts as none: the manager sees that there are
	// no signs of life, which is the safe way for that to show.
	m.Watchdog, _ = daemon.SdWatchdogEnabled(false)
	return m
}

// monotonicTime is CLOCK_MONOTONIC, by which systemd orders a reload.
func monotonicTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
