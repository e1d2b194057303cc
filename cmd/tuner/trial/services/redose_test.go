package services

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/reset"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/safety"
)

// dosed writes a journal with doses: amounts, how long ago, and what became of them.
func dosed(t *testing.T, path string, now time.Time, doses []recorded) {
	t.Helper()
	j, err := journal.Create(path, journal.Run{ID: "feed-run", Name: "feed", Mode: "run", Policy: "gp-ucb", Objective: journal.Column{Name: "growth", Unit: "g/day"},
		Variables: []journal.Column{{Name: "nutrient", Unit: "mL"}, {Name: "acid", Unit: "mL"}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range doses {
		at := journal.Stamp{Wall: now.Add(-d.ago)}
		id, err := j.Intend(journal.Action{Device: "pumps", Kind: d.kind, Values: map[string]float64{d.channel: d.amount}, At: at})
		if err == nil && d.state != "" {
			err = j.Resolve(id, d.state, d.readback, "", at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

type recorded struct {
	kind, channel string
	amount        float64
	ago           time.Duration
	state         journal.ActionState
	readback      map[string]float64
}

// damage spoils both copies of a control state.
func damage(t *testing.T, path string) {
	t.Helper()
	c, err := controlstate.Open(path, disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Write(controlstate.State{Doses: map[string]safety.DoseState{"nutrient": {Total: 7, Used: 7}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"-a", "-b"} {
		if err := os.WriteFile(path+end, []byte("tunerCS1 not any more"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResetRecallsDoses: where the control state is lost, what was dosed comes back from
// the journal, into the hour, the day and the run that it belongs to.
func TestResetRecallsDoses(t *testing.T) {
	t.Parallel()
	e, out, _, _ := hosttest.Env()
	file := trial.FeedFile(t)
	w, err := setup.Load(file, &host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := reset.Request{Setup: w, Journal: filepath.Join(filepath.Dir(file), "feed.db")}
	damage(t, runfiles.ControlPath(r.Journal))
	if err := reset.Clear(e, r); !errors.Is(err, guard.ErrLatched) || !strings.Contains(err.Error(), "there is no journal") {
		t.Fatalf("without a journal: %v", err)
	}
	dosed(t, r.Journal, e.Now(), []recorded{
		{"dose", "nutrient", 5, 72 * time.Hour, journal.Confirmed, map[string]float64{"nutrient": 5}},
		{"dose", "nutrient", 4, 3 * time.Hour, journal.Confirmed, map[string]float64{"nutrient": 6}}, // it gave more
		{"dose", "nutrient", 3, 20 * time.Minute, journal.Confirmed, map[string]float64{"nutrient": 2}},
		{"dose", "nutrient", 2, 10 * time.Minute, "", nil}, // nobody knows
		{"dose", "nutrient", 9, 9 * time.Minute, journal.Failed, nil},
		{"dose", "nutrient", 1, 8 * time.Minute, journal.Unknown, nil},
		{"move", "nutrient", 8, 7 * time.Minute, journal.Confirmed, nil},
		{"dose", "acid", 7, -time.Hour, journal.Confirmed, nil}, // the clock was ahead
	})
	if err := reset.Clear(e, r); err != nil {
		t.Fatal(err)
	}
	if ok, _ := regexp.MatchString(`17 mL of nutrient were dosed; earlier`, out.String()); !ok {
		t.Errorf("said %s", out.String())
	}
	c, err := controlstate.Open(runfiles.ControlPath(r.Journal), disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	s := c.State()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	within := func(name string) (hour, day, run float64) {
		d := s.Doses[name]
		for _, x := range d.Hour {
			hour += x
		}
		for _, x := range d.Day {
			day += x
		}
		return hour, day, d.Total
	}
	if hour, day, run := within("nutrient"); hour != 6 || day != 12 || run != 17 || s.Run != "feed-run" {
		t.Errorf("nutrient: %v in the hour, %v in the day, %v in run %q", hour, day, run, s.Run)
	}
	if hour, _, _ := within("acid"); math.Abs(hour-7) > 1e-12 {
		t.Errorf("acid: %v in the hour", hour)
	}
	if d := s.Doses["nutrient"]; s.At-d.LastAt < 7*time.Minute || s.At-d.LastAt > 9*time.Minute {
		t.Errorf("the last one %v ago", s.At-d.LastAt)
	}
	// A bottle that was filled up.
	r.Refilled = []string{"nutrient"}
	if err := reset.Clear(e, r); err != nil || !strings.Contains(out.String(), "refilled: nutrient, 1000 mL again") {
		t.Errorf("%v: %s", err, out.String())
	}
	if c, err = controlstate.Open(runfiles.ControlPath(r.Journal), disk.Holder{}); err != nil {
		t.Fatal(err)
	}
	if d := c.State().Doses["nutrient"]; d.Used != 0 || d.Total != 17 {
		t.Errorf("after the refill: %+v", d)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := reset.HaveReservoirs(w, []string{"acid"}); err == nil {
		t.Error("acid has no reservoir, and was refilled")
	}
}

// TestResetAsksBeforeBudgetsBeginAnew: only who says so begins anew.
func TestResetAsksBeforeBudgetsBeginAnew(t *testing.T) {
	t.Parallel()
	e, _, errOut, _ := hosttest.Env()
	file := trial.FeedFile(t)
	w, err := setup.Load(file, &host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := reset.Request{Setup: w, Journal: filepath.Join(filepath.Dir(file), "feed.db")}
	damage(t, runfiles.ControlPath(r.Journal))
	if err := reset.Clear(e, r); !errors.Is(err, guard.ErrLatched) {
		t.Fatal(err)
	}
	r.Anew = true
	if err := reset.Clear(e, r); err != nil || !strings.Contains(errOut.String(), "dose budgets begin again") {
		t.Errorf("%v: %s", err, errOut.String())
	}
}
