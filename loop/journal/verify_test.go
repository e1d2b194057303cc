package journal_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
)

// closedDemo makes a closed journal of n records and gives its bytes.
func closedDemo(t testing.TB, n int) []byte {
	t.Helper()
	path, j := journaltest.Demo(t, n)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return journaltest.CopyFile(t, path, path+".copy")
}

// A flipped bit in a number, of which SQLite knows nothing, is found and named.
func TestFlippedByte(t *testing.T) {
	sound := closedDemo(t, 30)
	number := func(x float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(x)) }
	for _, c := range []struct {
		what string
		old  []byte
		want string
	}{
		{"achieved", number(2./3 + 0.001), "table action_readback, row action 2, state 2, n 0: its checksum is "},
		{"mean", number(2.05), "table outcome, row step 2: its checksum is "},
		{"requested", number(20 + 2./7), "table decision_value, row step 2, variable 1: its checksum is "},
		{"text", []byte("step 2 is done"), "table event, row id 2: its checksum is "},
		{"work", []byte(`{"ucb":3}`), "table decision, row step 3: its checksum is "},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			at := bytes.Index(sound, c.old)
			if at < 0 {
				t.Fatalf("%x is not in the file", c.old)
			}
			bad := bytes.Clone(sound)
			bad[at+len(c.old)-1] ^= 1
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			r := journaltest.MustRead(t, path)
			damage := r.Verify()
			if len(damage) == 0 || !strings.HasPrefix(damage[0].String(), c.want) {
				t.Errorf("verify: got %v, want %q", damage, c.want)
			}
			if _, err := dump(r); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("reading: got %v, want %q", err, c.want)
			}
			_, err := Open(path, Options{})
			if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "start a new run") {
				t.Errorf("open: got %v, want %q", err, c.want)
			}
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, bad) {
				t.Errorf("a journal that is refused was changed (%v)", err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "x.db")
	at := bytes.Index(sound, number(2.05))
	bad := bytes.Clone(sound)
	bad[at] ^= 0x40
	if err := os.WriteFile(path, bad, 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range []export.Format{export.CSV, export.JSONL} {
		out.Reset()
		err := export.Write(&out, journaltest.MustRead(t, path), f)
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "table outcome, row step 2") {
			t.Errorf("export %s: got %v", f, err)
		}
	}
}

// Rows that are gone, of which no checksum can tell, and other changes by a
// program that knows SQLite, are found.
func TestTampering(t *testing.T) {
	sound := closedDemo(t, 40)
	for _, c := range []struct{ change, want string }{
		{"DELETE FROM outcome_value WHERE step = 2 AND variable = 1", "table outcome_value, row step 2: 1 rows are there, there should be 2"},
		{"DELETE FROM decision_value WHERE step = 5", "table decision_value, row step 5: 0 rows are there, there should be 2"},
		{"DELETE FROM outcome_value WHERE step = 3; DELETE FROM outcome WHERE step = 3", "table outcome, row step 3: 0 rows are there, there should be 1"},
		{"DELETE FROM reason WHERE n = 1", "table reason, row step 3: 1 rows are there, there should be 2"},
		{"DELETE FROM shot_reading WHERE step = 1 AND shot = 2", "table shot_reading, row step 1, shot 2: 0 rows are there, there should be 3"},
		{"DELETE FROM shot_value WHERE step = 1 AND shot = 2 AND variable = 0", "table shot_value, row step 1, shot 2: 1 rows are there, there should be 2"},
		{"DELETE FROM event WHERE id = 2", "table event: 4 rows are there, there should be 5"},
		{"DELETE FROM action_readback WHERE action = 4 AND n = 0", "table action_readback, row action 4, state 2: 1 rows are there, there should be 2"},
		{"DELETE FROM action_state WHERE action = 4 AND n = 1", "table action_state, row action 4: 1 rows are there, there should be 2"},
		{"DELETE FROM action_channel WHERE action = 4 AND n = 0", "table action_channel, row action 4: 2 rows are there, there should be 3"},
		{"DELETE FROM shot WHERE step = 1 AND n = 0", "a row refers to a row of shot that is missing"},
		{"UPDATE outcome SET mean = 1e9 WHERE step = 1", "table outcome, row step 1: its checksum is "},
		{"UPDATE shot SET n = 9 WHERE step = 4 AND n = 3", "table shot, row step 4, n 9: its checksum is "},
		{"UPDATE event SET message = NULL WHERE id = 1", "NOT NULL"},
		{"DROP VIEW steps", "table steps: the view is missing or was altered"},
		{"DROP TABLE reason", "table reason: the table is missing"},
		{"ALTER TABLE event ADD COLUMN mood TEXT", "table event: the table's definition was altered"},
		{"DELETE FROM setting WHERE n = 1", "table setting: 1 rows are there, there should be 2"},
		{"DELETE FROM control_set_variable WHERE control_set = 0", "table control_set_variable: 1 rows are there, there should be 3"},
		{"DELETE FROM sensor", "table sensor: 0 rows are there, there should be 3"},
		{"DELETE FROM config", "table config: 0 rows are there, there should be 1"},
		{"DELETE FROM run", "table run: no row has the run's uid"},
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, sound, 0o644); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(c.change); err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.change, err)
			}
			db.Close()
			continue
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = Open(path, Options{})
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: Open says %v", c.change, err)
			continue
		}
		found := err.Error()
		if r, err := OpenReader(path); err == nil {
			found = fmt.Sprint(r.Verify())
			r.Close()
		}
		if !strings.Contains(found, c.want) {
			t.Errorf("%s: got %s, want %q", c.change, found, c.want)
		}
	}
}

// What is no journal is refused in words.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	sound := closedDemo(t, 9)
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err == nil {
		_, err = db.Exec("CREATE TABLE t (x)")
	}
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(sound)
	newer[63] = 200 // user_version, four bytes from 60
	for _, c := range []struct {
		path string
		is   error
		want string
	}{
		{file("text.db", bytes.Repeat([]byte("n,mean\n1,2.5\n"), 400)), disk.ErrNoJournal, "it does not begin as a journal does"},
		{file("short.db", []byte("hello")), disk.ErrNoJournal, "it does not begin as a journal does"},
		{file("empty.db", nil), disk.ErrNoJournal, "it is empty; remove it"},
		{dir, store.ErrCorrupt, "it is not a regular file"},
		{other, disk.ErrNoJournal, "it is a database of another program (its application_id is 0x0, tuner's is 0x74756e72)"},
		{file("newer.db", newer), store.ErrVersion, "its schema is version 200, this tuner knows 1 to 4; use the version of tuner that made it, or a newer one"},
		{file("half.db", sound[:len(sound)/2]), store.ErrCorrupt, "malformed"},
		{file("page.db", sound[:4096]), store.ErrCorrupt, "malformed"},
		{file("header.db", sound[:100]), store.ErrCorrupt, "malformed"},
	} {
		_, err := Open(c.path, Options{})
		if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("open %s: got %v, want %q", filepath.Base(c.path), err, c.want)
		}
		r, err := OpenReader(c.path)
		if err == nil {
			if r.Verify() == nil {
				t.Errorf("read %s: no damage was found", filepath.Base(c.path))
			}
			r.Close()
		} else if !errors.Is(err, c.is) {
			t.Errorf("read %s: got %v", filepath.Base(c.path), err)
		}
	}
}
