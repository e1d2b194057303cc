package host

import (
	"crypto/rand"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/show"
)

// Process is the env of a real process.
func Process() *Env {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // an exec device that needs it says so
	}
	e := &Env{
		Executable: executable,
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Args:       os.Args[1:],
		Now:        time.Now,
		Lookup:     os.LookupEnv,
		Random:     rand.Reader,
		IsTerminal: isTerminal,
		Signals:    stopSignals(),
		Collect:    func(percent int) { debug.SetGCPercent(percent) },
		Manager:    systemd(os.LookupEnv),
		Reload:     make(chan struct{}, 1),
	}
	if stream, _ := e.Lookup("JOURNAL_STREAM"); show.IsJournal(os.Stderr, stream) {
		e.Stderr = &show.PriorityWriter{W: os.Stderr}
	}
	return e
}

// stopSignals delivers what asks the process to end. A terminal that goes away
// (SIGHUP) must not leave actuators as they happen to be, unless the user said so
// with nohup. Caught, SIGPIPE becomes an error of the write, so that a reader
// that leaves does not kill a run.
func stopSignals() <-chan os.Signal {
	// A file that may not grow any more is a full disk, which is waited out, not a reason
	// to die.
	signal.Ignore(syscall.SIGXFSZ)
	stop := make(chan os.Signal, 8)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(stop, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return stop
}
