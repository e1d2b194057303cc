// Command tuner tunes instruments: it measures, learns, proposes, passes every
// proposal through a safety layer, writes setpoints and keeps a durable record.
//
// # Words
//
// An Env (host) is what a command may use of the world; a test gives its own. A Setup
// (setup) is a configuration turned into the options of every package, with the devices
// that the file names, nothing opened yet. A session (session) is one run of the loop with
// its journal, its lines on stdout and its narration on stderr. Results go to
// stdout, narration to stderr.
//
// # Exit codes
//
//	0    ok
//	1    failure
//	3    usage or configuration
//	4    stopped by the safety layer, safe state reached
//	5    instrument unavailable
//	6    journal locked or corrupt
//	7    safe state not confirmed
//	130  interrupted, safe state reached
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
)

func main() {
	os.Exit(execute(context.Background(), processEnv()))
}

// processEnv is the env of a real process.
func processEnv() *host.Env {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // an exec device that needs it says so
	}
	e := &host.Env{
		Executable: executable,
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Args:       os.Args[1:],
		Now:        time.Now,
		Lookup:     os.LookupEnv,
		Random:     rand.Reader,
		IsTerminal: host.IsTerminal,
		Signals:    stopSignals(),
		Collect:    func(percent int) { debug.SetGCPercent(percent) },
		Manager:    host.Systemd(os.LookupEnv),
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
