package loop

import (
	"database/sql"
	"errors"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
	"github.com/labtuner/tuner/loop/plan"
)

// TestReplayDerivesOutcomes: what a step came to follows from its shots, and what was spent from
// the prices; options that would make something else of them are found, and so is a record that
// was altered with its checksum.
func TestReplayDerivesOutcomes(t *testing.T) {
	path, o := recorded(t, func(tr *trial) {
		tr.opt.Objective.Shots, tr.opt.Cost.PerShot = 3, 0.25
		tr.opt.Cost.Setting = func(_ int, x []float64) float64 { return x[0] / 7 }
	})
	if done := replayed(t, path, o, replaySpec(), 0); done.First != nil || done.Outcomes != 20 {
		t.Fatalf("%d outcomes derive, then %+v", done.Outcomes, done.First)
	}
	for what, change := range map[string]func(*plan.Options){
		"value": func(o *plan.Options) { o.Objective.Statistic = "median" },
		"cost":  func(o *plan.Options) { o.Cost.PerShot = 0.26 },
		"objective of shot 0": func(o *plan.Options) {
			o.Objective.Formula = func(s []float64) (float64, error) { return s[0] + 1e-9, nil }
		},
	} {
		other := o
		change(&other)
		if done := replayed(t, path, other, replaySpec(), 0); done.First == nil || done.First.What != what || done.First.Step != 1 {
			t.Errorf("%s: %+v", what, done.First)
		}
	}
	// The setting's price is another one: found at the first step. Ways that are paid are not on
	// record, so the cost is taken as it is.
	other := o
	other.Cost.Setting = nil
	if done := replayed(t, path, other, replaySpec(), 0); done.First == nil || done.First.What != "cost" {
		t.Errorf("without the setting's price: %+v", done.First)
	}
	other.Cost.PerMove = []float64{1, 1}
	if done := replayed(t, path, other, replaySpec(), 0); done.First != nil {
		t.Errorf("where ways are paid: %+v", done.First)
	}
	for column, what := range map[string]string{"spent": "sum that was spent", "shots": "number of shots", "valid": "validity",
		"variance": "variance of a shot", "standard_error": "standard error", "mean": "value"} {
		bad := t.TempDir() + "/altered.db"
		journaltest.CopyFile(t, path, bad)
		journaltest.CopyFile(t, path+"-wal", bad+"-wal")
		alter(t, bad, column)
		if done := replayed(t, bad, o, replaySpec(), 0); done.First == nil || done.First.What != what || done.First.Step != 2 {
			t.Errorf("%s altered: %+v", column, done.First)
		}
	}
}

// alter changes a number of the second outcome, and its checksum with it.
func alter(t *testing.T, path, column string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT * FROM outcome WHERE step = 2")
	if err != nil {
		t.Fatal(err)
	}
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		t.Fatalf("no second outcome: %v", err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range into {
		into[i] = &values[i]
	}
	if err := errors.Join(rows.Scan(into...), rows.Close()); err != nil {
		t.Fatal(err)
	}
	var now any
	for i, name := range names {
		if name != column {
			continue
		}
		switch v := values[i].(type) {
		case int64:
			values[i] = v ^ 1
		case float64:
			values[i] = math.Nextafter(v, math.Inf(1))
			if column == "spent" {
				values[i] = v + 1e-9
			}
		}
		now = values[i]
	}
	salt, err := store.LoadSalt(db)
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := salt.Checksum(nil, "outcome", values[:len(values)-1])
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("UPDATE outcome SET "+column+" = ?, crc = ? WHERE step = 2", now, int64(sum))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
