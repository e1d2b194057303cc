package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
)

// feedKillFile is a run of doses that never ends by itself, on the pump of pumpMain, whose
// log is the witness of what it was given.
const feedKillFile = `schema = 1
name = "kill"
tick = "5ms"

[objective]
sensor = "growth"

[[sensor]]
name = "growth"
unit = "g"
device = "pump"
channel = "growth"
range = [-1000.0, 1000.0]
max_age = "5s"

[[sensor]]
name = "level"
unit = "mL"
device = "pump"
channel = "level"
range = [0.0, 1e9]
max_age = "5s"

[[variable]]
name = "feed"
unit = "mL"
kind = "dose"
range = [0.0, 5.0]
resolution = 0.01
device = "pump"
channel = "feed"

[policy]
kind = "gp-ucb"
initial = { steps = 4 }
deadline = "30s"

[stop]
steps = 1000000

[[safety.dose]]
variable = "feed"
unit = "mL"
per_dose = 5.0
hour = 1e6
day = 2e6
run = 1e6
min_interval = "10ms"

[[safety.response]]
variable = "feed"
sensor = "level"
change = 0.1
moves = 0.05
within = "10s"

[[device]]
name = "pump"
driver = "exec"
command = ["pump", "pump.log", "3"]
`

// dosePoints lie between every two steps of a dose: charge, its durability, intent,
// write, answer, outcome, and the durability of that.
var dosePoints = []string{"control-changed", "control-durable", "dose-granted", "dose-intended", "before-dose", "after-dose", "dose-settled",
	"decision-durable", "intent-durable", "shots-durable", "outcome-durable"}

// TestDoseKill kills tuner run between every two steps of a dose, and at any instant,
// and compares the books with what the pump has counted by itself: no dose comes twice,
// none without a name, and none is forgotten. A run that was killed during a dose is
// refused until tuner reset; after that it goes on with new doses.
//
//	TUNER_DOSE_KILLS=1000 go test ./cmd/tuner -run TestDoseKill -v -timeout 60m
func TestDoseKill(t *testing.T) {
	r := rand.New(rand.NewPCG(campaignSeed(t), 1))
	size := campaignSize(t, "TUNER_DOSE_KILLS", len(dosePoints)+5)
	kills, refused, doses, unsent := 0, 0, 0, 0
	for kills < size {
		c := &doseCampaign{t: t, dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(c.dir, "kill.toml"), []byte(feedKillFile), 0o600); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 11 && kills < size; n++ {
			point, life := "", time.Duration(100+r.IntN(900))*time.Millisecond
			if kills < 2*len(dosePoints) || r.IntN(2) == 0 {
				point = fmt.Sprintf("%s@%d", dosePoints[kills%len(dosePoints)], 1+r.IntN(6))
				life = 10 * time.Second
			}
			c.kill(point, life)
			kills++
			if t.Failed() {
				t.Fatalf("after %d kills, the last at %q: kept in %s", kills, point, keepFolder(t, c.dir))
			}
		}
		refused, doses, unsent = refused+c.refused, doses+len(dosesIn(c.log())), unsent+c.unsent
	}
	t.Logf("%d kills: %d doses given, none twice, none forgotten; %d times a dose was in flight and the next run refused until a reset, %d of these had not reached the pump",
		kills, doses, refused, unsent)
	if doses == 0 || refused == 0 {
		t.Errorf("%d doses and %d refusals in %d kills are too few to show anything", doses, refused, kills)
	}
}

// doseCampaign is one pump whose tuner is killed again and again.
type doseCampaign struct {
	t   *testing.T
	dir string
	// excess is what the books have more than the pump, by the doses in flight.
	excess          float64
	refused, unsent int
}

func (c *doseCampaign) log() string { return filepath.Join(c.dir, "pump.log") }

// kill runs once, kills, and compares.
func (c *doseCampaign) kill(point string, life time.Duration) {
	c.t.Helper()
	before := len(dosesIn(c.log()))
	cmd := tunerCommand(c.t, c.dir, "run", "kill.toml", "--json")
	cmd.Env = append(os.Environ(), "TUNER_FAILPOINT="+point)
	var says bytes.Buffer
	cmd.Stderr = &says
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	timer := time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if err == nil || cmd.ProcessState.Exited() {
		c.t.Fatalf("it ended by itself: %v\n%s", err, says.String())
	}
	// The pump outlives tuner until it has given what it was told, and no longer.
	time.Sleep(30 * time.Millisecond)
	c.compare(point, before)
}

// checkIntents wants an intent on record for every dose that the pump was given.
func (c *doseCampaign) checkIntents(point string, given []heardDose) {
	c.t.Helper()
	if len(given) == 0 {
		return
	}
	r, err := journal.OpenReader(filepath.Join(c.dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	intended := map[string]float64{}
	for a, err := range r.AllActions() {
		if err != nil {
			c.t.Fatal(err)
		}
		if a.Kind == "dose" {
			intended[fmt.Sprintf("%s-%d", r.Run().ID, a.ID)] = a.Values["feed"]
		}
	}
	for _, d := range given {
		if amount, there := intended[d.name]; !there || amount != d.amount {
			c.t.Errorf("%s: the pump was given %g mL as %q, and on record is %g, %v", point, d.amount, d.name, amount, there)
		}
	}
}

// compare looks at the books, resets and looks again.
func (c *doseCampaign) compare(point string, before int) {
	c.t.Helper()
	given, names := dosesIn(c.log()), map[string]bool{}
	for _, d := range given {
		if names[d.name] || d.name == "NAMELESS" {
			c.t.Errorf("%s: the pump heard %q twice, or without a name", point, d.name)
		}
		names[d.name] = true
	}
	c.checkIntents(point, given)
	control, err := journal.OpenControl(controlPath(filepath.Join(c.dir, "kill.db")), journal.Session{})
	if err != nil {
		c.t.Fatal(err)
	}
	state := control.State()
	if err := control.Close(); err != nil {
		c.t.Fatal(err)
	}
	dose := state.Doses["feed"]
	more := dose.Total - pumped(c.log()) - c.excess
	inFlight := loop.Latched(state) != nil
	switch {
	case !inFlight && math.Abs(more) > 1e-6:
		c.t.Errorf("%s: the books have %g mL more than the pump, and no dose is in flight", point, more)
	case inFlight && math.Abs(more) > 1e-6 && math.Abs(more-dose.Amount) > 1e-6:
		c.t.Errorf("%s: the books have %g mL more than the pump; a dose of %g is in flight", point, more, dose.Amount)
	}
	if !inFlight {
		return
	}
	c.refused++
	if more > 1e-6 { // it counts, and did not reach the pump
		c.excess += more
		c.unsent++
	}
	again := tunerCommand(c.t, c.dir, "run", "kill.toml", "--json")
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "unknown-dose of feed") {
		c.t.Errorf("%s: a run after a dose in flight: %v\n%s", point, err, out)
	}
	if n := len(dosesIn(c.log())); n != len(given) || n < before {
		c.t.Errorf("%s: a run that was refused gave %d doses", point, n-len(given))
	}
	if out, err := tunerCommand(c.t, c.dir, "reset", "kill.toml").CombinedOutput(); err != nil {
		c.t.Errorf("%s: reset: %v\n%s", point, err, out)
	}
}
