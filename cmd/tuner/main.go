// Command tuner tunes instruments: it measures, learns, proposes, passes every
// proposal through a safety layer, writes setpoints and keeps a durable record.
//
// # Words
//
// An env is what a command may use of the world; a test gives its own. A wiring
// is a configuration turned into the options of every package, with the devices
// that the file names, nothing opened yet. A session is one run of the loop with
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
)

func main() {
	os.Exit(execute(context.Background(), processEnv()))
}

// processEnv is the env of a real process.
func processEnv() *env {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // an exec device that needs it says so
	}
	e := &env{
		executable: executable,
		stdin:      os.Stdin,
		stdout:     os.Stdout,
		stderr:     os.Stderr,
		args:       os.Args[1:],
		now:        time.Now,
		lookup:     os.LookupEnv,
		random:     rand.Reader,
		isTerminal: isTerminal,
		signals:    stopSignals(),
		collect:    func(percent int) { debug.SetGCPercent(percent) },
		manager:    systemd(os.LookupEnv),
		reload:     make(chan struct{}, 1),
	}
	if stream, _ := e.lookup("JOURNAL_STREAM"); isJournal(os.Stderr, stream) {
		e.stderr = &priorityWriter{w: os.Stderr}
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
