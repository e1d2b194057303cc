package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// env is what a command uses of the world. It is made once; but for the form of narration,
// which a flag may choose, nothing changes it.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// args are the command line without the program's name.
	args []string
	now  func() time.Time
	// lookup finds an environment variable.
	lookup func(name string) (string, bool)
	// random is a source of random bytes, for names that must be unique.
	random io.Reader
	// isTerminal says whether a person reads w.
	isTerminal func(w io.Writer) bool
	// executable is the path of this program, "" where it is not known.
	executable string
	// signals delivers what asks the process to end.
	signals <-chan os.Signal
	// json is stderr where narration is JSON, else nil.
	json *jsonLog
	// collect has the garbage collector run when the heap has grown by so many percent; nil
	// in tests.
	collect func(percent int)
	// manager is the service manager that started the process, nil if none did.
	manager *manager
	// reload has a token when a running tuner is to read its file anew.
	reload chan struct{}
	// failpoint is told where a run stands; nil in the product: tests end the process there.
	failpoint func(name string)
	// slowness is how many times longer the commands that wait for a world that should answer
	// soon do so; 0, which is as 1, in the product: a test does not know how busy its machine is.
	slowness int
}

// patience is a limit of the product as this environment has it.
func (e *env) patience(limit time.Duration) time.Duration {
	return limit * time.Duration(max(1, e.slowness))
}

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = interruptedError{}

// interruptedError is a context's end that the user asked for.
type interruptedError struct{}

func (interruptedError) Error() string { return "interrupted" }

// Is makes errors.Is(err, context.Canceled) hold.
func (interruptedError) Is(target error) bool { return target == context.Canceled }

// interruptible returns a context that the first signal ends. Further signals
// only say that the shutdown is under way: it is bounded by its own timeouts, and
// cutting it short would leave actuators in a state that nobody chose.
func (e *env) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		for {
			var s os.Signal
			select {
			case s = <-e.signals:
			case <-done:
				return
			}
			if s == syscall.SIGHUP && e.manager != nil {
				e.askReload()
				continue
			}
			if ctx.Err() != nil {
				fmt.Fprintln(e.stderr, "tuner: shutdown is under way")
			}
			cancel(errInterrupted)
		}
	}()
	return ctx, func() {
		close(done)
		cancel(nil)
	}
}

// askReload has the file read anew; one that has been asked for already is enough. By
// SIGHUP a service manager asks for it; from a terminal it means that nobody is there
// any more, which ends a run.
func (e *env) askReload() {
	select {
	case e.reload <- struct{}{}:
	default:
	}
}

// style says how narration may look on stderr.
type style struct {
	// live allows a line that is written over itself.
	live bool
	// color allows escape sequences.
	color bool
	// columns asks for the terminal's width, 0: not known; nil: nobody knows.
	columns func() int
}

func (e *env) style() style {
	_, noColor := e.lookup("NO_COLOR")
	term, _ := e.lookup("TERM")
	live := e.isTerminal(e.stderr) && term != "dumb"
	return style{live: live, color: live && !noColor, columns: func() int { return columnsOf(e.stderr) }}
}

// isTerminal says whether w is a file that is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// columnsOf is the width of a terminal in characters, 0 where it is not known.
func columnsOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
