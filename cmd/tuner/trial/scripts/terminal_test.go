package scripts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// shortRun is a configuration of a simulation that takes a moment.
const shortRun = `schema = 1
name = "short"
tick = "1s"

[plant]
kind = "laser"

[objective]
sensor = "pulse_energy"
shots = 2

[[sensor]]
name = "pulse_energy"
unit = "mJ"
range = [0, 20]
device = "d"
channel = "pulse_energy"
max_age = "10s"

[[variable]]
name = "pump_current"
unit = "A"
range = [60, 90]
start = 65
readback = { tolerance = 0.1 }
device = "d"
channel = "pump_current"

[policy]
kind = "rahbo"
risk = 0.5

[stop]
steps = 8

[safety.variable.pump_current]
hard = [60, 90]
slew = 5
safe = 60

[[device]]
name = "d"
driver = "sim"
`

// TestTerminal: on a terminal a result is broken between words at its width, what was verified has
// a colour unless NO_COLOR is set, and a progress line with a bar is written over itself and gone
// in the end.
func TestTerminal(t *testing.T) {
	t.Parallel()
	dir := shortSimulation(t)
	const columns = 64
	for _, colored := range []bool{true, false} {
		pty, err := port.OpenPTY()
		if err != nil {
			t.Skip(err)
		}
		if err := unix.IoctlSetWinsize(int(pty.Master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
			t.Fatal(err)
		}
		terminal, err := os.OpenFile(pty.Path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		cmd := trial.Command(t, dir, "simulate", "short.toml")
		cmd.Env = append(os.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=")
		if !colored {
			cmd.Env = append(cmd.Env, "NO_COLOR=1")
		}
		cmd.Stdout, cmd.Stderr = terminal, terminal
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		text := read(t, pty)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		pty.Close()
		if got := strings.Contains(text, "\x1b["); got != colored {
			t.Errorf("color %v, want %v:\n%q", got, colored, text)
		}
		if colored && !strings.Contains(text, "\x1b[32mverified:\x1b[0m") {
			t.Errorf("verified has no colour:\n%q", text)
		}
		plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(text, "")
		if !regexp.MustCompile(`\rstep \d/8 \[[█·]+\]`).MatchString(plain) {
			t.Errorf("no progress bar:\n%q", plain)
		}
		for line := range strings.Lines(plain) {
			for part := range strings.SplitSeq(strings.TrimRight(line, "\r\n"), "\r") {
				if n := utf8.RuneCountInString(part); n > columns && strings.Contains(strings.TrimSpace(part), " ") && !strings.Contains(part, "tuner try") {
					t.Errorf("%d columns of %d: %q", n, columns, part)
				}
			}
		}
		if strings.Contains(plain, "tuner: step ") {
			t.Errorf("a line a step beside the progress line:\n%s", plain)
		}
	}
}

// read is what a terminal shows until its last user is gone.
func read(t *testing.T, pty *port.PTY) string {
	t.Helper()
	var all bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, gone, err := pty.Read(context.Background(), buf)
		all.Write(buf[:n])
		switch {
		case err != nil:
			t.Fatal(err)
		case gone && all.Len() > 0:
			return all.String()
		}
	}
}

func shortSimulation(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "short.toml"), []byte(shortRun), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReaderThatHasReadEnough: a command whose reader has gone ends quietly, as with head.
func TestReaderThatHasReadEnough(t *testing.T) {
	t.Parallel()
	dir := shortSimulation(t)
	if out, err := trial.Command(t, dir, "simulate", "short.toml").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"export", "short.simulate.db"}, {"export", "short.simulate.db", "--format", "jsonl"}, {"report", "short.simulate.db", "-o", "-"},
		{"best", "short.simulate.db"}, {"check", "short.toml"}, {"config"}, {"plot", "short.simulate.db", "-o", "-"}, {"version"}, {"--version"}, {"--help"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := trial.Command(t, dir, args...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &said
		err = cmd.Run()
		w.Close()
		if err != nil || said.Len() > 0 {
			t.Errorf("%q: %v, and says %q", args, err, said.String())
		}
	}
}
