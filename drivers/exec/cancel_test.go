package exec

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// gated is a child that answers, with the request's id, once open was called. asked
// waits until it has a request.
func gated(t *testing.T) (d *Device, open, asked func()) {
	t.Helper()
	o := options("gated")
	gate := filepath.Join(t.TempDir(), "gate")
	o.Env[gateVariable] = gate
	d, _ = device(t, o)
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	open = func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		open()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	asked = func() {
		for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(gate + gateAsked); err == nil {
				return
			}
		}
		t.Error("the child was not asked")
	}
	return d, open, asked
}

// A caller who gives up keeps the child: the answer that is still due is taken
// before the next request, and is not mistaken for its answer.
func TestCancelledCallKeepsTheChild(t *testing.T) {
	d, open, asked := gated(t)
	for range 3 { // request 2, and two callers who only wait for its answer
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			asked()
			cancel()
		}()
		if _, err := d.Read(ctx, []string{"temp"}); !errors.Is(err, context.Canceled) || errors.Is(err, drivers.ErrProtocol) {
			t.Fatalf("a cancelled Read: %v", err)
		}
	}
	open()
	r, err := d.Read(context.Background(), []string{"temp"})
	if err != nil || r.Values["temp"] != 3 {
		t.Errorf("the next Read gives %v, %v; the answer to request 3 was due", r.Values, err)
	}
	if err := d.Halt(context.Background()); err != nil {
		t.Errorf("Halt after cancelled calls: %v", err)
	}
}

// A deadline that passes makes the answer late, which is a fault.
func TestDeadlineIsAFault(t *testing.T) {
	d, _, _ := gated(t)
	err := drivers.ErrNotSent
	for errors.Is(err, drivers.ErrNotSent) { // a machine may be slower than the deadline
		ctx, cancel := context.WithTimeout(context.Background(), never)
		_, err = d.Read(ctx, []string{"temp"})
		cancel()
	}
	expect(t, err, drivers.ErrProtocol, "no answer to read")
}

func TestCloseDuringOpen(t *testing.T) {
	o := options("mute")
	o.StartTimeout = 2 * patience
	d, _ := device(t, o)
	opened := make(chan error, 1)
	go func() {
		_, err := d.Open(context.Background())
		opened <- err
	}()
	<-childOf(d)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-opened:
		if !errors.Is(err, errClosed) {
			t.Errorf("Open that Close ended: %v", err)
		}
	case <-time.After(patience): // half of start_timeout
		t.Error("Close does not end a waiting Open")
	}
}

func TestOpenCancelled(t *testing.T) {
	d, _ := device(t, options("mute"))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := d.Open(ctx)
	expect(t, err, drivers.ErrUnavailable, "no hello yet")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestWriteChecksBeforeSending(t *testing.T) {
	d, _ := device(t, options("good"))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := d.lastID
	for what, c := range map[string]struct {
		s    drivers.Setpoints
		want string
	}{
		"NaN":         {drivers.Setpoints{Values: map[string]float64{"power": math.NaN()}}, `"power" cannot be set to NaN`},
		"infinite":    {drivers.Setpoints{Values: map[string]float64{"fan": math.Inf(1)}}, `channel "fan" cannot be set to +Inf`},
		"above":       {drivers.Setpoints{Values: map[string]float64{"power": 10.01}}, `"power" cannot be set to 10.01 W; the child's limits are 0 to 10`},
		"read-only":   {drivers.Setpoints{Values: map[string]float64{"temp": 1}}, `"temp" is read-only`},
		"unknown":     {drivers.Setpoints{Values: map[string]float64{"pwoer": 1}}, `there is no channel "pwoer"`},
		"no release":  {drivers.Setpoints{Release: []string{"fan"}}, `"fan" cannot be released`},
		"both":        {drivers.Setpoints{Values: map[string]float64{"power": 1}, Release: []string{"power"}}, `"power" is set and released in one write`},
		"not at once": {drivers.Setpoints{Values: map[string]float64{"fan": 1, "power": -1}}, `"power" cannot be set to -1 W`},
	} {
		if _, err := d.Write(context.Background(), c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, which should say %q", what, err, c.want)
		}
	}
	if d.lastID != before {
		t.Errorf("%d requests were sent for writes that must not be", d.lastID-before)
	}
}

// TestSafeOnCloseLooksOnly: a child that was opened to look only is not asked for safe values at its end.
func TestSafeOnCloseLooksOnly(t *testing.T) {
	for _, only := range []bool{false, true} {
		if d := (&Device{env: drivers.Env{ReadOnly: only}}); d.SafeOnClose() == only {
			t.Errorf("read only %v: safe on close %v", only, d.SafeOnClose())
		}
	}
}

func TestStartFailures(t *testing.T) {
	folder := t.TempDir()
	for what, c := range map[string]struct {
		o    Options
		want string
	}{
		"no such program": {Options{Command: []string{"no-such-program-anywhere"}}, "cannot be started"},
		"no such file":    {Options{Command: []string{"./missing.py"}, Base: folder}, filepath.Join(folder, "missing.py")},
		"no such folder":  {Options{Command: []string{"true"}, Dir: "missing", Base: folder}, "check command and dir"},
	} {
		o := Default()
		o.Command, o.Dir, o.Base = c.o.Command, c.o.Dir, c.o.Base
		d, _ := device(t, o)
		_, err := d.Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, which should say %q", what, err, c.want)
		}
		if errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("%s: %v: trying again does not help", what, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Paths start at Base, and the child runs there or in Dir.
func TestFolders(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "lab"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\npwd >&2\necho \"$FLAVOUR\" >&2\necho \"$NOTIFY_SOCKET\" >&2\n"
	if err := os.WriteFile(filepath.Join(base, "child.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", "/run/secret-of-the-service")
	o := Default()
	o.Command, o.Base, o.Dir, o.Env = []string{"./child.sh"}, base, "lab", map[string]string{"FLAVOUR": "strawberry"}
	d, said := device(t, o)
	if _, err := d.Open(context.Background()); err == nil {
		t.Fatal("a child without hello was accepted")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{filepath.Join(base, "lab"), "strawberry"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the child does not know %q:\n%s", want, said)
		}
	}
	if strings.Contains(said.String(), "secret-of-the-service") {
		t.Error("the child knows the service's own NOTIFY_SOCKET")
	}
}

// A write waits for the answer that is still due. What may not leave any more by then does
// not, and the child stays.
func TestWriteThatWaitedTooLong(t *testing.T) {
	t.Parallel()
	d, open, asked := gated(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		asked()
		cancel()
	}()
	if _, err := d.Read(ctx, []string{"temp"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	by := time.Now().Add(never)
	time.AfterFunc(2*never, open)
	id := d.lastID
	_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 1}, SendBy: by})
	if !errors.Is(err, drivers.ErrLate) || !errors.Is(err, drivers.ErrNotSent) || errors.Is(err, drivers.ErrUnavailable) || d.lastID != id {
		t.Errorf("a write that waited too long: %v, %d requests left", err, d.lastID-id)
	}
	if _, err := d.Read(context.Background(), []string{"temp"}); err != nil {
		t.Error(err)
	}
}
