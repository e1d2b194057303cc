package kills

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/scripts/testsize"
)

// ordered is a run that is told a command, and killed between that and its effect.
type ordered struct {
	t   *testing.T
	dir string
}

// commandPoints are where the process dies: before a command is on record (at any instant), before it
// acts, before what came of it is on record, before its caller is told, and after that.
func commandPoints() []string {
	return []string{"", "command-durable", "command-acted", "change-durable", "answer-durable", "told"}
}

// killedCommands are the commands with the arguments that the test gives them.
func killedCommands() map[string]string {
	return map[string]string{
		control.CommandTry:      `{"values":{"power":3.25}}`,
		control.CommandPause:    "",
		control.CommandSetBest:  "",
		control.CommandEnd:      "",
		control.CommandStop:     "",
		control.CommandResume:   "",
		control.CommandStrike:   `{"steps":[1]}`,
		control.CommandUnstrike: `{"steps":[1]}`,
		control.CommandNarrow:   `{"ranges":{"power":[1,8]}}`,
		control.CommandWiden:    `{"ranges":{"power":[0,9.5]}}`,
		control.CommandFreeze:   `{"values":{"spare":4.5}}`,
		control.CommandFree:     `{"variables":["spare"]}`,
		control.CommandChange:   `{"set":{"stop.steps":"900000"}}`,
	}
}

// precededBy names the command without which another has nothing to undo.
func precededBy(name string) string {
	return map[string]string{control.CommandUnstrike: control.CommandStrike, control.CommandFree: control.CommandFreeze}[name]
}

// spareFile is a second variable, of a device of its own.
const spareFile = `
[[variable]]
name = "spare"
unit = "W"
range = [0.0, 9.0]
start = 2.0
device = "spare"
channel = "power"
readback = { tolerance = 0.01, timeout = "1m" }

[safety.variable.spare]
hard = [0.0, 10.0]
slew = 1000.0
safe = 1.0

[[device]]
name = "spare"
driver = "exec"
command = ["child", "spare.log"]
reply_timeout = "1m"
start_timeout = "1m"
exit_timeout = "1m"
`

// heardOf is what a caller was told: OK, and whether it was told anything at all.
type heardOf struct{ answered, ok bool }

// TestCommandKill kills a run between each command and its effect. The next start goes on with
// the record: the effect is there once or not at all; what was answered with ok is there; what is there is on
// record with who asked.
//
//	TUNER_COMMAND_KILLS=500 go test ./cmd/tuner/trial/kills -run TestCommandKill -v -timeout 120m
func TestCommandKill(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(campaignSeed(t), 0))
	size := campaignSize(t, "TUNER_COMMAND_KILLS", testsize.Of(3, 30))
	var names []string
	for _, c := range control.Commands() {
		if _, ok := killedCommands()[c]; ok {
			names = append(names, c)
		}
	}
	counts := map[string]int{}
	for n := range size {
		name := names[(n+int(r.Uint32()%2))%len(names)]
		point := commandPoints()[r.IntN(len(commandPoints()))]
		if point == "change-durable" && !changes(name) { // it is never there
			point = "answer-durable"
		}
		o := ordered{t, t.TempDir()}
		file := strings.Replace(killFile, "[policy]", "[socket]\nfolder = \".\"\n\n[policy]", 1)
		if name == control.CommandFreeze || name == control.CommandFree { // one variable must be left to tune
			file += spareFile
		}
		o.write("kill.toml", file)
		heard := o.tellAndKill(name, killedCommands()[name], point, r)
		recorded, ok := o.onRecord(name)
		effect := o.effect(name)
		what := fmt.Sprintf("%s killed at %q: answered %v, on record %v (followed %v)", name, point, heard, recorded, ok)
		switch {
		case heard.answered && heard.ok && recorded == 0 && name != control.CommandStop:
			t.Errorf("%s: nothing of it is on record", what)
		case recorded > 1 || effect > 1:
			t.Errorf("%s: on record %d times, effective %d times", what, recorded, effect)
		case effect == 1 && recorded == 0 && name != control.CommandStop:
			t.Errorf("%s: it has acted and is not on record", what)
		case heard.answered && heard.ok && effect == 0 && name != control.CommandPause && name != control.CommandResume:
			t.Errorf("%s: it was said to be followed, and has no effect", what)
		}
		counts[fmt.Sprintf("%s: answered %v, recorded %d, effective %d", name, heard.answered, recorded, effect)]++
		if t.Failed() {
			t.Fatalf("after %d kills: kept in %s", n+1, keepFolder(t, o.dir))
		}
	}
	text, err := json.MarshalIndent(counts, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills between a command and its effect: each effect there once or not at all, none lost that was answered\n%s", size, text)
}

func (o *ordered) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// start starts the run, with flags.
func (o *ordered) start(failpoint string, flags ...string) (*exec.Cmd, *bytes.Buffer) {
	o.t.Helper()
	cmd := trial.Command(o.t, o.dir, append([]string{"run", "kill.toml"}, flags...)...)
	cmd.Env = append(os.Environ(), "TUNER_FAILPOINT="+failpoint)
	says := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = says, says
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	return cmd, says
}

// find waits for the run's socket, and for steps to be concluded.
func (o *ordered) find(steps int, over <-chan struct{}) (run *local.Run, s control.Status) {
	for limit := time.Now().Add(hosttest.Patience); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		select {
		case <-over:
			return nil, s
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
		for _, r := range local.List(ctx, []string{o.dir}, "kill") {
			text, err := r.Status(ctx)
			if err == nil && json.Unmarshal(text, &s) == nil && s.Steps >= steps {
				cancel()
				return &r, s
			}
		}
		cancel()
	}
	o.t.Fatal("the run does not begin")
	return nil, s
}

// tellAndKill has the run told the command, and kills it at the point.
func (o *ordered) tellAndKill(name, args, point string, r *rand.Rand) (h heardOf) {
	o.t.Helper()
	failpoint, before := "", precededBy(name)
	if strings.Contains(point, "-") {
		failpoint = point + "@1"
		if before != "" { // that command passes the point first
			failpoint = point + "@2"
		}
	}
	cmd, says := o.start(failpoint)
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	run, _ := o.find(2, over)
	if run == nil {
		o.t.Fatalf("it ended before it was told anything:\n%s", says.String())
	}
	told := make(chan web.Answer, 1)
	ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
	defer cancel()
	if before != "" {
		if a, err := run.Command(ctx, before, web.Order{Transaction: "t-0", Args: json.RawMessage(killedCommands()[before])}); err != nil || !a.OK {
			o.t.Fatalf("%s: %+v, %v", before, a, err)
		}
	}
	go func() {
		a, err := run.Command(ctx, name, web.Order{Transaction: "t-1", Args: json.RawMessage(args)})
		if err == nil {
			told <- a
		}
		close(told)
	}()
	kill := func() { _ = cmd.Process.Kill() }
	switch {
	case point == "":
		time.AfterFunc(time.Duration(r.IntN(30))*time.Millisecond, kill)
	case point == "told" || name == control.CommandStop: // a stop passes no failpoint: it waits for no record
		if a, ok := <-told; ok {
			h = heardOf{true, a.OK}
		}
		kill()
	}
	<-over
	if a, ok := <-told; ok {
		h = heardOf{true, a.OK}
	}
	o.awaitChildren()
	return h
}

// awaitChildren waits until the instruments of a process have gone.
func (o *ordered) awaitChildren() {
	o.t.Helper()
	awaitChildren(o.t, filepath.Join(o.dir, "oven.log"))
	awaitChildren(o.t, filepath.Join(o.dir, "spare.log"))
}

// onRecord counts the command in the journal, and says whether it was followed.
func (o *ordered) onRecord(name string) (n int, ok bool) {
	o.t.Helper()
	r, err := journal.OpenReader(filepath.Join(o.dir, "kill.db"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Close()
	for c, err := range r.Commands() {
		if err != nil {
			o.t.Fatal(err)
		}
		if c.Name == name {
			n++
			ok = c.Answer != nil && c.Answer.OK
			if c.Who == "" || c.Transport != "socket" {
				o.t.Errorf("it is not on record who asked for %s: %+v", name, c)
			}
		}
	}
	return n, ok
}

// effect has the run go on and counts how often the command has acted.
func (o *ordered) effect(name string) int {
	o.t.Helper()
	cmd, says := o.start("")
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	before := o.steps("")
	if run, s := o.find(before+4, over); run != nil { // it goes on
		_ = cmd.Process.Kill()
		<-over
		o.awaitChildren()
		if s.Paused {
			return 1
		}
		if changes(name) {
			return o.changed(name, s)
		}
		if name == control.CommandTry {
			return o.steps("person")
		}
		return 0
	}
	want := map[string]string{control.CommandEnd: "an operator ended it", control.CommandSetBest: "an operator ended the search", control.CommandStop: "latched"}[name]
	ended := "ended by " + name // the process was quicker than the kill
	if want == "" || !strings.Contains(says.String(), want) && !strings.Contains(says.String(), ended) {
		o.t.Errorf("after %s the run ended:\n%s", name, says.String())
	}
	return 1
}

// changes says that a command changes what decisions go by.
func changes(name string) bool {
	return slices.Contains([]string{control.CommandStrike, control.CommandUnstrike, control.CommandNarrow, control.CommandWiden, control.CommandFreeze, control.CommandFree,
		control.CommandChange}, name)
}

// changed counts the changes on record, without the one that had to come before, and looks whether the run
// that goes on, whose status s is, goes by them.
func (o *ordered) changed(name string, s control.Status) int {
	o.t.Helper()
	r, err := journal.OpenReader(filepath.Join(o.dir, "kill.db"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Close()
	all, err := plan.ChangesIn(r)
	if err != nil {
		o.t.Fatal(err)
	}
	n := len(all)
	if precededBy(name) != "" {
		n--
	}
	v := &s.Variables[0]
	goesBy := map[string]bool{control.CommandStrike: slices.Equal(s.Struck, []int{1}), control.CommandUnstrike: len(s.Struck) == 0, control.CommandFreeze: o.frozen(r),
		control.CommandFree: !o.frozen(r), control.CommandNarrow: v.Low == 1 && v.High == 8, control.CommandWiden: v.High == 9.5, control.CommandChange: s.StepLimit == 900000}[name]
	if goesBy != (n > 0) {
		o.t.Errorf("%s: %d changes of it are on record, and the run that goes on goes by them: %v", name, n, goesBy)
	}
	return n
}

// frozen reports whether the newest concluded step had the spare variable where it is frozen, and the first
// had not.
func (o *ordered) frozen(r *journal.Reader) bool {
	o.t.Helper()
	var at []float64
	for s, err := range r.Steps() {
		if err != nil {
			o.t.Fatal(err)
		}
		if s.Concluded && s.Outcome.Valid && len(s.Outcome.X) > 1 { // other commands have no spare one
			at = append(at, s.Outcome.X[1])
		}
	}
	return len(at) > 1 && at[0] != 4.5 && at[len(at)-1] == 4.5
}

// steps counts the concluded steps of the journal, or those of them that a person has asked for and
// that were measured.
func (o *ordered) steps(whose string) (n int) {
	o.t.Helper()
	r, err := journal.OpenReader(filepath.Join(o.dir, "kill.db"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Close()
	for s, err := range r.Steps() {
		if err != nil {
			o.t.Fatal(err)
		}
		_, person := s.Decision.Person()
		if s.Concluded && (whose == "" || person && s.Outcome.Valid && s.Decision.Applied[0] == 3.25) {
			n++
		}
	}
	return n
}
