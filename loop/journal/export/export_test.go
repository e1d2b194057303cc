package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with testdata/NAME, which a person has read.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %s", file, journaltest.FirstDifference(string(got), string(want)))
	}
}

func mustExport(t *testing.T, path string, f Format) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, journaltest.MustRead(t, path), f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// twoSessions is a run of four steps that was interrupted after the second and
// resumed a day later; its fifth step is open.
func twoSessions(t *testing.T) string {
	t.Helper()
	path, j := journaltest.Demo(t, 2*journaltest.OpsPerStep)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Options{Session: journal.Session{Start: journal.Stamp{Mono: time.Second, Wall: journaltest.DemoStart.Wall.Add(24 * time.Hour)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	journaltest.PerformFrom(t, j, 2*journaltest.OpsPerStep, 4*journaltest.OpsPerStep+6)
	return path
}

func TestExportGolden(t *testing.T) {
	path := twoSessions(t)
	golden(t, "unfinished.csv", mustExport(t, path, CSV))
	golden(t, "unfinished.jsonl", mustExport(t, path, JSONL))
	var units bytes.Buffer
	if err := WriteUnits(&units, journaltest.MustRead(t, path)); err != nil {
		t.Fatal(err)
	}
	golden(t, "units.json", units.Bytes())
	golden(t, "shots.csv", mustExport(t, path, ShotsCSV))

	path, j := journaltest.Demo(t, 3*journaltest.OpsPerStep)
	if err := j.Finish("max_steps", []byte(`{"type":"result","policy":"rahbo","steps":3}`), journaltest.After(time.Hour)); err != nil {
		t.Fatal(err)
	}
	golden(t, "finished.jsonl", mustExport(t, path, JSONL))
	pid := regexp.MustCompile(`"pid":\d+`) // this process's
	golden(t, "everything.jsonl", pid.ReplaceAll(mustExport(t, path, JSONLAll), []byte(`"pid":0`)))
	if err := Write(&units, journaltest.MustRead(t, path), "xlsx"); err == nil || err.Error() != `there is no export format "xlsx"; choose "csv", "shots-csv", "parquet", "shots-parquet", "jsonl", "jsonl-all" or "bluesky"` {
		t.Errorf("an unknown format: %v", err)
	}
}

// A journal without a step exports as a table without rows.
func TestExportEmpty(t *testing.T) {
	path, _ := journaltest.Demo(t, 0)
	if got := mustExport(t, path, CSV); bytes.Count(got, []byte("\n")) != 1 || !bytes.HasPrefix(got, []byte("n,control_set,requested_current,")) {
		t.Errorf("csv: %q", got)
	}
	want := `{"type":"unfinished","steps":0,"open_step":null,"message":"the run has no result: it is going on, or it was interrupted"}` + "\n"
	if got := mustExport(t, path, JSONL); string(got) != want {
		t.Errorf("jsonl: got %s want %s", got, want)
	}
}

// Every cell of the CSV, parsed as a table program would, is the number that was
// recorded; the units document has its columns.
func TestCSVParses(t *testing.T) {
	const steps = 12
	path, _ := journaltest.Demo(t, steps*journaltest.OpsPerStep)
	rows, err := csv.NewReader(bytes.NewReader(mustExport(t, path, CSV))).ReadAll()
	if err != nil || len(rows) != 1+steps {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for i, row := range rows[1:] {
		d, o := journaltest.DemoDecision(i+1, journal.Stamp{}), journaltest.DemoOutcome(i+1, journal.Stamp{})
		for name, want := range map[string]float64{
			"n": float64(i + 1), "requested_current": d.Requested[0], "applied_temperature": d.Applied[1],
			"x_current": o.X[0], "x_temperature": o.X[1], "mean": o.Mean, "variance": o.Variance, "standard_error": o.StandardError, "shots": float64(o.Shots),
			"cost": o.Cost, "spent": o.Spent, "work": float64(d.Work), "decision_ms": d.Took.Seconds() * 1000,
			"elapsed_s": float64(i*journaltest.OpsPerStep + 6),
		} {
			got := math.NaN()
			if cell := row[column[name]]; cell != "" {
				if got, err = strconv.ParseFloat(cell, 64); err != nil {
					t.Errorf("step %d, %s: %v", i+1, name, err)
				}
			}
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("step %d, %s: got %v, want %v", i+1, name, got, want)
			}
		}
		at, err := time.Parse(time.RFC3339, row[column["time"]])
		if want := journaltest.After(time.Duration(i*journaltest.OpsPerStep+6) * time.Second).Wall; err != nil || !at.Equal(want) {
			t.Errorf("step %d, time: got %v (%v), want %v", i+1, at, err, want)
		}
		if got := row[column["valid"]]; got != strconv.FormatBool(o.Valid) {
			t.Errorf("step %d, valid: got %q", i+1, got)
		}
		if got := row[column["problem"]]; got != o.Problem {
			t.Errorf("step %d, problem: got %q, want %q", i+1, got, o.Problem)
		}
	}
	var b bytes.Buffer
	if err := WriteUnits(&b, journaltest.MustRead(t, path)); err != nil {
		t.Fatal(err)
	}
	var units Units
	if err := json.Unmarshal(b.Bytes(), &units); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range units.Columns {
		names = append(names, c.Name)
	}
	if !reflect.DeepEqual(names, rows[0]) {
		t.Errorf("units of %q, the table has %q", names, rows[0])
	}
}

func TestSquared(t *testing.T) {
	for unit, want := range map[string]string{"": "", "1": "1", "mJ": "mJ^2", "m/s": "(m/s)^2", "kg m": "(kg m)^2", "m^2": "(m^2)^2"} {
		if got := Squared(unit); got != want {
			t.Errorf("%q: got %q, want %q", unit, got, want)
		}
	}
}

// The line has exactly the keys that the command promises, null for what is no
// number, and comes back from JSON as it was.
func TestStepAsLine(t *testing.T) {
	d := journaltest.DemoDecision(6, journal.Stamp{})
	d.ControlSet = 0
	d.Requested[1], d.Took = math.Copysign(0, -1), 1800*time.Microsecond
	line, err := json.Marshal(control.StepOf(journaltest.DemoRun(), d, journal.Outcome{Step: 6, X: []float64{0.1, journaltest.NaN}, Mean: math.Inf(-1),
		Variance: journaltest.NaN, StandardError: journaltest.NaN, Shots: 1, Cost: 0.1, Spent: 1e21, Valid: true}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"step","n":6,"control_set":["temperature","current"],"requested":{"current":null,"temperature":0},` +
		`"applied":{"current":4,"temperature":20.857142857142858},"x":{"current":0.1,"temperature":null},"mean":null,"variance":null,"standard_error":null,` +
		`"shots":1,"cost":0.1,"spent":1e+21,"valid":true,"clamped":["current"],"decision_ms":1.8,"reason":"as the policy's design asks; changed by the safety layer: current finite, hold"}`
	if string(line) != want {
		t.Errorf("\n got %s\nwant %s", line, want)
	}
	var back control.Step
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != want {
		t.Errorf("there and back: %s %v", again, err)
	}
	if !math.IsNaN(float64(back.Variance)) {
		t.Errorf("null was read as %v", back.Variance)
	}
	// A decision that does not fit the run makes an empty line, not a panic.
	line, err = json.Marshal(control.StepOf(journaltest.DemoRun(), journal.Decision{Step: 1, ControlSet: 9}, journal.Outcome{}))
	if err != nil || !strings.Contains(string(line), `"control_set":[],"requested":{},"applied":{},"x":{"current":null,"temperature":null}`) {
		t.Errorf("got %s %v", line, err)
	}
}

// Write stops at a writer that fails.
func TestExportWriteError(t *testing.T) {
	path, _ := journaltest.Demo(t, 30)
	r := journaltest.MustRead(t, path)
	for _, f := range []Format{CSV, JSONL} {
		if err := Write(failingWriter{}, r, f); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: got %v", f, err)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
