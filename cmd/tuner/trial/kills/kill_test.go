package kills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/intenttest"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/scripts/testsize"
)

// killFile is a run that never ends by itself, on the heater of childMain, whose log is
// the witness of what it was told. Its slew is as good as none, so that each setpoint
// is a destination.
const killFile = `schema = 1
name = "kill"
tick = "5ms"

[objective]
sensor = "temp"
shots = 2

[[sensor]]
name = "temp"
unit = "degC"
device = "oven"
channel = "temp"
range = [-100.0, 100.0]
max_age = "1m"

[[variable]]
name = "power"
unit = "W"
range = [0.0, 9.0]
start = 2.0
device = "oven"
channel = "power"
readback = { tolerance = 0.01, timeout = "1m" }

[cost]
unit = "shots"
per_shot = 1.0

[policy]
kind = "gp-ucb"
initial = { steps = 4 }
deadline = "1m"

[stop]
steps = 1000000

[safety.variable.power]
hard = [0.0, 10.0]
slew = 1e9
safe = 1.0
on_fault = "safe"
shutdown = "safe"

[safety]
safe_wait = "1m"

[[device]]
name = "oven"
driver = "exec"
command = ["child", "oven.log"]
reply_timeout = "1m"
start_timeout = "1m"
exit_timeout = "1m"
`

// heaterSafe is the safe value of killFile.
const heaterSafe = 1.0

// victim is what a campaign kills.
type victim struct {
	// file is the configuration, kill.toml, and log what the instrument heard.
	file, log string
	// failpoints are those at which the process dies, beside any instant.
	failpoints []string
	// witness compares what the instrument was told with the record, and readies the run to
	// go on.
	witness func(c *campaign, point string)
}

// heater is a victim whose failpoints lie between every two steps of decision, intent,
// write and outcome.
func heater() victim {
	return victim{killFile, "oven.log", []string{takenUp, "decision-durable", "intent-durable", "before-write", "after-write",
		"action-settled", "outcome-durable"}, (*campaign).checkWitness}
}

// campaign is one journal that is killed again and again.
type campaign struct {
	t    *testing.T
	rand *rand.Rand
	victim
	dir string
	w   *setup.Setup
	// acknowledged has every line that was printed, by its step.
	acknowledged map[int]string
	// expected are the next proposals after those kills whose next step the run has not
	// decided yet.
	expected []expectation
	// heard is how much of the witness's log has been looked at, power where the heater
	// stands by it.
	power float64
	heard int
	tally killTally
}

// newCampaign prepares a folder.
func newCampaign(t *testing.T, r *rand.Rand, v victim) *campaign {
	c := &campaign{t: t, rand: r, victim: v, dir: t.TempDir(), acknowledged: map[int]string{}, tally: killTally{runs: 1}}
	file := filepath.Join(c.dir, "kill.toml")
	if err := os.WriteFile(file, []byte(v.file), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.w, err = setup.Load(file, &host.Env{}); err != nil {
		t.Fatal(err)
	}
	c.w.Options.Mode = plan.Live
	return c
}

// TestKill kills tuner run at random instants, and at every failpoint, and looks after
// each kill whether anything that it has acknowledged is lost, whether the instrument
// was told anything without an intent on record, and whether the next proposal is, to
// the last bit, that of any process that is given the same journal.
//
//	TUNER_KILLS=1000 go test ./cmd/tuner/trial/kills -run 'TestKill$' -v -timeout 90m
func TestKill(t *testing.T) {
	t.Parallel()
	killAgainAndAgain(t, campaignSize(t, "TUNER_KILLS", testsize.Of(4, 16)), heater)
}

// killAgainAndAgain kills runs, eight times each, and tells what it saw.
func killAgainAndAgain(t *testing.T, size int, v func() victim) killTally {
	t.Helper()
	r := rand.New(rand.NewPCG(campaignSeed(t), 0))
	var total killTally
	// Few kills may all come before a first step, on a machine that is busy: then there are more.
	for total.kills < size || total.lines == 0 && total.kills < size+32 {
		c := newCampaign(t, r, v())
		for n := 0; n < 8 && (total.kills+n < size || total.kills >= size); n++ {
			point := ""
			if r.IntN(2) == 0 {
				point = passed(c.failpoints[(total.kills+n)/2%len(c.failpoints)], 1+r.IntN(8))
			}
			c.round(point)
			if t.Failed() {
				t.Fatalf("after %d kills, the last at %q: kept in %s", total.kills+n+1, point, keepFolder(t, c.dir))
			}
		}
		if c.settle(); t.Failed() {
			t.Fatalf("kept in %s", keepFolder(t, c.dir))
		}
		total.add(c.tally)
	}
	t.Logf("%d kills of %d runs, %d at a failpoint: %d steps decided, %d acknowledged and none lost; the next proposal is, to the last bit, the same of the run itself and of a process on a copy after %d kills, and of what the record derives after %d",
		total.kills, total.runs, total.atPoint, total.steps, total.lines, total.compared, total.derived)
	total.checkPlaces(t, v().failpoints)
	// Few kills may all come before their failpoint, on a machine that is busy.
	missed := total.atPoint == 0 && total.kills > 16
	if total.compared != total.kills || total.twins != total.kills || total.lines == 0 || missed {
		t.Errorf("not every kill was compared, or nothing was shown: %+v", total)
	}
	return total
}

// takenUp is the failpoint that a process passes once at most: where it has closed the step
// in the middle of which the one before it died.
const takenUp = "taken-up"

// passed names a failpoint that is passed for the n-th time.
func passed(point string, n int) string {
	if point == takenUp {
		n = 1
	}
	return fmt.Sprintf("%s@%d", point, n)
}

// campaignSeed is TUNER_SEED, or a new one, which is printed.
func campaignSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	if s := os.Getenv("TUNER_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatalf("TUNER_SEED: %v", err)
		}
	}
	t.Logf("TUNER_SEED=%d", seed)
	return seed
}

// campaignSize is the number in an environment variable, or a small one.
func campaignSize(t *testing.T, variable string, small int) int {
	if s := os.Getenv(variable); s != "" {
		if _, err := fmt.Sscan(s, &small); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
	}
	return small
}

// keepFolder copies what a failed campaign leaves to where it is not removed.
func keepFolder(t *testing.T, dir string) string {
	to, err := os.MkdirTemp("", "tuner-kill-")
	sockets, _ := filepath.Glob(filepath.Join(dir, "*.sock")) // the pattern is good, and they cannot be copied
	for _, s := range sockets {
		err = errors.Join(err, os.Remove(s))
	}
	if err == nil {
		err = os.CopyFS(to, os.DirFS(dir))
	}
	if err != nil {
		t.Log(err)
	}
	return to
}

// round runs the process once, kills it at a failpoint or at any instant, and looks at
// what is left.
func (c *campaign) round(point string) {
	c.t.Helper()
	life := time.Duration(c.rand.IntN(1000)) * time.Millisecond
	switch name, _, _ := strings.Cut(point, "@"); name {
	case "":
	default:
		life = 2 * time.Minute // where it is not passed so often
	}
	lines, atPoint := c.runAndKill(c.dir, point, life)
	if c.tally.kills++; atPoint {
		name, _, _ := strings.Cut(point, "@")
		c.tally.die(name, 1)
	}
	c.hear(lines)
	c.witness(c, point)
	c.examine()
}

// hear takes in what a process has acknowledged.
func (c *campaign) hear(lines []string) {
	c.t.Helper()
	for _, line := range lines {
		var head struct {
			Type string
			N    int
		}
		if err := json.Unmarshal([]byte(line), &head); err != nil || head.Type != "step" {
			c.t.Errorf("a line that is no step: %q, %v", line, err)
			continue
		}
		c.acknowledged[head.N] = line
		c.tally.lines++
	}
}

// runAndKill gives the whole lines that the process printed before it died, and whether it
// died at the failpoint. The instrument has ended too when it returns.
func (c *campaign) runAndKill(dir, failpoint string, life time.Duration) (lines []string, atPoint bool) {
	c.t.Helper()
	e := c.runUntil(dir, failpoint, life)
	if !e.killed {
		c.t.Fatalf("it ended by itself: %s", e.says)
	}
	return e.lines, e.atPoint
}

// ending is how a process ended: the whole lines that it printed, all that it said, and
// whether it was killed, by itself at the failpoint.
type ending struct {
	lines           []string
	says            string
	killed, atPoint bool
}

// runUntil runs the process until it ends or has lived for so long, or could not die at the
// failpoint any more.
func (c *campaign) runUntil(dir, failpoint string, life time.Duration) (e ending) {
	c.t.Helper()
	cmd := trial.Command(c.t, dir, "run", "kill.toml", "--json")
	cmd.Env = append(os.Environ(), "TUNER_FAILPOINT="+failpoint)
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	var timer *time.Timer
	timed := make(chan struct{})
	if strings.HasPrefix(failpoint, takenUp) { // no step was left to close where an earlier kill was reported
		cmd.Stdout = io.MultiWriter(&out, whenWritten(func() { <-timed; timer.Reset(0) }))
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	timer = time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	close(timed)
	err := cmd.Wait()
	e.killed = err != nil && !cmd.ProcessState.Exited()
	e.atPoint = timer.Stop() && e.killed
	awaitChildren(c.t, filepath.Join(dir, c.log))
	whole := out.String()[:strings.LastIndexByte(out.String(), '\n')+1]
	e.lines = strings.FieldsFunc(whole, func(r rune) bool { return r == '\n' })
	e.says = fmt.Sprintf("%v\n%s%s", err, out.String(), says.String())
	return e
}

// whenWritten is called whenever something is written to it.
type whenWritten func()

func (f whenWritten) Write(b []byte) (int, error) { f(); return len(b), nil }

// checkSteps compares the journal with what was acknowledged, and each decision with what
// was expected after the kills before. It gives the last step.
func (c *campaign) checkSteps(r *journal.Reader) (last int) {
	c.t.Helper()
	seen := 0
	for s, err := range r.Steps() {
		if err != nil {
			c.t.Fatal(err)
		}
		last = s.Decision.Step
		c.meet(s.Decision)
		want, told := c.acknowledged[last]
		if !told {
			continue
		}
		seen++
		line, err := show.EncodeLine(control.StepOf(r.Run(), s.Decision, s.Outcome))
		if got := strings.TrimSpace(string(line)); err != nil || got != want || !s.Concluded {
			c.t.Errorf("step %d was acknowledged as\n%s\nand is recorded as\n%s, %v", last, want, got, err)
		}
	}
	if seen != len(c.acknowledged) {
		c.t.Errorf("%d of %d acknowledged steps are there", seen, len(c.acknowledged))
	}
	c.tally.steps = max(c.tally.steps, last)
	return last
}

// checkWitness wants an intent on record for everything that the instrument was told and
// that has to wait for one, but what does not move it: the way to a destination begins
// where the actuator stands.
func (c *campaign) checkWitness(string) {
	c.t.Helper()
	intents, err := intenttest.ReadIntents(filepath.Join(c.dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(c.dir, c.log))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(log[c.heard:])) {
		var told struct {
			Op     string
			Values map[string]float64
		}
		if json.Unmarshal([]byte(line), &told) != nil {
			continue
		}
		switch told.Op {
		case "no-such-operation": // a new child has begun, as it does
			c.power = 0
		case "write":
			v := told.Values["power"]
			if err := intents.Setpoint("power", v, heaterSafe); err != nil && v != c.power {
				c.t.Errorf("the heater: %v", err)
			}
			c.power = v
		}
	}
	c.heard = len(log)
}
