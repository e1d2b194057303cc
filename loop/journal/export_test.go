package journal

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
		t.Errorf("%s: %s", file, firstDifference(string(got), string(want)))
	}
}

func mustExport(t *testing.T, path string, f Format) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Export(&b, mustRead(t, path), f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// twoSessions is a run of four steps that was interrupted after the second and
// resumed a day later; its fifth step is open.
func twoSessions(t *testing.T) string {
	t.Helper()
	path, j := demo(t, 2*opsPerStep)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, Options{Session: Session{Start: Stamp{Mono: time.Second, Wall: demoStart.Wall.Add(24 * time.Hour)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	performFrom(t, j, 2*opsPerStep, 4*opsPerStep+6)
	return path
}

func TestExportGolden(t *testing.T) {
	path := twoSessions(t)
	golden(t, "unfinished.csv", mustExport(t, path, CSV))
	golden(t, "unfinished.jsonl", mustExport(t, path, JSONL))
	var units bytes.Buffer
	if err := ExportUnits(&units, mustRead(t, path)); err != nil {
		t.Fatal(err)
	}
	golden(t, "units.json", units.Bytes())
	golden(t, "shots.csv", mustExport(t, path, ShotsCSV))

	path, j := demo(t, 3*opsPerStep)
	if err := j.Finish("max_steps", []byte(`{"type":"result","policy":"rahbo","steps":3}`), after(time.Hour)); err != nil {
		t.Fatal(err)
	}
	golden(t, "finished.jsonl", mustExport(t, path, JSONL))
	pid := regexp.MustCompile(`"pid":\d+`) // this process's
	golden(t, "everything.jsonl", pid.ReplaceAll(mustExport(t, path, JSONLAll), []byte(`"pid":0`)))
	if err := Export(&units, mustRead(t, path), "parquet"); err == nil || err.Error() != `there is no export format "parquet"; choose "csv", "shots-csv", "jsonl", "jsonl-all" or "bluesky"` {
		t.Errorf("an unknown format: %v", err)
	}
}

// A journal without a step exports as a table without rows.
func TestExportEmpty(t *testing.T) {
	path, _ := demo(t, 0)
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
	path, _ := demo(t, steps*opsPerStep)
	rows, err := csv.NewReader(bytes.NewReader(mustExport(t, path, CSV))).ReadAll()
	if err != nil || len(rows) != 1+steps {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for i, row := range rows[1:] {
		d, o := demoDecision(i+1, Stamp{}), demoOutcome(i+1, Stamp{})
		for name, want := range map[string]float64{
			"n": float64(i + 1), "requested_current": d.Requested[0], "applied_temperature": d.Applied[1],
			"x_current": o.X[0], "x_temperature": o.X[1], "mean": o.Mean, "variance": o.Variance, "standard_error": o.StandardError, "shots": float64(o.Shots),
			"cost": o.Cost, "spent": o.Spent, "work": float64(d.Work), "decision_ms": d.Took.Seconds() * 1000,
			"elapsed_s": float64(i*opsPerStep + 6),
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
		if want := after(time.Duration(i*opsPerStep+6) * time.Second).Wall; err != nil || !at.Equal(want) {
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
	if err := ExportUnits(&b, mustRead(t, path)); err != nil {
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
func TestStepLine(t *testing.T) {
	d := demoDecision(6, Stamp{})
	d.ControlSet = 0
	d.Requested[1], d.Took = math.Copysign(0, -1), 1800*time.Microsecond
	line, err := json.Marshal(NewStepLine(demoRun(), d, Outcome{Step: 6, X: []float64{0.1, nan}, Mean: math.Inf(-1),
		Variance: nan, StandardError: nan, Shots: 1, Cost: 0.1, Spent: 1e21, Valid: true}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"step","n":6,"control_set":["temperature","current"],"requested":{"current":null,"temperature":0},` +
		`"applied":{"current":4,"temperature":20.857142857142858},"x":{"current":0.1,"temperature":null},"mean":null,"variance":null,"standard_error":null,` +
		`"shots":1,"cost":0.1,"spent":1e+21,"valid":true,"clamped":["current"],"decision_ms":1.8}`
	if string(line) != want {
		t.Errorf("\n got %s\nwant %s", line, want)
	}
	var back StepLine
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
	line, err = json.Marshal(NewStepLine(demoRun(), Decision{Step: 1, ControlSet: 9}, Outcome{}))
	if err != nil || !strings.Contains(string(line), `"control_set":[],"requested":{},"applied":{},"x":{"current":null,"temperature":null}`) {
		t.Errorf("got %s %v", line, err)
	}
}

// Export stops at a writer that fails.
func TestExportWriteError(t *testing.T) {
	path, _ := demo(t, 30)
	r := mustRead(t, path)
	for _, f := range []Format{CSV, JSONL} {
		if err := Export(failingWriter{}, r, f); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: got %v", f, err)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
