package main

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
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

func TestParseShard(t *testing.T) {
	for text, want := range map[string]experiment.Shard{"0/1": {Index: 0, Count: 1}, "3/4": {Index: 3, Count: 4}, "10/250": {Index: 10, Count: 250}} {
		if got, err := parseShard(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "4/4", "-1/4", "0/0", "1/", "/2", "1/2/3", "a/b", "0.5/2", "1 /2"} {
		if got, err := parseShard(text); err == nil {
			t.Errorf("%q: taken as %v", text, got)
		}
	}
}

// TestFailuresAreTold: a repetition that failed is an error of the run, with its seed.
func TestFailuresAreTold(t *testing.T) {
	fine := experiment.Result{Policy: "a", Seeds: []experiment.Seed{{Seed: 1}, {Seed: 2}}}
	if err := failures([]experiment.Result{fine}); err != nil {
		t.Error(err)
	}
	bad := experiment.Result{Policy: "b", Seeds: []experiment.Seed{{Seed: 4}, {Seed: 5, Error: "singular"}, {Seed: 6, Error: "x"}}}
	err := failures([]experiment.Result{fine, bad})
	if err == nil || err.Error() != `policy "b" failed on 2 of 3 seeds, first on seed 5: singular` {
		t.Errorf("%v", err)
	}
}

// TestProgressBar: a terminal sees how far the run is, anything else does not.
func TestProgressBar(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		e, out, errOut, _ := testEnv("bench", "run", "rahbo/sine-1", "--policy", "random", "--seeds", "2", "--steps", "3", "--workers", "1")
		e.IsTerminal = func(w io.Writer) bool { return terminal && w == e.Stderr }
		if code := execute(context.Background(), e); code != fault.ExitOK {
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
