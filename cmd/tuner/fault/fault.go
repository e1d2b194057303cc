// Package fault is how a command fails: the exit code that an error leads to, the hint that
// says what to do about it, and the lines that a person reads.
package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/remote"
)

// The exit codes. 2 is what a Go program exits with when it crashes, so nothing
// else does.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 3
	ExitStopped     = 4
	ExitInstrument  = 5
	ExitJournal     = 6
	ExitUnsafe      = 7
	ExitInterrupted = 130
)

// usageError is a command line that cannot be followed.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// Usage says that err is a command line that cannot be followed.
func Usage(err error) error { return usageError{err} }

// Hinted is an error with what to do about it.
type Hinted struct {
	error
	Hint string
}

func (h Hinted) Unwrap() error { return h.error }

// WithHint adds what to do about err; nil stays nil.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return Hinted{err, hint}
}

// ExitCode is the one place that maps errors to exit codes. The first case that
// fits wins: what is most dangerous comes first.
func ExitCode(err error) int {
	switch {
	case err == nil, readerGone(err):
		return ExitOK
	case errors.Is(err, loop.ErrUnsafe):
		return ExitUnsafe
	case is[*disk.Error](err), errors.Is(err, loop.ErrJournal):
		return ExitJournal
	case is[*configs.Error](err), is[usageError](err), errors.Is(err, plan.ErrOptions):
		return ExitUsage
	case errors.Is(err, loop.ErrSafety), errors.Is(err, guard.ErrLatched):
		return ExitStopped
	case errors.Is(err, loop.ErrInstrument),
		errors.Is(err, drivers.ErrUnavailable),
		errors.Is(err, drivers.ErrProtocol),
		errors.Is(err, drivers.ErrRefused):
		return ExitInstrument
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	default:
		return ExitFailure
	}
}

// readerGone says that nothing has failed but a write to stdout whose reader has read enough,
// as head does.
func readerGone(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // each is looked at
		all := several.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(e error) bool { return !readerGone(e) })
	}
	if broken, ok := err.(*fs.PathError); ok { //nolint:errorlint // it is unwrapped below
		return broken.Path == os.Stdout.Name() && errors.Is(broken.Err, syscall.EPIPE)
	}
	below := errors.Unwrap(err)
	return below != nil && readerGone(below)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Report prints an error in the house's voice: each problem on a line of its own,
// then what to do about it.
func Report(w io.Writer, err error) {
	if err == nil || readerGone(err) {
		return
	}
	if ExitCode(err) == ExitInterrupted {
		fmt.Fprintln(w, "tuner: interrupted")
		return
	}
	if file, ok := errors.AsType[*configs.Error](err); ok {
		for _, p := range file.Problems {
			fmt.Fprintf(w, "tuner: error: %s\n", p)
			printHint(w, p.Hint)
		}
		return
	}
	text, hint := err.Error(), ""
	if h, ok := errors.AsType[Hinted](err); ok {
		hint = h.Hint
	}
	if j, ok := errors.AsType[*disk.Error](err); ok && j.Hint != "" {
		// The journal's text ends with its own hint, which gets a line of its own.
		text = strings.Replace(text, "; "+j.Hint, "", 1)
		hint = cmp.Or(hint, j.Hint)
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "tuner: error: %s\n", strings.TrimRight(line, "\n"))
	}
	printHint(w, cmp.Or(hint, safetyHint(err), instrumentHint(err)))
}

// safetyHint says how to go on after a trip.
func safetyHint(err error) string {
	switch {
	case errors.Is(err, loop.ErrLeft):
		return "tuner make-safe CONFIG brings the actuators to their fault states, tuner run goes on"
	case errors.Is(err, guard.ErrLatched):
		return "look at the instrument; then tuner reset CONFIG clears it, and tuner run may start again"
	case errors.Is(err, loop.ErrSafety):
		return "tuner safety explain CONFIG says what each rule asks for and how it is cleared"
	}
	return ""
}

// instrumentHint says how to look for a fault of the instrument.
func instrumentHint(err error) string {
	if ExitCode(err) != ExitInstrument {
		return ""
	}
	if errors.Is(err, drivers.ErrOwned) {
		return "wait until that run has ended, or end it with tuner end; tuner stop makes it safe"
	}
	if errors.Is(err, remote.ErrNobody) {
		return "look whether tuner run goes on with this file, and what it said last"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nothing listens at that address: start the broker, server or instrument there, or correct the address in its [[device]]"
	}
	return "tuner check --probe CONFIG reads every sensor and actuator once and moves nothing"
}

func printHint(w io.Writer, hint string) {
	if hint != "" {
		fmt.Fprintf(w, "tuner: hint: %s\n", hint)
	}
}

// Flatten takes joined errors apart. Only errors of more than one line are: what
// stands in one line was meant as one.
func Flatten(err error) []error {
	type several interface {
		error
		Unwrap() []error
	}
	joined, ok := errors.AsType[several](err)
	if !ok || !strings.Contains(err.Error(), "\n") {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, Flatten(e)...)
	}
	return list
}
