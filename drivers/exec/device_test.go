package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

// wall is the machine's clock: children are real processes.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// records collects log text from several goroutines.
type records struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *records) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// patience is for what comes soon unless something is wrong, on any machine.
const patience = time.Minute

// never is how long to wait for what never comes.
const never = 300 * time.Millisecond

// patient are options for a child on a machine that has much else to do.
func patient() Options {
	o := Default()
	o.StartTimeout, o.ReplyTimeout, o.ExitTimeout = patience, patience, patience
	return o
}

// options are for the test's own binary as a patient host's child.
func options(behaviour string) Options {
	o := patient()
	o.Command = []string{"tuner", "child", behaviour}
	o.Executable = os.Args[0]
	// A binary built with -race would wait a second at its end, by default.
	o.Env = map[string]string{childVariable: behaviour, "GORACE": "atexit_sleep_ms=0"}
	return o
}

// impatient shortens the wait for what a behaviour never does from its start on.
func impatient(o Options) Options {
	switch o.Env[childVariable] {
	case "mute":
		o.StartTimeout = never
	case "grandchild", "deaf":
		o.ExitTimeout = never
	}
	return o
}

// tire shortens the wait for the answers that a behaviour never gives once it is open.
func tire(d *Device) {
	switch d.options.Env[childVariable] {
	case "hangs", "deaf":
		d.options.ReplyTimeout = never
	}
}

func device(t *testing.T, o Options, channels ...ChannelOptions) (*Device, *records) {
	t.Helper()
	said := &records{}
	d, err := New(o, channels, drivers.Env{Clock: wall{}, Log: slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	return d, said
}

// groupEnds waits until no process of a group is left but those that only wait to be
// reaped by another process, and reports whether that happened.
func groupEnds(pid int) bool {
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) || onlyZombies(pid) {
			return true
		}
	}
	return false
}

// onlyZombies reports whether every process of the group is dead.
func onlyZombies(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state parent group ...; the name may hold blanks
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		var parent, pgrp int
		if n, _ := fmt.Sscan(rest, &state, &parent, &pgrp); n == 3 && pgrp == group && state != "Z" {
			return false
		}
	}
	return true
}

func TestConforms(t *testing.T) {
	driverstest.Conform(t, func() drivers.Device {
		d, _ := device(t, options("good"))
		return d
	})
}

func TestReadWriteHalt(t *testing.T) {
	d, _ := device(t, options("good"), ChannelOptions{Channel: "pump", Name: "power"})
	ctx := context.Background()
	channels, err := d.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if c := channels[0]; c.Name != "pump" || c.Unit != "W" || c.Min != 0 || c.Max != 10 || c.Safe != 0 || !c.CanRelease || c.Access != drivers.ReadWrite {
		t.Errorf("the renamed channel is %+v", c)
	}
	if c := channels[2]; c.Name != "fan" || c.CanRelease {
		t.Errorf("the channel that says \"release\":false is %+v", c)
	}
	r, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"pump": 2.5}})
	if err != nil || r.Values["pump"] != 2.5 {
		t.Fatalf("readback %v, %v", r.Values, err)
	}
	if r, err = d.Read(ctx, []string{"temp"}); err != nil || len(r.Values) != 1 || r.Values["temp"] != 27.5 {
		t.Fatalf("reading %v, %v", r.Values, err)
	}
	if err := d.Halt(ctx); err != nil {
		t.Fatal(err)
	}
	if r, err = d.Read(ctx, []string{"temp", "pump"}); err != nil || r.Values["temp"] != 20 || r.Values["pump"] != 0 {
		t.Fatalf("after Halt: reading %v, %v", r.Values, err)
	}
}

func TestOpenFaults(t *testing.T) {
	t.Parallel()
	for behaviour, c := range map[string]struct {
		kind error
		want string
	}{
		"hello: text":          {drivers.ErrProtocol, "print other text on standard error"},
		"hello: protocol":      {drivers.ErrProtocol, `the child speaks "tuner-exec/2"; this program speaks "tuner-exec/1"`},
		"hello: no protocol":   {drivers.ErrProtocol, `has no text "protocol"`},
		"hello: no channels":   {drivers.ErrProtocol, `"channels" must be a list of 1 to 1024`},
		"hello: NaN":           {drivers.ErrProtocol, "NaN is not a number in JSON"},
		"hello: same name":     {drivers.ErrProtocol, `channel 2 of the hello: the name "a" comes twice`},
		"hello: access":        {drivers.ErrProtocol, `"a": "access" is "w" and must be "r" or "rw"`},
		"hello: no unit":       {drivers.ErrProtocol, `"a": "unit" is missing or null`},
		"hello: upside down":   {drivers.ErrProtocol, `"a": min (5 V) must be below max (1 V)`},
		"hello: unsafe":        {drivers.ErrProtocol, `"a": safe (2 V) is above max (1 V)`},
		"hello: text as limit": {drivers.ErrProtocol, `"min" is "0" and must be a number`},
		"hello: 1 MB":          {drivers.ErrProtocol, "line longer than 65536 bytes"},
		"mute":                 {drivers.ErrUnavailable, "no hello within 300ms; the child speaks first, and must flush"},
		"dies at start":        {drivers.ErrUnavailable, `exit status 1; the last line of its standard error is "ModuleNotFoundError: No module named 'smbus'"`},
		"accepts all":          {drivers.ErrProtocol, `the child accepted the operation "no-such-operation"`},
		"other code":           {drivers.ErrProtocol, `with the code "what" instead of "unknown_op"`},
	} {
		t.Run(behaviour, func(t *testing.T) {
			d, _ := device(t, impatient(options(behaviour)))
			_, err := d.Open(context.Background())
			expect(t, err, c.kind, c.want, "tuner child "+behaviour)
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// expect checks an error's kind and that it says what it must.
func expect(t *testing.T, err, kind error, wants ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, which does not wrap %q", err, kind)
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ndoes not say %q", err, want)
		}
	}
}
