package scripts

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// scriptUntimed is "untimed FILE": it removes the processor times from results.
func scriptUntimed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: untimed FILE")
	}
	text := ts.ReadFile(args[0])
	timing := regexp.MustCompile(`"cpu_s":[0-9.e+-]+`)
	if !timing.MatchString(text) {
		ts.Fatalf("%s has no cpu_s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(timing.ReplaceAllString(text, "")), 0o600))
}

// TestProgressBar: a terminal sees how far the run is, anything else does not.
func TestProgressBar(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		e, out, errOut, _ := hosttest.Env("bench", "run", "rahbo/sine-1", "--policy", "random", "--seeds", "2", "--steps", "3", "--workers", "1")
		e.IsTerminal = func(w io.Writer) bool { return terminal && w == e.Stderr }
		if code := commands.Execute(context.Background(), e); code != fault.ExitOK {
			t.Fatalf("exit code %d: %s", code, errOut)
		}
		if got := strings.Contains(errOut.String(), "\r"); got != terminal {
			t.Errorf("terminal %v: %q", terminal, errOut)
		}
		if strings.Contains(out.String(), "\r") || !strings.Contains(out.String(), "share at quiet") {
			t.Errorf("terminal %v: stdout %q", terminal, out)
		}
	}
}
