package scripts

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/loop/journal/store"
	"github.com/labtuner/tuner/scripts/testsize"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		// UPDATE_SCRIPTS=1 writes what cmp found into the scripts, to be read there.
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			for name, folder := range map[string]string{"EXAMPLES": "../../../../drivers/exec/examples", "SCRIPTS": "../../../../scripts", "ARCHIVES": "testdata/archives",
				"KEPT": "../../../../loop/journal/testdata"} {
				path, err := filepath.Abs(folder)
				if err != nil {
					return err
				}
				e.Setenv(name, path)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "whole": // the session takes long: see testsize
				return testsize.Whole(), nil
			case "pyyaml":
				return exec.Command("python3", "-c", "import yaml").Run() == nil, nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    scriptExits,
			"kills":    scriptKills,
			"signals":  scriptSignals,
			"decides":  scriptDecides,
			"timeless": scriptTimeless,
			"untimed":  scriptUntimed,
		},
	})
}

// scriptExits is "exits CODE PROGRAM [ARG...]": exec that wants an exit code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCodeOf(ts, ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func exitCodeOf(ts *testscript.TestScript, err error) int {
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Fatalf("no exit code: %v", err)
	}
	return exit.ExitCode()
}

// scriptSignals is "signals CODE N FILE TEXT PROGRAM [ARG...]": it starts the
// program, waits until FILE holds TEXT, sends SIGTERM, and N-1 times more once the
// first has been heard, and wants the exit code. The output goes to the files out and err.
func scriptSignals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: signals CODE N FILE TEXT PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	times, err := strconv.Atoi(args[1])
	ts.Check(err)
	program, err := exec.LookPath(args[4])
	ts.Check(err)
	out, errOut := ts.MkAbs("out"), ts.MkAbs("err")
	cmd := exec.Command(program, args[5:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "NO_COLOR=1", "INVOCATION_ID=", "NOTIFY_SOCKET=")
	stdout, err := os.Create(out)
	ts.Check(err)
	stderr, err := os.Create(errOut)
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ts.Check(cmd.Start())
	waitForText(ts, ts.MkAbs(args[2]), args[3])
	for i := range times {
		if i > 0 {
			waitForText(ts, errOut, "stopping")
		}
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
	code := exitCodeOf(ts, cmd.Wait())
	ts.Check(errors.Join(stdout.Close(), stderr.Close()))
	if code != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", code, want, ts.ReadFile("out"), ts.ReadFile("err"))
	}
}

// scriptKills is "kills FILE TEXT PROGRAM [ARG...]": it starts the program, waits until
// FILE holds TEXT, and kills it without a chance to say anything. What it said goes to
// the file killed.
func scriptKills(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: kills FILE TEXT PROGRAM [ARG...]")
	}
	program, err := exec.LookPath(args[2])
	ts.Check(err)
	cmd := exec.Command(program, args[3:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "NO_COLOR=1", "INVOCATION_ID=", "NOTIFY_SOCKET=")
	said, err := os.Create(ts.MkAbs("killed"))
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = said, said
	ts.Check(cmd.Start())
	waitForText(ts, ts.MkAbs(args[0]), args[1])
	ts.Check(cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		ts.Fatalf("it had ended already: %s", ts.ReadFile("killed"))
	}
	ts.Check(said.Close())
}

// waitForText waits until a file holds a text.
func waitForText(ts *testscript.TestScript, file, text string) {
	for limit := time.Now().Add(hosttest.Patience); ; time.Sleep(10 * time.Millisecond) {
		content, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(content), text) {
			return
		}
		if time.Now().After(limit) {
			ts.Fatalf("%s does not hold %q after %v:\n%s", file, text, hosttest.Patience, content)
		}
	}
}

// scriptTimeless is "timeless FILE": it removes the timings from JSON lines.
func scriptTimeless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: timeless FILE")
	}
	text := ts.ReadFile(args[0])
	timing := regexp.MustCompile(`"decision_ms":[0-9.e+-]+`)
	if !timing.MatchString(text) {
		ts.Fatalf("%s has no decision_ms", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(timing.ReplaceAllString(text, "")), 0o600))
}

// scriptDecides is "decides JOURNAL SESSION VERSION": it has another version of what decides
// stand for a session of a journal that nobody writes.
func scriptDecides(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: decides JOURNAL SESSION VERSION")
	}
	session, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	version, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	salt, err := store.LoadSalt(db)
	ts.Check(err)
	sum, _, err := salt.Checksum(nil, "session_decisions", []any{session, version})
	ts.Check(err)
	_, err = db.Exec("UPDATE session_decisions SET decisions = ?, crc = ? WHERE session = ?", version, int64(sum), session)
	ts.Check(errors.Join(err, db.Close()))
}
