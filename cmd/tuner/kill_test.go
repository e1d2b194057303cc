package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
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
max_age = "5s"

[[variable]]
name = "power"
unit = "W"
range = [0.0, 9.0]
start = 2.0
device = "oven"
channel = "power"
readback = { tolerance = 0.01, timeout = "5s" }

[cost]
unit = "shots"
per_shot = 1.0

[policy]
kind = "gp-ucb"
initial = { steps = 4 }
deadline = "30s"

[stop]
steps = 1000000

[safety.variable.power]
hard = [0.0, 10.0]
slew = 1e9
safe = 1.0
on_fault = "safe"
shutdown = "safe"

[[device]]
name = "oven"
driver = "exec"
command = ["child", "oven.log"]
`

// victim is what a campaign kills.
type victim struct {
	// file is the configuration, kill.toml.
	file string
	// failpoints are those at which the process dies, beside any instant.
	failpoints []string
	// witness compares what the instrument was told with the record.
	witness func(*campaign, *journal.Reader)
}

// heater is a victim whose failpoints lie between every two steps of decision, intent,
// write and outcome.
func heater() victim {
	return victim{killFile, []string{"decision-durable", "intent-durable", "before-write", "after-write",
		"action-settled", "shots-durable", "outcome-durable", "control-changed", "control-durable"}, (*campaign).checkWitness}
}

// campaign is one journal that is killed again and again.
type campaign struct {
	t    *testing.T
	rand *rand.Rand
	victim
	dir string
	w   *wiring
	// acknowledged has every line that was printed, by its step.
	acknowledged map[int]string
	// expected is what any process given the journal as it was must propose next.
	expected *policy.Proposal
	expects  int // the step of that
	// heard is how much of the witness's log has been looked at, power where the heater
	// stands by it.
	power                                   float64
	heard                                   int
	kills, steps, lines, compared, twins, n int
}

// newCampaign prepares a folder.
func newCampaign(t *testing.T, r *rand.Rand, v victim) *campaign {
	c := &campaign{t: t, rand: r, victim: v, dir: t.TempDir(), acknowledged: map[int]string{}}
	file := filepath.Join(c.dir, "kill.toml")
	if err := os.WriteFile(file, []byte(v.file), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.w, err = loadWiring(file, ""); err != nil {
		t.Fatal(err)
	}
	c.w.opt.Mode = loop.Live
	return c
}

// TestKill kills tuner run at random instants, and at every failpoint, and looks after
// each kill whether anything that it has acknowledged is lost, whether the instrument
// was told anything without an intent on record, and whether the next proposal is, to
// the last bit, what any process proposes that is given the same journal.
//
//	TUNER_KILLS=1000 go test ./cmd/tuner -run TestKill -v -timeout 60m
func TestKill(t *testing.T) {
	r := rand.New(rand.NewPCG(campaignSeed(t), 0))
	total := campaign{}
	for left := campaignSize(t, "TUNER_KILLS", 24); left > 0; {
		c := newCampaign(t, r, heater())
		for range min(left, 8) {
			c.round()
			if left--; t.Failed() {
				t.Fatalf("kept in %s", keepFolder(t, c.dir))
			}
		}
		total.kills, total.steps, total.lines = total.kills+c.kills, total.steps+c.steps, total.lines+c.lines
		total.compared, total.twins, total.n = total.compared+c.compared, total.twins+c.twins, total.n+1
	}
	t.Logf("%d kills of %d runs: %d steps decided, %d acknowledged and none lost; the next proposal after %d kills (the others came before the first step) is in a copy, where another process ran, what a replay of the copy proposes, and after %d so in the run itself, which was killed later",
		total.kills, total.n, total.steps, total.lines, total.twins, total.compared)
	if total.compared == 0 || total.lines == 0 {
		t.Error("nothing was compared")
	}
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
	if err == nil {
		err = os.CopyFS(to, os.DirFS(dir))
	}
	if err != nil {
		t.Log(err)
	}
	return to
}

// round runs the process once, kills it and looks at what is left.
func (c *campaign) round() {
	c.t.Helper()
	failpoint, life := "", time.Duration(c.rand.IntN(1000))*time.Millisecond
	if c.rand.IntN(2) == 0 {
		failpoint = fmt.Sprintf("%s@%d", c.failpoints[c.rand.IntN(len(c.failpoints))], 1+c.rand.IntN(12))
		life = 2 * time.Second // where it is not passed so often
	}
	lines := c.runAndKill(c.dir, failpoint, life)
	c.kills++
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
		c.lines++
	}
	c.examine()
}

// runAndKill gives the whole lines that the process printed before it died.
func (c *campaign) runAndKill(dir, failpoint string, life time.Duration) []string {
	c.t.Helper()
	cmd := tunerCommand(c.t, dir, "run", "kill.toml", "--json")
	cmd.Env = append(os.Environ(), "TUNER_FAILPOINT="+failpoint)
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	timer := time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if err == nil || cmd.ProcessState.Exited() {
		c.t.Fatalf("it ended by itself: %v\n%s%s", err, out.String(), says.String())
	}
	whole := out.String()[:strings.LastIndexByte(out.String(), '\n')+1]
	return strings.FieldsFunc(whole, func(r rune) bool { return r == '\n' })
}

// examine looks at a copy of what the process left.
func (c *campaign) examine() {
	c.t.Helper()
	twin := c.t.TempDir()
	if err := copyRun(c.dir, twin); err != nil {
		c.t.Fatal(err)
	}
	r, err := journal.OpenReader(filepath.Join(twin, "kill.db"))
	if errors.Is(err, fs.ErrNotExist) && len(c.acknowledged) == 0 {
		return
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	if d := r.Verify(); d != nil {
		c.t.Errorf("damage: %v", d)
	}
	last := c.checkSteps(r)
	c.witness(c, r)
	c.expected = nil
	if last == 0 {
		return // a journal without a step is begun anew
	}
	p, err := policy.New(c.w.spec)
	if err != nil {
		c.t.Fatal(err)
	}
	replay := loop.Replay{Options: c.w.opt, Policy: p}
	if done, err := replay.Run(context.Background(), r); err != nil || done.First != nil {
		c.t.Fatalf("what was recorded does not derive: %+v, %v", done.First, err)
	}
	next, err := p.Propose(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	c.expected, c.expects = &next, last+1
	c.runTwin(twin)
}

// copyRun copies what a process finds in its folder.
func copyRun(from, to string) error {
	for _, name := range []string{"kill.toml", "kill.db", "kill.db-wal", "kill.control-a", "kill.control-b"} {
		content, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSteps compares the journal with what was acknowledged, and the first decision
// after the kill before with what was expected. It gives the last step.
func (c *campaign) checkSteps(r *journal.Reader) (last int) {
	c.t.Helper()
	seen := 0
	for s, err := range r.Steps() {
		if err != nil {
			c.t.Fatal(err)
		}
		last = s.Decision.Step
		if c.expected != nil && last == c.expects {
			c.compared++
			sameProposal(c.t, s.Decision, *c.expected)
		}
		want, told := c.acknowledged[last]
		if !told {
			continue
		}
		seen++
		line, err := encodeLine(journal.NewStepLine(r.Run(), s.Decision, s.Outcome))
		if got := strings.TrimSpace(string(line)); err != nil || got != want || !s.Concluded {
			c.t.Errorf("step %d was acknowledged as\n%s\nand is recorded as\n%s, %v", last, want, got, err)
		}
	}
	if seen != len(c.acknowledged) {
		c.t.Errorf("%d of %d acknowledged steps are there", seen, len(c.acknowledged))
	}
	c.steps = max(c.steps, last)
	return last
}

// sameProposal compares to the last bit.
func sameProposal(t *testing.T, d journal.Decision, p policy.Proposal) {
	t.Helper()
	same := func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}
	if d.ControlSet != p.ControlSet || d.Work != p.Work || !slices.EqualFunc(d.Requested, p.X, same) {
		t.Errorf("step %d: decided %v with control set %d after %d units; another process proposes %v, %d, %d",
			d.Step, d.Requested, d.ControlSet, d.Work, p.X, p.ControlSet, p.Work)
	}
}

// checkWitness wants an intent on record for everything that the instrument was told,
// but what does not move it: the way to a destination begins where the actuator stands.
func (c *campaign) checkWitness(r *journal.Reader) {
	c.t.Helper()
	intended := map[float64]bool{}
	for a, err := range r.AllActions() {
		if err != nil {
			c.t.Fatal(err)
		}
		intended[a.Values["power"]] = true
	}
	log, err := os.ReadFile(filepath.Join(c.dir, "oven.log"))
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
			if v := told.Values["power"]; !intended[v] && v != c.power {
				c.t.Errorf("the heater was told %v W, and no intent of that is on record", v)
			}
			c.power = told.Values["power"]
		}
	}
	c.heard = len(log)
}

// runTwin has another process go on with a copy, until it has decided.
func (c *campaign) runTwin(dir string) {
	c.t.Helper()
	c.runAndKill(dir, "decision-durable@1", 30*time.Second)
	r, err := journal.OpenReader(filepath.Join(dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	for s, err := range r.Steps() {
		if err != nil {
			c.t.Fatal(err)
		}
		if s.Decision.Step == c.expects {
			c.twins++
			sameProposal(c.t, s.Decision, *c.expected)
			return
		}
	}
	c.t.Errorf("the process on a copy did not decide step %d", c.expects)
}
