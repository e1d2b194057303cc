package journal_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// TestContinue: a finished run goes on in its journal, whose event keeps the result that it had;
// it is finished again, and goes on again, and every record is sound.
func TestContinue(t *testing.T) {
	n := 2 * journaltest.OpsPerStep
	path, j := journaltest.Demo(t, n)
	end := func(reason, result string) {
		t.Helper()
		if err := errors.Join(j.Finish(reason, []byte(result), Stamp{Mono: time.Second}), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	open := func(o Options) {
		t.Helper()
		var err error
		if j, err = Open(path, o); err != nil {
			t.Fatal(err)
		}
	}
	end("steps", `{"n":1}`)
	if _, err := Open(path, Options{}); !errors.Is(err, ErrFinished) {
		t.Fatalf("opened without asking: %v", err)
	}
	open(Options{Continue: "stop.steps has grown"})
	if s := journaltest.MustRead(t, path); true {
		status, err := s.Status()
		if _, there, rerr := s.Result(); err != nil || rerr != nil || there || status.Finished || status.Steps != 2 {
			t.Errorf("%+v, a result %v: %v, %v", status, there, err, rerr)
		}
	}
	if err := j.Close(); err != nil { // as a kill leaves it: the run is not finished
		t.Fatal(err)
	}
	open(Options{Continue: "it is not finished"})
	journaltest.PerformFrom(t, j, n, n+journaltest.OpsPerStep)
	end("cost", `{"n":2}`)
	open(Options{Continue: "again"})
	end("end", `{"n":3}`)
	r := journaltest.MustRead(t, path)
	if err := r.Sound(); err != nil {
		t.Error(err)
	}
	var got []string
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == EventContinued {
			f := e.Facts.Ended
			got = append(got, e.Message+" after "+f.Reason+" "+string(f.Document))
			if f.Steps != 1+len(got) || f.Comparisons != 0 {
				t.Errorf("%+v", f)
			}
		}
	}
	if want := `stop.steps has grown after steps {"n":1}|again after cost {"n":2}`; strings.Join(got, "|") != want {
		t.Errorf("%s, want %s", strings.Join(got, "|"), want)
	}
	if result, _, err := r.Result(); err != nil || result.Reason != "end" || string(result.Document) != `{"n":3}` {
		t.Errorf("%+v, %v", result, err)
	}
	if sessions, err := r.Sessions(); err != nil || len(sessions) != 4 {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}
}

// TestContinueIsAllOrNothing: where the disk refuses, the run stays finished.
func TestContinueIsAllOrNothing(t *testing.T) {
	path, j := journaltest.Demo(t, journaltest.OpsPerStep)
	if err := errors.Join(j.Finish("steps", []byte(`{"n":1}`), Stamp{}), j.Close()); err != nil {
		t.Fatal(err)
	}
	alter(t, path, "CREATE TRIGGER no BEFORE DELETE ON result BEGIN SELECT RAISE(ABORT, 'no'); END")
	if _, err := Open(path, Options{Continue: "more"}); err == nil {
		t.Fatal("the run goes on with its result")
	}
	alter(t, path, "DROP TRIGGER no")
	r := journaltest.MustRead(t, path)
	status, err := r.Status()
	if err != nil || !status.Finished || status.Sessions != 1 {
		t.Errorf("%+v, %v", status, err)
	}
	if err := r.Sound(); err != nil {
		t.Error(err)
	}
}

// alter changes a file behind the journal's back.
func alter(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = db.Exec(query); errors.Join(err, db.Close()) != nil {
		t.Fatal(err)
	}
}

// TestAmend: what is said of a finished run afterwards is commands and events, and it stays
// finished, in one plain file.
func TestAmend(t *testing.T) {
	path, j := journaltest.Demo(t, journaltest.OpsPerStep)
	if err := errors.Join(j.Finish("steps", []byte(`{"n":1}`), Stamp{}), j.Close()); err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, Options{Amend: true})
	if err != nil {
		t.Fatal(err)
	}
	id, err := j.Order(Command{Name: "strike"})
	if err := errors.Join(err, j.Log(Event{Level: "info", Kind: EventChanged, Message: "struck"}), j.Answer(id, Answer{OK: true, Code: "ok"})); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"a step": j.Decide(journaltest.DemoDecision(2, Stamp{})), "a result": j.Finish("cost", []byte(`{"n":2}`), Stamp{})} {
		if !errors.Is(err, ErrFinished) {
			t.Errorf("%s of a finished run: %v", what, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r := journaltest.MustRead(t, path)
	result, ok, err := r.Result()
	if serr := r.Sound(); err != nil || serr != nil || !ok || string(result.Document) != `{"n":1}` {
		t.Errorf("%+v, %v, %v, %v", result, ok, err, serr)
	}
	if left, _ := filepath.Glob(path + "?*"); left != nil {
		t.Errorf("a closed journal left %q", left)
	}
}
