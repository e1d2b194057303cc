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
//	6    journal locked, corrupt, or of a run that has ended
//	7    safe state not confirmed
//	130  interrupted, safe state reached
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host"
)

func main() {
	// A step leaves little garbage: to collect it at 1.4 times what is in use, not twice, costs no time that
	// shows, and spares a lab's computer memory (simulate laser: 72 MB; 76 at 1.5 times).
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
	os.Exit(commands.Execute(context.Background(), host.Process()))
}
