package kills

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/intenttest"
	"github.com/labtuner/tuner/scripts/testsize"
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
max_age = "1m"

[[sensor]]
name = "level"
unit = "mL"
device = "pump"
channel = "level"
range = [0.0, 1e9]
max_age = "1m"

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
deadline = "1m"

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
within = "1m"

[safety]
safe_wait = "1m"

[[device]]
name = "pump"
driver = "exec"
command = ["pump", "pump.log", "3"]
reply_timeout = "1m"
start_timeout = "1m"
exit_timeout = "1m"
`

// pump is a victim whose failpoints lie between every two steps of a dose: charge, its
// durability, intent, write, answer, outcome, and the durability of that.
func pump() victim {
	return victim{feedKillFile, "pump.log", []string{"control-changed", "control-durable", "dose-granted", "dose-intended", "before-dose", "after-dose", "dose-settled",
		takenUp, "decision-durable", "outcome-durable"}, (*campaign).checkDoses}
}

// TestDoseKill is TestKill between every two steps of a dose. After each kill what is
// charged is compared with what the pump has counted by itself: no dose comes twice, none
// without a name, and none is forgotten. A run that was killed during a dose is refused
// until tuner reset; after that it goes on with new doses, by the same decisions.
//
//	TUNER_DOSE_KILLS=1000 go test ./cmd/tuner/trial/kills -run TestDoseKill -v -timeout 90m
func TestDoseKill(t *testing.T) {
	t.Parallel()
	size := campaignSize(t, "TUNER_DOSE_KILLS", testsize.Of(5, 20))
	total := killAgainAndAgain(t, size, pump)
	b := &total.books
	for again := 0; again < 4 && (b.doses == 0 || b.refused == 0); again++ { // few kills may all miss the doses, on a machine that is busy
		more := killAgainAndAgain(t, size, pump)
		total.add(more)
	}
	t.Logf("%d doses given, none twice, none forgotten; %d times a dose was in flight and the next run refused until a reset, %d of these had not reached the pump",
		b.doses, b.refused, b.unsent)
	if b.doses == 0 || b.refused == 0 {
		t.Errorf("%d doses and %d refusals in %d kills are too few to show anything", b.doses, b.refused, total.kills)
	}
}

// doseBooks is what a campaign knows of the doses of its pump.
type doseBooks struct {
	// excess is what is charged more than the pump was given, by the doses in flight.
	excess                 float64
	doses, refused, unsent int
}

// checkIntents wants an intent on record for every dose that the pump was given.
func (c *campaign) checkIntents(point string, given []trial.HeardDose) {
	c.t.Helper()
	if len(given) == 0 {
		return
	}
	intents, err := intenttest.ReadIntents(filepath.Join(c.dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, d := range given {
		if err := intents.Dose(d.Name, "feed", d.Amount); err != nil {
			c.t.Errorf("%s: the pump: %v", point, err)
		}
	}
}

// checkDoses compares the doses that are charged with those that the pump was given, and
// resets where one was in flight.
func (c *campaign) checkDoses(point string) {
	c.t.Helper()
	b, log := &c.tally.books, filepath.Join(c.dir, c.log)
	given, names := trial.DosesIn(log), map[string]bool{}
	b.doses = len(given)
	for _, d := range given {
		if names[d.Name] || d.Name == "NAMELESS" {
			c.t.Errorf("%s: the pump heard %q twice, or without a name", point, d.Name)
		}
		names[d.Name] = true
	}
	c.checkIntents(point, given)
	control, err := controlstate.Open(runfiles.ControlPath(filepath.Join(c.dir, "kill.db")), disk.Holder{})
	if err != nil {
		c.t.Fatal(err)
	}
	state := control.State()
	if err := control.Close(); err != nil {
		c.t.Fatal(err)
	}
	dose := state.Doses["feed"]
	more := dose.Total - trial.Pumped(log) - b.excess
	inFlight := guard.Latched(state) != nil
	switch {
	case !inFlight && math.Abs(more) > 1e-6:
		c.t.Errorf("%s: %g mL more are charged than were given, and no dose is in flight", point, more)
	case inFlight && math.Abs(more) > 1e-6 && math.Abs(more-dose.Amount) > 1e-6:
		c.t.Errorf("%s: %g mL more are charged than were given; a dose of %g is in flight", point, more, dose.Amount)
	}
	if !inFlight {
		return
	}
	b.refused++
	if more > 1e-6 { // it counts, and did not reach the pump
		b.excess += more
		b.unsent++
	}
	again := trial.Command(c.t, c.dir, "run", "kill.toml", "--json")
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "unknown-dose of feed") {
		c.t.Errorf("%s: a run after a dose in flight: %v\n%s", point, err, out)
	}
	if n := len(trial.DosesIn(log)); n != len(given) {
		c.t.Errorf("%s: a run that was refused gave %d doses", point, n-len(given))
	}
	if out, err := trial.Command(c.t, c.dir, "reset", "kill.toml").CombinedOutput(); err != nil {
		c.t.Errorf("%s: reset: %v\n%s", point, err, out)
	}
}
