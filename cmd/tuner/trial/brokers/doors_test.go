package brokers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/scripts/testsize"
)

// asked is one command to a run by whatever door: as a command line, after its name and that of
// the run, and as JSON, with the code of its answer and what that tells.
type asked struct {
	command, line, args string
	code, tells         string
}

// askedOfARun are the commands to a run that goes on, in this order. Each is asked once so that it is followed, and
// where it can be refused, so that it is.
var askedOfARun = []asked{
	{control.CommandStatus, "", `{}`, control.CodeOK, "running"},
	{control.CommandReset, "", `{}`, control.CodeOK, "nothing is latched"},
	{control.CommandPause, "--reason lunch", `{"reason":"lunch"}`, control.CodeOK, "every actuator stays where it is"},
	{control.CommandSetBest, "", `{}`, control.CodeMode, "paused: resume first"},
	{control.CommandStrike, "2 --reason shutter", `{"steps":[2],"reason":"shutter"}`, control.CodeOK, "struck: step 2: from step "},
	{control.CommandStrike, "2", `{"steps":[2]}`, control.CodeArgs, "step 2 is struck already, by "},
	{control.CommandStrike, "9000", `{"steps":[9000]}`, control.CodeArgs, "step 9000 is not there"},
	{control.CommandTry, "power=3,other=4", `{"values":{"power":3,"other":4}}`, control.CodeOK, "power = 3 W, other = 4 W: tried after the present step"},
	{control.CommandTry, "power=99", `{"values":{"power":99}}`, control.CodeArgs, "power = 99 W is outside its range"},
	{control.CommandResume, "", `{}`, control.CodeOK, "the run goes on"},
	{control.CommandUnstrike, "2", `{"steps":[2]}`, control.CodeOK, "no longer struck: step 2: from step "},
	{control.CommandUnstrike, "2", `{"steps":[2]}`, control.CodeArgs, "step 2 is not struck"},
	{control.CommandNarrow, "power=2:8", `{"ranges":{"power":[2,8]}}`, control.CodeOK, "the range of power is [2, 8] W (was [0, 9] W)"},
	{control.CommandNarrow, "power=1:5", `{"ranges":{"power":[1,5]}}`, control.CodeArgs, "is not inside its present range"},
	{control.CommandWiden, "power=1:9", `{"ranges":{"power":[1,9]}}`, control.CodeOK, "the range of power is [1, 9] W (was [2, 8] W)"},
	{control.CommandWiden, "power=0:99", `{"ranges":{"power":[0,99]}}`, control.CodeArgs, "reaches outside its hard limits"},
	{control.CommandFreeze, "other=5", `{"values":{"other":5}}`, control.CodeOK, "other is frozen at 5 W"},
	{control.CommandFreeze, "power=5", `{"values":{"power":5}}`, control.CodeArgs, "every variable is frozen"},
	{control.CommandFree, "other", `{"variables":["other"]}`, control.CodeOK, "other is tuned again"},
	{control.CommandFree, "other", `{"variables":["other"]}`, control.CodeArgs, "other is not frozen"},
	{control.CommandChange, "stop.steps=5000", `{"set":{"stop.steps":"5000"}}`, control.CodeOK, "stop.steps = 5000 (was 100000)"},
	{control.CommandChange, "policy.beta=3", `{"set":{"policy.beta":"3"}}`, control.CodeArgs, "policy.beta does not change while a run goes on"},
}

// endings are the commands that end a run, each with the exit code that it leads to. Behind each the run goes
// on, where it can with --extend: nothing of [stop] has been reached.
var endings = []struct {
	asked
	exit int
}{
	{asked{control.CommandSetBest, "", `{}`, control.CodeOK, "the search ends: the run goes to the recommended setting"}, 0},
	{asked{control.CommandEnd, "", `{}`, control.CodeOK, "the run ends: power to 1 W, other to 1 W"}, 0},
	{asked{control.CommandStop, "", `{}`, control.CodeOK, "made safe, and the run ends: "}, 4},
}

// door is a way to ask a run: it gives whether it was followed, the code of a refusal, and what
// was told.
type door func(t *testing.T, a asked) (ok bool, says string)

// byLine is the command line, in a folder where it finds the run's file.
func byLine(dir string) door {
	return func(t *testing.T, a asked) (bool, string) {
		t.Helper()
		out, errs, code := tell(t, dir, append([]string{a.command, "oven.toml"}, strings.Fields(a.line)...)...)
		if code > 1 {
			t.Errorf("%s: it ended with %d", a.command, code)
		}
		return code == 0, out + errs
	}
}

// byPage is the API of the run's page, with the token of the link that it has left.
func byPage(link string) door {
	return func(t *testing.T, a asked) (bool, string) {
		t.Helper()
		base, token, _ := strings.Cut(strings.TrimSpace(trial.ReadFile(t, link)), "/#token=")
		body := fmt.Sprintf(`{"transaction":"t-1","args":%s}`, a.args)
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/command/"+a.command, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var answer control.Answer
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.StatusCode != 200 && r.StatusCode != 409 {
			t.Fatalf("%s: %d, %v", a.command, r.StatusCode, err)
		}
		return answer.OK, fmt.Sprintf("%s was refused (%s): %s", a.command, answer.Code, answer.Message)
	}
}

// TestEveryCommandByEveryDoor: all commands do the same and tell the same by the run's socket, where there is
// no broker, by a broker, and by the page's API; all are on record, with who asked; and the run
// replays.
func TestEveryCommandByEveryDoor(t *testing.T) {
	t.Parallel()
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		dir := twoOvens(t, "oven-page", fmt.Sprintf("[web]\nlisten = %q\n", trial.FreeAddress(t)))
		askAll(t, dir, "web", byPage(filepath.Join(dir, "oven-page.link")))
	})
	if !testsize.Whole() {
		return // the command lines of the two others are tried one by one elsewhere
	}
	t.Run("socket", func(t *testing.T) {
		t.Parallel()
		dir := twoOvens(t, "oven-door", "")
		askAll(t, dir, "socket", byLine(dir))
	})
	t.Run("broker", func(t *testing.T) {
		t.Parallel()
		b := broker.Start(t)
		dir := twoOvens(t, "oven-broker", fmt.Sprintf("[mqtt]\nbroker = %q\ncommands = true\nheartbeat = \"1s\"\n", b.URL))
		askAll(t, dir, "mqtt", byLine(elsewhere(t, dir)))
	})
}

// twoOvens is alone with a second variable, of a device of its own.
func twoOvens(t *testing.T, name, more string) string {
	t.Helper()
	dir := alone(t, name, more)
	path := filepath.Join(dir, "oven.toml")
	text := trial.ReadFile(t, path)
	text = strings.Replace(text, `kind = "random"`, "kind = \"gp-ucb\"\ninitial = { steps = 3 }", 1)
	text = strings.Replace(text, "steps = 100000", "steps = 100000\nverify = 0", 1)
	text += `
[[variable]]
name = "other"
unit = "W"
range = [0.0, 9.0]
start = 2.0
device = "spare"
channel = "power"
readback = { tolerance = 0.01, timeout = "1m" }
[safety.variable.other]
hard = [0.0, 10.0]
slew = 1000.0
safe = 1.0
on_fault = "safe"
shutdown = "safe"
[[device]]
name = "spare"
driver = "exec"
command = ["./child", "spare.log"]
reply_timeout = "1m"
start_timeout = "1m"
exit_timeout = "1m"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// askAll asks a run everything by one door.
func askAll(t *testing.T, dir, transport string, ask door) {
	t.Helper()
	name := strings.TrimPrefix(strings.Split(trial.ReadFile(t, filepath.Join(dir, "oven.toml")), "\n")[1], `name = `)
	record := filepath.Join(dir, strings.Trim(name, `"`)+".db")
	var want []string
	put := func(a asked) {
		t.Helper()
		ok, says := ask(t, a)
		if refused := fmt.Sprintf("%s was refused (%s): ", a.command, a.code); ok != (a.code == control.CodeOK) || !ok && !strings.Contains(says, refused) || !strings.Contains(says, a.tells) {
			t.Errorf("%s %s%s: %v\n%s\nwant %s, %q", a.command, a.line, a.args, ok, says, a.code, a.tells)
		}
		if a.command != control.CommandStatus || transport == "web" {
			want = append(want, a.command+" "+a.code)
		}
	}
	run := startTuner(t, dir, "run", "oven.toml")
	awaitSteps(t, record, 0, 4)
	for _, a := range askedOfARun {
		put(a)
	}
	for i, e := range endings {
		if i > 0 {
			_, before := steps(t, record)
			run = startTuner(t, dir, "run", "--extend", "oven.toml")
			awaitSteps(t, record, 0, before+2)
		}
		put(e.asked)
		if code := run.exits(t); code != e.exit {
			t.Errorf("after %s the run ended with %d, want %d", e.command, code, e.exit)
		}
	}
	if out, errs, code := tell(t, dir, "reset", "oven.toml"); code != 0 || !strings.Contains(out, "cleared: stopped") {
		t.Errorf("reset: %d\n%s%s", code, out, errs)
	}
	run = startTuner(t, dir, "run", "oven.toml") // it is not finished: it goes on without --extend
	_, before := steps(t, record)
	awaitSteps(t, record, 0, before+1)
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	checkAsked(t, record, transport, want)
	if out, errs, code := tell(t, dir, "replay", record); code != 0 {
		t.Errorf("replay: %d\n%s%s", code, out, errs)
	}
}

// checkAsked compares what a journal has of commands with what was asked for.
func checkAsked(t *testing.T, path, transport string, want []string) {
	t.Helper()
	if got, want := commandsOf(t, path, transport, ""), strings.Join(want, ", "); got != want {
		t.Errorf("recorded %s\nwant     %s", got, want)
	}
}
