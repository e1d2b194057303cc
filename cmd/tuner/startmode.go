package main

import (
	"fmt"
	"io"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/plan"
)

// startMode says how a run begins: as the flag says, else by who has started it.
func (e *env) startMode(flag string) (plan.StartMode, error) {
	switch flag {
	case "":
		if e.isService() {
			return plan.StartHold, nil
		}
		return plan.StartNow, nil
	case "hold":
		return plan.StartHold, nil
	case "run":
		return plan.StartRun, nil
	case "never":
		return "", withHint(fmt.Errorf("%w: --resume never begins nothing; nothing was driven", loop.ErrSafety),
			"a person begins the run by typing tuner run CONFIG")
	}
	return "", usageError{withHint(fmt.Errorf("--resume is %q", flag), "it is never, hold or run")}
}

// isService reports whether systemd has started the process, and nobody at a terminal:
// a desktop's terminals are services too, and hand their names on.
func (e *env) isService() bool {
	set := func(name string) bool {
		value, ok := e.lookup(name)
		return ok && value != ""
	}
	stdin, isFile := e.stdin.(io.Writer)
	return (set("NOTIFY_SOCKET") || set("INVOCATION_ID")) &&
		!e.isTerminal(e.stderr) && !(isFile && e.isTerminal(stdin))
}
