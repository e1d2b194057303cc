// Package host is what a command uses of the computer that it runs on: its streams, clock,
// environment, randomness, signals, secrets, the service manager, the version of the program.
// A test gives its own.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/local"
)

// Env is what a command uses of the world. It is made once; but for the form and the level of
// narration, which flags may choose, nothing changes it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Args are the command line without the program's name.
	Args []string
	Now  func() time.Time
	// Lookup finds an environment variable.
	Lookup func(name string) (string, bool)
	// Random is a source of random bytes, for names that must be unique.
	Random io.Reader
	// IsTerminal says whether a person reads w.
	IsTerminal func(w io.Writer) bool
	// Executable is the path of this program, "" where it is not known.
	Executable string
	// Signals delivers what asks the process to end.
	Signals <-chan os.Signal
	// Level is how much is told on stderr.
	Level show.Level
	// json is stderr where narration is JSON, else nil.
	JSON *show.JSONLog
	// Collect has the garbage collector run when the heap has grown by so many percent; nil
	// in tests.
	Collect func(percent int)
	// Manager is the service manager that started the process, nil if none did.
	Manager *Manager
	// Reload has a token when a running tuner is to read its file anew.
	Reload chan struct{}
	// Failpoint is called with the place that a run has reached; nil in the product: tests end the process there.
	Failpoint func(name string)
	// Slowness is how many times longer the commands that wait for a world that should answer
	// soon do so; 0, which is as 1, in the product: a test does not know how busy its machine is.
	Slowness int
}

// Patience is a limit of the product as this environment has it.
func (e *Env) Patience(limit time.Duration) time.Duration {
	return limit * time.Duration(max(1, e.Slowness))
}

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = interruptedError{}

// interruptedError is a context's end that the user asked for.
type interruptedError struct{}

func (interruptedError) Error() string { return "interrupted" }

// Is makes errors.Is(err, context.Canceled) hold.
func (interruptedError) Is(target error) bool { return target == context.Canceled }

// Interruptible returns a context that the first signal ends. Further signals
// only say that the shutdown is under way: it is bounded by its own timeouts, and
// cutting it short would leave actuators in a state that nobody chose.
func (e *Env) Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		for {
			var s os.Signal
			select {
			case s = <-e.Signals:
			case <-done:
				return
			}
			if s == syscall.SIGHUP && e.Manager != nil {
				e.askReload()
				continue
			}
			if ctx.Err() != nil {
				fmt.Fprintln(e.Stderr, "tuner: shutdown is under way")
			}
			cancel(ErrInterrupted)
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
func (e *Env) askReload() {
	select {
	case e.Reload <- struct{}{}:
	default:
	}
}

// Style is how narration looks on stderr.
func (e *Env) Style() show.Style { return e.styleOf(e.Stderr) }

// styleOf is what w can show. Colour follows NO_COLOR (no-color.org: set and not empty).
func (e *Env) styleOf(w io.Writer) show.Style {
	noColor, _ := e.Lookup("NO_COLOR")
	term, _ := e.Lookup("TERM")
	live := e.IsTerminal(w) && term != "dumb"
	return show.Style{Live: live, Color: live && noColor == "", Unicode: e.SparkLevels() == show.UnicodeLevels,
		Columns: func() int { return columnsOf(w) }, Level: e.Level}
}

// Print writes a result in words to stdout: on a terminal its lines are broken between words.
func (e *Env) Print(write func(w io.Writer) error) error {
	p := show.NewPaper(e.Stdout, e.styleOf(e.Stdout))
	return errors.Join(write(p), p.Close())
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

// Absolute is a path from the root, or as it is where the working folder is not known.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// SparkLevels are the levels that this terminal can show, by its locale.
func (e *Env) SparkLevels() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale, _ := e.Lookup(name); locale != "" { // the first that is set counts
			locale = strings.ToUpper(strings.ReplaceAll(locale, "-", ""))
			if strings.Contains(locale, "UTF8") {
				return show.UnicodeLevels
			}
			return show.ASCIILevels
		}
	}
	return show.ASCIILevels
}

// LogFormat sets what narration looks like.
func (e *Env) LogFormat(format string) error {
	switch format {
	case "text":
	case "json":
		e.JSON = show.NewJSONLog(e.Stderr, e.Now)
		e.Stderr = e.JSON
	default:
		return fault.Usage(fault.WithHint(fmt.Errorf("there is no log format %q", format), "formats are text and json"))
	}
	return nil
}

// RunLean has the collector keep a run small, unless the user has said (GOGC) how it should.
func (e *Env) RunLean() {
	if said, ok := e.Lookup("GOGC"); ok && said != "" || e.Collect == nil {
		return
	}
	e.Collect(HeapGrowth)
}

// HeapGrowth is by how much, in percent of what is live, the heap of a run grows before
// the collector runs. Go's own is 100. What is live are mostly the matrices of the model,
// set aside for as many observations as it may ever hold, and not yet touched: a percentage
// of them is tens of MB of rubbish. They hold no pointers, so that collecting is cheap.
const HeapGrowth = 25

// StateDirectory is where systemd lets a service keep its files: the first of
// what StateDirectory= names; "" outside systemd.
func (e *Env) StateDirectory() string {
	list, _ := e.Lookup("STATE_DIRECTORY")
	first, _, _ := strings.Cut(list, ":")
	return first
}

// IsService reports whether systemd has started the process, and nobody at a terminal:
// a desktop's terminals are services too, and hand their names on.
func (e *Env) IsService() bool {
	set := func(name string) bool {
		value, ok := e.Lookup(name)
		return ok && value != ""
	}
	stdin, isFile := e.Stdin.(io.Writer)
	return (set("NOTIFY_SOCKET") || set("INVOCATION_ID")) &&
		!e.IsTerminal(e.Stderr) && !(isFile && e.IsTerminal(stdin))
}

// Places are the folders of sockets that this process knows of.
func (e *Env) Places() local.Dirs {
	p := local.Dirs{UID: os.Geteuid(), Services: local.Services}
	p.Runtime, _ = e.Lookup("RUNTIME_DIRECTORY")
	p.XDG, _ = e.Lookup("XDG_RUNTIME_DIR")
	p.Temp, _ = e.Lookup("TMPDIR")
	return p
}
