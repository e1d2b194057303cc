package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
)

// testEnv is an env in which nothing is real but the files.
func testEnv(args ...string) (e *host.Env, out, errOut *hosttest.Buffer, signals chan os.Signal) {
	out, errOut, signals = &hosttest.Buffer{}, &hosttest.Buffer{}, make(chan os.Signal, 4)
	return &host.Env{Stdin: strings.NewReader(""), Stdout: out, Stderr: errOut, Args: args,
		Now:        func() time.Time { return time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC) },
		Lookup:     testLookup,
		Random:     bytes.NewReader(make([]byte, 64)),
		IsTerminal: func(io.Writer) bool { return false },
		Slowness:   12,
		Signals:    signals}, out, errOut, signals
}

// testLookup finds the one variable that keeps sockets out of the computer's own folder.
func testLookup(name string) (string, bool) {
	if name == "XDG_RUNTIME_DIR" {
		return os.LookupEnv(name)
	}
	return "", false
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{fault.Usage(errors.New("x")), 3},
		{configs.NewError(configs.Problem{What: "x"}), 3},
		{fmt.Errorf("%w: x", plan.ErrOptions), 3},
		{fmt.Errorf("%w: %w", loop.ErrInstrument, drivers.ErrProtocol), 5},
		{fmt.Errorf("x: %w", drivers.ErrUnavailable), 5},
		{fmt.Errorf("%w: x", loop.ErrJournal), 6},
		{&disk.Error{Err: disk.ErrLocked}, 6},
		{fault.WithHint(&disk.Error{Err: journal.ErrExists}, "hint"), 6},
		{context.Canceled, 130},
		{host.ErrInterrupted, 130},
		// What is most dangerous wins.
		{errors.Join(fmt.Errorf("%w: x", loop.ErrUnsafe), context.Canceled, loop.ErrInstrument), 7},
		{errors.Join(loop.ErrInstrument, &disk.Error{Err: disk.ErrIO}), 6},
	} {
		if got := fault.ExitCode(c.err); got != c.want {
			t.Errorf("exit code of %v is %d, want %d", c.err, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	for want, err := range map[string]error{
		"":                                     nil,
		"tuner: error: x\ntuner: error: y\n":   errors.Join(errors.New("x"), errors.New("y")),
		"tuner: error: x\ntuner: hint: do y\n": fmt.Errorf("%w", fault.WithHint(errors.New("x"), "do y")),
		"tuner: error: a.toml:3: k: x\ntuner: hint: do y\ntuner: error: a.toml:9: z\n": configs.NewError(
			configs.Problem{File: "a.toml", Line: 9, What: "z"}, configs.Problem{File: "a.toml", Line: 3, Key: "k", What: "x", Hint: "do y"}),
		"tuner: error: journal \"a.db\" is locked: process 7 writes it\ntuner: hint: wait\n": &disk.Error{
			Err: disk.ErrLocked, Path: "a.db", Detail: "process 7 writes it", Hint: "wait"},
		"tuner: interrupted\n": fmt.Errorf("read: %w", context.Canceled),
	} {
		var b bytes.Buffer
		fault.Report(&b, err)
		if b.String() != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
	}
}

// TestProgressOnATerminal simulates in process, with a terminal on stderr: the
// progress line is drawn and gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSample(t, "laser", "steps", "8")
	e, out, errOut, _ := testEnv("simulate", "laser.toml")
	e.IsTerminal = func(w io.Writer) bool { return w == io.Writer(errOut) }
	if code := execute(t.Context(), e); code != fault.ExitOK {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	if !strings.Contains(out.String(), "recommended setting") {
		t.Errorf("stdout:\n%s", out)
	}
	text := errOut.String()
	if !strings.Contains(text, "\rstep ") && !strings.Contains(text, "\r\x1b[2mstep ") {
		t.Errorf("no progress line: %q", text)
	}
	if end := text[strings.LastIndex(text, "\r")+1:]; end != "" {
		t.Errorf("something is left on the last line: %q", end)
	}
}

// writeSample writes a sample into the working folder, with one key changed.
func writeSample(t *testing.T, name, key, value string) {
	t.Helper()
	text := withKey(t, sampleText(t, name), key, value)
	if err := os.WriteFile(name+".toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sampleText(t *testing.T, name string) string {
	t.Helper()
	for _, s := range configs.Samples() {
		if s.Name == name {
			return string(s.Text)
		}
	}
	t.Fatalf("there is no sample %s", name)
	return ""
}

// withKey gives a key, which the text has or shows as a default, another value.
func withKey(t *testing.T, text, key, value string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^(# )?` + key + ` = .*$`)
	if n := len(line.FindAllString(text, -1)); n != 1 {
		t.Fatalf("the sample has key %s %d times, want once", key, n)
	}
	return line.ReplaceAllLiteralString(text, key+" = "+value)
}

// TestReaderGone: a simulation whose reader leaves ends early and says so.
func TestReaderGone(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSample(t, "laser", "steps", "100000")
	e, _, errOut, _ := testEnv("simulate", "laser.toml", "--json")
	r, w := io.Pipe()
	e.Stdout = w
	go func() {
		if _, err := io.ReadFull(r, make([]byte, 200)); err != nil {
			t.Error(err)
		}
		r.Close()
	}()
	if code := execute(t.Context(), e); code != fault.ExitFailure {
		t.Errorf("exit code %d", code)
	}
	j, err := journal.OpenReader("pulse-energy.simulate.db")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	// The budget pays for more than a hundred steps; the first is enough to notice.
	if s, err := j.Status(); err != nil || s.Steps > 50 {
		t.Errorf("the simulation went on for %d steps, %v", s.Steps, err)
	}
	if want := "tuner: error: write to stdout: io: read/write on closed pipe\n"; !strings.HasSuffix(errOut.String(), want) {
		t.Errorf("stderr:\n%s", errOut)
	}
}

// TestSignalInProcess: the signal comes by the env alone.
func TestSignalInProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSample(t, "laser", "steps", "100000")
	e, out, errOut, signals := testEnv("simulate", "laser.toml", "--json", "--journal", filepath.Join(t.TempDir(), "x.db"))
	done := make(chan int)
	go func() { done <- execute(t.Context(), e) }()
	out.WaitFor(t, `"n":3,`)
	signals <- syscall.SIGTERM
	if code := <-done; code != fault.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if !strings.Contains(out.String(), `"reason":"interrupted"`) {
		t.Errorf("no result line:\n%s", out)
	}
}
