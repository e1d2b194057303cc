package exec

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	osexec "os/exec"

	"github.com/labtuner/tuner/drivers"
)

// exchange is examples/files.py as a device, with the experiment in the test's hands.
type exchange struct {
	t    *testing.T
	dev  *Device
	said *records
	dir  string
}

// newExchange makes the device in a folder; nil where there is no Python.
func newExchange(t *testing.T, dir string, more ...string) *exchange {
	t.Helper()
	if _, err := osexec.LookPath("python3"); err != nil {
		t.Log("there is no python3 here; the example was not run")
		return nil
	}
	o := patient()
	o.Base = "examples"
	o.Command = append([]string{"python3", "files.py", "current:A:0.2", "detuning:MHz:0", "--folder", dir, "--quiet", "0.02"}, more...)
	x := &exchange{t: t, dir: dir}
	x.dev, x.said = device(t, o)
	return x
}

func (x *exchange) open() *exchange {
	x.t.Helper()
	if _, err := x.dev.Open(context.Background()); err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { x.dev.Close() })
	return x
}

func (x *exchange) path(name string) string { return filepath.Join(x.dir, name) }

func (x *exchange) set(current, detuning float64) {
	x.t.Helper()
	if _, err := x.dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"current": current, "detuning": detuning}}); err != nil {
		x.t.Fatal(err)
	}
}

// read asks once for everything.
func (x *exchange) read() (map[string]float64, error) {
	r, err := x.dev.Read(context.Background(), []string{"current", "detuning", "cost", "uncer"})
	return r.Values, err
}

// begins asks for the cost, which must begin a run, and takes its input as an experiment
// does: it deletes the file.
func (x *exchange) begins() string {
	x.t.Helper()
	if v, err := x.read(); err != nil || len(v) != 2 {
		x.t.Fatalf("a read that begins a run gave %v, %v", v, err)
	}
	text, err := os.ReadFile(x.path("exp_input.txt"))
	if err != nil {
		x.t.Fatalf("no run was begun: %v", err)
	}
	if err := os.Remove(x.path("exp_input.txt")); err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}

func (x *exchange) idle(when string) {
	x.t.Helper()
	if _, err := os.Stat(x.path("exp_input.txt")); err == nil {
		x.t.Fatalf("a run was begun %s", when)
	}
}

func (x *exchange) puts(text string) {
	x.t.Helper()
	if err := os.WriteFile(x.path("exp_output.txt"), []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// result asks until there is a cost or an error.
func (x *exchange) result() (map[string]float64, error) {
	x.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		v, err := x.read()
		if _, there := v["cost"]; there || err != nil {
			return v, err
		}
	}
	x.t.Fatalf("no answer is taken\n%s", x.said)
	return nil, nil
}

// says waits until the child has logged a text.
func (x *exchange) says(text string) {
	x.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(x.said.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("the log does not say %q:\n%s", text, x.said)
		}
	}
}

func TestFilesExchange(t *testing.T) {
	t.Parallel()
	x := newExchange(t, t.TempDir())
	if x == nil {
		return
	}
	x.open()
	if v, err := x.read(); err != nil || !maps.Equal(v, map[string]float64{"current": 0.2, "detuning": 0}) {
		t.Fatalf("before the first write: %v, %v", v, err)
	}
	x.idle("without a write")
	x.set(1, -20.5)
	x.idle("by a write: other devices may not have settled")
	if got, want := x.begins(), "params = array([1.0, -20.5])\n"; got != want {
		t.Fatalf("input %q, want %q", got, want)
	}
	// "0.2" of "0.25" is not read: whatever was seen first, it has changed since.
	x.puts("cost = 0.2")
	if v, err := x.read(); err != nil || len(v) != 2 {
		t.Fatalf("an output that was seen once was taken: %v, %v", v, err)
	}
	x.puts("\ufeffcost = 0.25 # mJ\nuncer=0.01\n\n bad = False\nother = x\n")
	want := map[string]float64{"current": 1, "detuning": -20.5, "cost": 0.25, "uncer": 0.01}
	if v, err := x.result(); err != nil || !maps.Equal(v, want) {
		t.Fatalf("got %v, %v, want %v", v, err, want)
	}
	x.idle("by the read that took the cost")
	if got := x.begins(); !strings.Contains(got, "-20.5") {
		t.Fatalf("the next shot runs with %q", got)
	}

	// The cost of other parameters than the latest is never scored.
	x.set(2, 0)
	x.puts("cost = 7")
	for end := time.Now().Add(patience); !strings.Contains(x.said.String(), "its cost is dropped"); time.Sleep(5 * time.Millisecond) {
		if v, err := x.read(); err != nil || len(v) != 2 || time.Now().After(end) {
			t.Fatalf("%v, %v\n%s", v, err, x.said)
		}
	}
	if got := x.begins(); !strings.Contains(got, "[2.0, 0.0]") {
		t.Errorf("the next run has %q", got)
	}
}

func TestFilesBadRuns(t *testing.T) {
	t.Parallel()
	x := newExchange(t, t.TempDir())
	if x == nil {
		return
	}
	x.open()
	x.set(1, 0)
	for text, want := range map[string]string{
		"bad = true":                            "the experiment says bad = true",
		"cost = nan":                            `line 1: cost = 'nan' is not a finite decimal number`,
		"uncer = 1\ncost = 1e999":               `line 2: cost = '1e999' is not a finite`,
		"cost = 0x10":                           "is not a finite decimal number",
		"cost = 1_0":                            "is not a finite decimal number",
		"cost = 1,5":                            "'1,5' is not a finite decimal number",
		"cost = 1\ncost = 2":                    "line 2: 'cost' is given twice",
		"cost = 1\nuncer = -1":                  "is below 0",
		"cost = 1\nbad = maybe":                 "neither true nor false",
		"1.5":                                   "'1.5' is not KEY = VALUE",
		"uncer = 1":                             `neither a \"cost\" nor \"bad = true\"`,
		"cost = 1" + strings.Repeat("0", 1<<16): "longer than 65536 bytes", // read cut off, it would be another number
	} {
		x.begins()
		x.puts(text)
		v, err := x.result()
		if !errors.Is(err, drivers.ErrRefused) || !errors.Is(err, drivers.ErrNoValue) || len(v) > 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want %q", text, v, err, want)
		}
		x.idle("again after a bad one")
	}
}

// What was there before the experiment had its input is no answer to it, and is not lost.
func TestFilesLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := newExchange(t, dir)
	if x == nil {
		return
	}
	x.puts("cost = 99")
	x.open()
	if _, err := x.read(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(x.path("exp_output.txt")); err != nil {
		t.Errorf("a look moved a file: %v", err)
	}
	aside := func(want string) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			old, err := os.ReadFile(x.path("exp_output.txt.old"))
			if string(old) == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("moved aside: %q, %v; want %q\n%s", old, err, want, x.said)
			}
			if v, err := x.read(); err != nil || len(v) != 2 {
				t.Fatalf("%v, %v; want no cost", v, err)
			}
		}
	}
	x.set(1, 0)
	aside("cost = 99")
	x.says("an earlier run left it")

	// The experiment still ran when tuner was started again: it answers an input that
	// nobody waits for, before it takes the new one,
	if _, err := x.read(); err != nil {
		t.Fatal(err)
	}
	x.puts("cost = 98")
	aside("cost = 98")
	// or just before, so that only times tell.
	x.puts("cost = 97")
	time.Sleep(20 * time.Millisecond) // file systems count time in ticks of 1 to 10 ms
	if err := os.Remove(x.path("exp_input.txt")); err != nil {
		t.Fatal(err)
	}
	aside("cost = 97")
	x.puts("cost = 5")
	if v, err := x.result(); err != nil || v["cost"] != 5 {
		t.Errorf("the answer after them: %v, %v", v, err)
	}
}

func TestFilesTwoHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, second := newExchange(t, dir), newExchange(t, dir)
	if x == nil {
		return
	}
	x.open()
	if _, err := second.dev.Open(context.Background()); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "another program exchanges files") {
		t.Errorf("a second host: %v", err)
	}
	if err := x.dev.Close(); err != nil {
		t.Fatal(err)
	}
	second.open()
}

func TestFilesGoSafe(t *testing.T) {
	t.Parallel()
	x := newExchange(t, t.TempDir(), "--patience", "0.2")
	if x == nil {
		return
	}
	x.open()
	// An input that was not taken is withdrawn, and nothing runs before the next write.
	x.set(1, 0)
	if _, err := x.read(); err != nil {
		t.Fatal(err)
	}
	if err := x.dev.Halt(context.Background()); err != nil {
		t.Fatalf("Halt: %v", err)
	}
	x.idle("or left waiting by going safe")
	if _, err := x.read(); err != nil {
		t.Fatal(err)
	}
	x.idle("after going safe")
	// A run that goes on is no safe state.
	x.set(1, 0)
	x.begins()
	if err := x.dev.Halt(context.Background()); err == nil || !strings.Contains(err.Error(), "a run of the experiment goes on") {
		t.Errorf("Halt in a run: %v", err)
	}
	// Its end is, and its cost is of no step.
	x.puts("cost = 5")
	if err := x.dev.Halt(context.Background()); err != nil {
		t.Errorf("Halt at the end of a run: %v", err)
	}
	if v, err := x.read(); err != nil || len(v) != 2 {
		t.Errorf("after the end: %v, %v", v, err)
	}
	// The end of the child withdraws its input as well.
	x.set(1, 0)
	if _, err := x.read(); err != nil {
		t.Fatal(err)
	}
	if err := x.dev.Close(); err != nil {
		t.Fatal(err)
	}
	x.idle("or left waiting by the child's end")
}
