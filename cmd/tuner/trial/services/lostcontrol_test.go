package services

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/reset"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// TestLostControlIsMissedWithDoses: a journal that tells of doses without a control state
// beside it is no new instrument: the run is refused, and a reset books the doses anew.
func TestLostControlIsMissedWithDoses(t *testing.T) {
	t.Parallel()
	e, out, errOut, _ := hosttest.Env()
	file := trial.FeedFile(t)
	w, err := setup.Load(file, &host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := reset.Request{Setup: w, Journal: filepath.Join(filepath.Dir(file), "feed.db")}
	missed := func() error {
		t.Helper()
		c, err := controlstate.Open(runfiles.ControlPath(r.Journal), disk.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return runfiles.LostControl(c, r.Journal, true)
	}
	if err := missed(); err != nil {
		t.Fatalf("without a journal: %v", err)
	}
	dosed(t, r.Journal, e.Now(), []recorded{{"move", "nutrient", 8, time.Minute, journal.Confirmed, nil}})
	if err := missed(); err != nil {
		t.Fatalf("a journal without doses: %v", err)
	}
	r.Journal = filepath.Join(filepath.Dir(file), "second.db")
	dosed(t, r.Journal, e.Now(), []recorded{{"dose", "nutrient", 3, 20 * time.Minute, journal.Confirmed, nil}})
	if err := missed(); !errors.Is(err, controlstate.ErrLost) || !strings.Contains(err.Error(), "records doses") {
		t.Fatalf("a journal with doses: %v", err)
	}
	if err := reset.Clear(e, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "3 mL of nutrient were dosed") || !strings.Contains(errOut.String(), "control state is lost") {
		t.Errorf("the reset says %q and %q", out, errOut)
	}
	if err := missed(); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}
