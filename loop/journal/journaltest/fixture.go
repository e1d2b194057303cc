package journaltest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

var NaN = math.NaN()

// DemoStart is when the demo run begins, by both clocks.
var DemoStart = journal.Stamp{Mono: 5 * time.Millisecond, Wall: time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)}

// After is a stamp some time after the start, by both clocks.
func After(d time.Duration) journal.Stamp {
	return journal.Stamp{Mono: DemoStart.Mono + d, Wall: DemoStart.Wall.Add(d)}
}

// DemoRun has two variables, three sensors and two control sets.
func DemoRun() journal.Run {
	return journal.Run{
		ID: "0198-demo", Name: "laser", Site: "lab3", Mode: "run", Policy: "rahbo", Version: "v0.1.0", Decisions: 3,
		Seed: 18446744073709551615, BootID: "b007", Start: DemoStart,
		ConfigFile: "laser.toml", ConfigText: []byte("[plant]\nname = \"laser\"\n"),
		Effective: []journal.Setting{{Key: "plant.name", Value: `"laser"`, Origin: "laser.toml:2"}, {Key: "policy.beta", Value: "2.0", Origin: "default"}},
		Objective: journal.Column{Name: "energy", Unit: "mJ"}, CostUnit: "EUR",
		Variables:   []journal.Column{{Name: "current", Unit: "A"}, {Name: "temperature", Unit: "degC"}},
		Sensors:     []journal.Column{{Name: "energy", Unit: "mJ"}, {Name: "power", Unit: "W"}, {Name: "room", Unit: "degC"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"temperature", "current"}, Cost: 1}, {Variables: []string{"current"}, Cost: 0.25}},
	}
}

// OpsPerStep is the number of records that the demo script makes in each step.
const OpsPerStep = 8

// Perform makes record i = 0, 1, ... of the demo script: whole steps, one after
// the other, with every kind of record and values that depend on i alone.
func Perform(j *journal.Journal, i int) error {
	step, now := 1+i/OpsPerStep, After(time.Duration(i)*time.Second)
	v := float64(step)
	switch i % OpsPerStep {
	case 0:
		return j.Decide(DemoDecision(step, now))
	case 1:
		_, err := j.Intend(journal.Action{Step: step, Device: "heater", Kind: "move",
			Values: map[string]float64{"I": v / 3, "T": 20 + v/7}, Release: []string{"fan"}, At: now})
		return err
	case 2:
		return j.Resolve(int64(step), journal.Sent, nil, "", now)
	case 3:
		return j.Resolve(int64(step), journal.Confirmed, map[string]float64{"I": v/3 + 0.001, "T": NaN}, "no answer from T", now)
	case 4, 5:
		n := i%OpsPerStep - 4
		return j.Shoot([]journal.Shot{
			{Step: step, Index: 2 * n, Objective: v + 0.1, X: []float64{v / 3, 21}, Sensors: []float64{v + 0.1, NaN, 22.5}, At: now},
			{Step: step, Index: 2*n + 1, Objective: NaN, X: []float64{v / 3, NaN}, Sensors: []float64{NaN, NaN, 22.5},
				Quality: []string{"stale", "range", ""}, At: now},
		})
	case 6:
		return j.Conclude(DemoOutcome(step, now))
	default:
		return j.Log(journal.Event{Level: "info", Kind: "step", Message: fmt.Sprintf("step %d is done", step), Step: step, At: now,
			Facts: journal.Facts{Waited: time.Duration(step%2) * time.Second}})
	}
}

func DemoDecision(step int, now journal.Stamp) journal.Decision {
	v := float64(step)
	d := journal.Decision{Step: step, ControlSet: step % 2, Initial: step <= 2, Requested: []float64{v / 3, 20 + v/7},
		Applied: []float64{v / 3, 20 + v/7}, Work: 100 + step, Cut: step%3 == 0, Took: time.Duration(step) * 1234567,
		Why: fmt.Sprintf(`{"ucb":%d}`, step), Shots: step % 3, At: now}
	if d.ControlSet == 1 {
		d.Requested[1], d.Applied[1] = NaN, NaN
	}
	if step%3 == 0 {
		d.Requested[0], d.Applied[0] = math.Inf(1), 4
		d.Reasons = []journal.Reason{{Variable: "current", Rule: "finite", From: math.Inf(1), To: 4}, {Variable: "", Rule: "hold", From: NaN, To: 0}}
	}
	return d
}

func DemoOutcome(step int, now journal.Stamp) journal.Outcome {
	v := float64(step)
	o := journal.Outcome{Step: step, X: []float64{v/3 + 0.001, 21.25}, Mean: v + 0.05, Variance: 0.005, StandardError: 0.05, Shots: 2,
		Cost: 0.1, Spent: v * 0.1, Valid: true, At: now}
	switch step % 4 {
	case 1:
		o.Variance, o.StandardError, o.Shots = NaN, NaN, 1
	case 3:
		o = journal.Outcome{Step: step, X: []float64{v / 3, NaN}, Mean: NaN, Variance: NaN, StandardError: NaN, Cost: 0.1, Spent: v * 0.1,
			Problem: "no data: \"energy\" was\nstale", At: now}
	}
	return o
}

// PerformFrom makes the records first to end-1.
func PerformFrom(t testing.TB, j *journal.Journal, first, end int) {
	t.Helper()
	for i := first; i < end; i++ {
		if err := Perform(j, i); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
}

// Demo makes a journal of the first n records in a new folder.
func Demo(t testing.TB, n int) (path string, j *journal.Journal) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "laser.db")
	j, err := journal.Create(path, DemoRun(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	PerformFrom(t, j, 0, n)
	return path, j
}

func MustRead(t testing.TB, path string) *journal.Reader {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// FirstDifference says where two long dumps differ.
func FirstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, g[i], append(w, "nothing")[min(i, len(w))])
		}
	}
	return "the first ends early"
}

func CopyFile(t testing.TB, from, to string) []byte {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
