package journal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// TestMain turns this test binary into a writer when a test starts it as one.
func TestMain(m *testing.M) {
	if job := os.Getenv("JOURNAL_TEST_CHILD"); job != "" {
		os.Exit(child(job))
	}
	os.Exit(journaltest.Main(m))
}

var nan = math.NaN()

// demoStart is when the demo run begins, by both clocks.
var demoStart = Stamp{Mono: 5 * time.Millisecond, Wall: time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)}

// after is a stamp some time after the start, by both clocks.
func after(d time.Duration) Stamp {
	return Stamp{Mono: demoStart.Mono + d, Wall: demoStart.Wall.Add(d)}
}

// demoRun has two variables, three sensors and two control sets.
func demoRun() Run {
	return Run{
		ID: "0198-demo", Name: "laser", Site: "lab3", Mode: "run", Policy: "rahbo", Version: "v0.1.0",
		Seed: 18446744073709551615, BootID: "b007", Start: demoStart,
		ConfigFile: "laser.toml", ConfigText: []byte("[plant]\nname = \"laser\"\n"),
		Effective: []Setting{{"plant.name", `"laser"`, "laser.toml:2"}, {"policy.beta", "2.0", "default"}},
		Objective: Column{"energy", "mJ"}, CostUnit: "EUR",
		Variables:   []Column{{"current", "A"}, {"temperature", "degC"}},
		Sensors:     []Column{{"energy", "mJ"}, {"power", "W"}, {"room", "degC"}},
		ControlSets: []ControlSet{{[]string{"temperature", "current"}, 1}, {[]string{"current"}, 0.25}},
	}
}

// opsPerStep is the number of records that the demo script makes in each step.
const opsPerStep = 8

// perform makes record i = 0, 1, ... of the demo script: whole steps, one after
// the other, with every kind of record and values that depend on i alone.
func perform(j *Journal, i int) error {
	step, now := 1+i/opsPerStep, after(time.Duration(i)*time.Second)
	v := float64(step)
	switch i % opsPerStep {
	case 0:
		return j.Decide(demoDecision(step, now))
	case 1:
		_, err := j.Intend(Action{Step: step, Device: "heater", Kind: "move",
			Values: map[string]float64{"I": v / 3, "T": 20 + v/7}, Release: []string{"fan"}, At: now})
		return err
	case 2:
		return j.Settle(int64(step), Sent, nil, "", now)
	case 3:
		return j.Settle(int64(step), Confirmed, map[string]float64{"I": v/3 + 0.001, "T": nan}, "no answer from T", now)
	case 4, 5:
		n := i%opsPerStep - 4
		return j.Shoot([]Shot{
			{Step: step, Index: 2 * n, Objective: v + 0.1, X: []float64{v / 3, 21}, Sensors: []float64{v + 0.1, nan, 22.5}, At: now},
			{Step: step, Index: 2*n + 1, Objective: nan, X: []float64{v / 3, nan}, Sensors: []float64{nan, nan, 22.5},
				Quality: []string{"stale", "range", ""}, At: now},
		})
	case 6:
		return j.Conclude(demoOutcome(step, now))
	default:
		return j.Log(Event{Level: "info", Kind: "step", Message: fmt.Sprintf("step %d is done", step), Step: step, At: now})
	}
}

func demoDecision(step int, now Stamp) Decision {
	v := float64(step)
	d := Decision{Step: step, ControlSet: step % 2, Initial: step <= 2, Requested: []float64{v / 3, 20 + v/7},
		Applied: []float64{v / 3, 20 + v/7}, Work: 100 + step, Cut: step%3 == 0, Took: time.Duration(step) * 1234567,
		Why: fmt.Sprintf(`{"ucb":%d}`, step), At: now}
	if d.ControlSet == 1 {
		d.Requested[1], d.Applied[1] = nan, nan
	}
	if step%3 == 0 {
		d.Requested[0], d.Applied[0] = math.Inf(1), 4
		d.Reasons = []Reason{{"current", "finite", math.Inf(1), 4}, {"", "hold", nan, 0}}
	}
	return d
}

func demoOutcome(step int, now Stamp) Outcome {
	v := float64(step)
	o := Outcome{Step: step, X: []float64{v/3 + 0.001, 21.25}, Mean: v + 0.05, Variance: 0.005, StandardError: 0.05, Shots: 2,
		Cost: 0.1, Spent: v * 0.1, Valid: true, At: now}
	switch step % 4 {
	case 1:
		o.Variance, o.StandardError, o.Shots = nan, nan, 1
	case 3:
		o = Outcome{Step: step, X: []float64{v / 3, nan}, Mean: nan, Variance: nan, StandardError: nan, Cost: 0.1, Spent: v * 0.1,
			Problem: "no data: \"energy\" was\nstale", At: now}
	}
	return o
}

// performFrom makes the records first to end-1.
func performFrom(t testing.TB, j *Journal, first, end int) {
	t.Helper()
	for i := first; i < end; i++ {
		if err := perform(j, i); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
}

// performed counts the records of the demo script in a journal.
func performed(r *Reader) (n int, err error) {
	for s, serr := range r.Steps() {
		shots, err1 := r.Shots(s.Decision.Step)
		actions, err2 := r.Actions(s.Decision.Step)
		if err := errors.Join(serr, err1, err2); err != nil {
			return 0, err
		}
		n += 1 + len(shots)/2 + len(actions)
		for _, a := range actions {
			n += len(a.Settlements)
		}
		if s.Concluded {
			n++
		}
	}
	for _, err := range r.Events() {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// dump gives everything that a reader tells of a journal, but which session did
// it. Floats are printed so that different ones differ.
func dump(r *Reader) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", r.Run())
	steps := 0
	for s, err := range r.Steps() {
		if err != nil {
			return "", err
		}
		steps, s.Session = steps+1, 0
		fmt.Fprintf(&b, "%+v\n", s)
	}
	for step := range steps + 1 {
		shots, err1 := r.Shots(step)
		actions, err2 := r.Actions(step)
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%+v\n%+v\n", shots, actions)
	}
	for e, err := range r.Events() {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%+v\n", e)
	}
	result, ok, err := r.Result()
	fmt.Fprintf(&b, "%+v %s %v\n", result.At, result.Document, ok)
	return b.String(), err
}

// demo makes a journal of the first n records in a new folder.
func demo(t testing.TB, n int) (path string, j *Journal) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "laser.db")
	j, err := Create(path, demoRun(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	performFrom(t, j, 0, n)
	return path, j
}

func mustRead(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func mustDump(t testing.TB, path string) string {
	t.Helper()
	r := mustRead(t, path)
	if d := r.Verify(); d != nil {
		t.Fatalf("damage in a sound journal: %v", d)
	}
	s, err := dump(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// firstDifference says where two long dumps differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, g[i], append(w, "nothing")[min(i, len(w))])
		}
	}
	return "the first ends early"
}

func copyFile(t testing.TB, from, to string) []byte {
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
