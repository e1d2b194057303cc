package journal_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
)

// What the script wrote, built again without a journal, is what a reader gives.
func TestRoundTrip(t *testing.T) {
	const steps = Chunk + 3 // more than one piece of reading
	path, j := journaltest.Demo(t, steps*journaltest.OpsPerStep)
	if err := j.Finish("max_steps", []byte("{\"type\": \"result\",\n \"steps\": 4}"), journaltest.After(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r := journaltest.MustRead(t, path)
	if got, want := fmt.Sprintf("%+v", r.Run()), fmt.Sprintf("%+v", journaltest.DemoRun()); got != want {
		t.Errorf("run\n got %s\nwant %s", got, want)
	}
	n := 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		at := func(op int) Stamp {
			return journaltest.After(time.Duration((n-1)*journaltest.OpsPerStep+op) * time.Second)
		}
		want := Step{Decision: journaltest.DemoDecision(n, at(0)), Outcome: journaltest.DemoOutcome(n, at(6)), Concluded: true, Session: 1}
		if fmt.Sprintf("%+v", s) != fmt.Sprintf("%+v", want) {
			t.Fatalf("step %d\n got %+v\nwant %+v", n, s, want)
		}
	}
	if n != steps {
		t.Errorf("%d steps, want %d", n, steps)
	}
	shots, err := r.Shots(7)
	if err != nil {
		t.Fatal(err)
	}
	wantShot := Shot{Step: 7, Index: 3, Objective: journaltest.NaN, X: []float64{7. / 3, journaltest.NaN}, Sensors: []float64{journaltest.NaN, journaltest.NaN, 22.5},
		Quality: []string{"stale", "range", ""}, At: journaltest.After(53 * time.Second)}
	if len(shots) != 4 || fmt.Sprintf("%+v", shots[3]) != fmt.Sprintf("%+v", wantShot) {
		t.Errorf("shots\n got %+v\nwant the last of four %+v", shots, wantShot)
	}
	if q := shots[0].Quality; !reflect.DeepEqual(q, []string{"", "missing", ""}) {
		t.Errorf("qualities that were not given: got %q", q)
	}
	actions, err := r.Actions(7)
	if err != nil {
		t.Fatal(err)
	}
	wantAction := []ActionRecord{{ID: 7,
		Action: Action{Step: 7, Device: "heater", Kind: "move", Values: map[string]float64{"I": 7. / 3, "T": 21},
			Release: []string{"fan"}, At: journaltest.After(49 * time.Second)},
		Resolutions: []Resolution{{State: Sent, At: journaltest.After(50 * time.Second)},
			{State: Confirmed, Readback: map[string]float64{"I": 7./3 + 0.001, "T": journaltest.NaN}, Message: "no answer from T", At: journaltest.After(51 * time.Second)}}}}
	if fmt.Sprintf("%+v", actions) != fmt.Sprintf("%+v", wantAction) {
		t.Errorf("actions\n got %+v\nwant %+v", actions, wantAction)
	}
	result, ok, err := r.Result()
	if err != nil || !ok || result.Reason != "max_steps" || string(result.Document) != `{"type":"result","steps":4}` || result.At != journaltest.After(time.Hour) {
		t.Errorf("result: got %+v %s %v %v", result, result.Document, ok, err)
	}
	if d := r.Verify(); d != nil {
		t.Errorf("damage in a sound journal: %v", d)
	}
}

// Values that SQLite, SQL or UTF-8 could lose come back, or as is documented.
func TestOddValues(t *testing.T) {
	run := Run{Seed: math.MaxUint64, Objective: Column{Name: "y"},
		Variables:   []Column{{`a "quoted" name`, "1"}, {"größe; DROP TABLE run", "µm"}},
		ControlSets: []ControlSet{{nil, journaltest.NaN}}}
	path := filepath.Join(t.TempDir(), "odd name?#%20.db")
	j, err := Create(path, run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]float64{ // written, read
		{math.MaxFloat64, math.MaxFloat64}, {5e-324, 5e-324}, {-1e18, -1e18}, {9007199254740993, 9007199254740992},
		{math.Inf(-1), math.Inf(-1)}, {journaltest.NaN, journaltest.NaN}, {0.1, 0.1}, {math.Copysign(0, -1), 0}, {281474976710656, 281474976710656},
	}
	for i, p := range pairs {
		err := errors.Join(
			j.Decide(Decision{Step: i + 1, Requested: []float64{p[0], 1}, Applied: []float64{1, p[0]}, Why: "\x00a\xff"}),
			j.Conclude(Outcome{Step: i + 1, X: []float64{p[0], p[0]}, Mean: p[0], Variance: p[0], StandardError: p[0], Cost: p[0], Spent: p[0]}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r := journaltest.MustRead(t, path)
	if d := r.Verify(); d != nil {
		t.Errorf("damage: %v", d)
	}
	if fmt.Sprintf("%+v", r.Run()) != fmt.Sprintf("%+v", run) {
		t.Errorf("run\n got %+v\nwant %+v", r.Run(), run)
	}
	i := 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		want := pairs[i][1]
		for _, got := range []float64{s.Decision.Requested[0], s.Decision.Applied[1], s.Outcome.X[0], s.Outcome.X[1],
			s.Outcome.Mean, s.Outcome.Variance, s.Outcome.StandardError, s.Outcome.Cost, s.Outcome.Spent} {
			same := math.Float64bits(got) == math.Float64bits(want)
			if !same && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%v was read as %v, want %v", pairs[i][0], got, want)
			}
		}
		if s.Decision.Why != "\ufffda\ufffd" {
			t.Errorf("text that is no text: got %q", s.Decision.Why)
		}
		if s.Decision.At != (Stamp{}) {
			t.Errorf("a stamp that was not given: got %+v", s.Decision.At)
		}
		i++
	}
	for _, w := range []time.Time{{}, time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if Wall(w) != nil {
			t.Errorf("%v does not fit nanoseconds in 64 bits, stored as %v", w, Wall(w))
		}
	}
}

// A record that does not fit is refused in words and leaves no trace.
func TestRefusals(t *testing.T) {
	path, j := journaltest.Demo(t, 2*journaltest.OpsPerStep+1) // step 3 is open
	before := mustDump(t, path)
	two := []float64{1, 2}
	sensors := []float64{1, 2, 3}
	intend := func(v float64) error {
		_, err := j.Intend(Action{Step: 3, Device: "heater", Values: map[string]float64{"I": v}})
		return err
	}
	cases := []struct {
		err  error
		want string
	}{
		{j.Decide(Decision{Step: 4, Requested: two, Applied: two}), "step 4 cannot begin while step 3 is open"},
		{j.Conclude(Outcome{Step: 2, X: two}), "step 2 cannot be concluded, it is not open; the last step is 3"},
		{j.Conclude(Outcome{Step: 3, X: sensors}), "the outcome of step 3 has 3 values, the run has 2 variables"},
		{j.Shoot([]Shot{{Step: 2, X: two, Sensors: sensors}}), "shot 0 belongs to step 2, which is not open"},
		{j.Shoot([]Shot{{Step: 3, X: two, Sensors: two}}), "has 2 variables and 2 sensors, the run has 2 and 3"},
		{j.Shoot([]Shot{{Step: 3, X: two, Sensors: sensors, Quality: []string{"x"}}}), "has 1 qualities, the run has 3 sensors"},
		{j.Shoot([]Shot{{Step: 3, X: two, Sensors: sensors}, {Step: 3, X: two, Sensors: sensors}}), "UNIQUE"},
		{intend(journaltest.NaN), `would send NaN to channel "I" of "heater"; only finite values are sent`},
		{intend(math.Inf(1)), "would send +Inf"},
		{j.Resolve(99, Sent, nil, "", Stamp{}), "there is no action 99 to resolve, the last is 2"},
		{j.Resolve(1, "maybe", nil, "", Stamp{}), `action 1 cannot become "maybe"`},
		{j.Log(Event{Level: "loud"}), `an event cannot have level "loud"`},
		{j.Finish("x", []byte("{"), Stamp{}), "the result is no JSON document"},
	}
	if err := j.Conclude(Outcome{Step: 3, X: two}); err != nil {
		t.Fatal(err)
	}
	after := mustDump(t, path)
	cases = append(cases, []struct {
		err  error
		want string
	}{
		{j.Decide(Decision{Step: 6, Requested: two, Applied: two}), "step 6 cannot follow step 3; the next is 4"},
		{j.Decide(Decision{Step: 4, ControlSet: 2, Requested: two, Applied: two}), "step 4 has control set 2, the run has 0 to 1"},
		{j.Decide(Decision{Step: 4, Requested: two, Applied: sensors}), "step 4 has 2 requested and 3 applied values, the run has 2 variables"},
		{j.Decide(Decision{Step: 4, Requested: two, Applied: two, Reasons: []Reason{{Variable: "ph"}}}), `a reason about "ph", which is no variable`},
	}...)
	for _, c := range cases {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
	if strings.Count(before, "\n") != strings.Count(after, "\n") || mustDump(t, path) != after {
		t.Errorf("a refused record left something behind: %s", journaltest.FirstDifference(mustDump(t, path), after))
	}
	journaltest.PerformFrom(t, j, 3*journaltest.OpsPerStep+0, 3*journaltest.OpsPerStep+1) // and the journal goes on
}

// When the disk is full the record is refused and the journal stays as it was;
// when there is room again the same record goes in.
func TestDiskFull(t *testing.T) {
	path, j := journaltest.Demo(t, 10)
	if err := j.Exec("PRAGMA max_page_count = 32"); err != nil {
		t.Fatal(err)
	}
	i := 10
	var err error
	for ; err == nil && i < 10000; i++ {
		err = journaltest.Perform(j, i)
	}
	i-- // the one that was refused
	if !errors.Is(err, disk.ErrIO) || !strings.Contains(err.Error(), "free some disk space") {
		t.Fatalf("record %d: got %v", i, err)
	}
	if n, err := performed(journaltest.MustRead(t, path)); err != nil || n != i {
		t.Errorf("%d records after %d were acknowledged: %v", n, i, err)
	}
	if err := j.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, i, i+20)
	whole, _ := journaltest.Demo(t, i+20)
	if got, want := mustDump(t, path), mustDump(t, whole); got != want {
		t.Errorf("after a full disk: %s", journaltest.FirstDifference(got, want))
	}
}

// Another program that writes to the file, which needs no lock of ours, is named
// as what it is.
func TestBusy(t *testing.T) {
	path, j := journaltest.Demo(t, 3)
	other, err := NewStranger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := errors.Join(other.Exec("BEGIN IMMEDIATE"), j.Exec("PRAGMA busy_timeout = 1")); err != nil {
		t.Fatal(err)
	}
	if err := journaltest.Perform(j, 3); !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "close the other program") {
		t.Errorf("got %v", err)
	}
	if err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, 3, 20)
}
