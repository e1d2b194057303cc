package session

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/plan"
)

// TestWhoStarts: a service that nobody watches holds; a person at a terminal of a
// desktop, which systemd has started too, does not; the flag decides where it is given.
func TestWhoStarts(t *testing.T) {
	for _, c := range []struct {
		name, flag string
		env        map[string]string
		terminal   bool
		want       plan.StartMode
	}{
		{"typed", "", nil, true, plan.StartNow},
		{"script", "", nil, false, plan.StartNow},
		{"systemd", "", map[string]string{"INVOCATION_ID": "1"}, false, plan.StartHold},
		{"notify", "", map[string]string{"NOTIFY_SOCKET": "@x"}, false, plan.StartHold},
		{"empty", "", map[string]string{"INVOCATION_ID": ""}, false, plan.StartNow},
		{"desktop terminal", "", map[string]string{"INVOCATION_ID": "1"}, true, plan.StartNow},
		{"unit that runs", "run", map[string]string{"INVOCATION_ID": "1"}, false, plan.StartRun},
		{"person who waits", "hold", nil, true, plan.StartHold},
	} {
		e := &host.Env{Stdin: strings.NewReader(""), Stderr: &bytes.Buffer{}, IsTerminal: func(io.Writer) bool { return c.terminal },
			Lookup: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
		if got, err := StartMode(e, c.flag); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	e := &host.Env{}
	if _, err := StartMode(e, "never"); !errors.Is(err, loop.ErrSafety) {
		t.Errorf("never: %v", err)
	}
	if _, err := StartMode(e, "maybe"); fault.ExitCode(err) != fault.ExitUsage {
		t.Errorf("maybe: %v", err)
	}
}
