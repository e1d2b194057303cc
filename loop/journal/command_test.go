package journal_test

import (
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

func TestCommandsComeBack(t *testing.T) {
	path, j := journaltest.Demo(t, 0)
	at := func(s int) Stamp {
		return Stamp{Mono: time.Duration(s) * time.Second, Wall: time.Unix(int64(s), 0).UTC()}
	}
	pause := Command{Name: "pause", Who: "anna", Transport: "mqtt", Transaction: "t1", Args: `{"reason":"lunch"}`, At: at(1)}
	stop := Command{Name: "stop", Transport: "cli", At: at(3)}
	reset := Command{Name: "reset", Who: "bob", Transport: "web", At: at(5)}
	yes, no := Answer{OK: true, Code: "ok", Message: "paused", At: at(2)}, Answer{Code: "expired", Message: "too late", At: at(4)}
	id, err := j.Order(pause)
	if err != nil || id != 1 {
		t.Fatalf("number %d, %v", id, err)
	}
	if err := j.Answer(id, yes); err != nil {
		t.Fatal(err)
	}
	if err := j.Ordered(stop, no); err != nil {
		t.Fatal(err)
	}
	if id, err = j.Order(reset); err != nil || id != 3 {
		t.Fatalf("number %d, %v", id, err)
	}
	for _, bad := range []int64{0, 4} {
		if err := j.Answer(bad, yes); err == nil || !strings.Contains(err.Error(), "no command") {
			t.Errorf("answer to %d: %v", bad, err)
		}
	}
	if err := j.Answer(1, yes); err == nil {
		t.Error("a command is answered twice")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r := journaltest.MustRead(t, path)
	var got []CommandRecord
	for c, err := range r.Commands() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	want := []CommandRecord{{1, pause, &yes}, {2, stop, &no}, {3, reset, nil}}
	if !slices.EqualFunc(got, want, func(a, b CommandRecord) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if d := r.Verify(); d != nil {
		t.Errorf("damage: %v", d)
	}
}

// Numbers go on where another process left off, and a row that is missing is noticed.
func TestCommandsAreGapless(t *testing.T) {
	path, j := journaltest.Demo(t, 0)
	for range 2 {
		if _, err := j.Order(Command{Name: "status"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := j.Order(Command{Name: "status"}); err != nil || id != 3 {
		t.Fatalf("number %d, %v", id, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("DELETE FROM command WHERE id = 2")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	r := journaltest.MustRead(t, path)
	if d := r.Verify(); len(d) == 0 || d[0].Table != "command" {
		t.Errorf("damage %v", d)
	}
	n := 0
	for _, err := range r.Commands() {
		if n++; n == 2 && (err == nil || !strings.Contains(err.Error(), "command, row id 2: the row is missing")) {
			t.Errorf("reading over the gap: %v", err)
		}
	}
}
