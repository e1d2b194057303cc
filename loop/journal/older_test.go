package journal_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
)

// v1Unfinished was written by a tuner that knew version 1 only, on a simulated laser in
// real time; the process was killed in the sixth step.
const v1Unfinished = "testdata/v1-unfinished.db"

// v2Unfinished was written by the tuner of commit 5a9c202, on a heater; the process was
// killed in its 16th step, and the log folded into the file.
const v2Unfinished = "testdata/v2-unfinished.db"

// old copies a journal of version 1 or 2 to a folder of its own.
func old(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	journaltest.CopyFile(t, name, path)
	return path
}

func version(t *testing.T, path string) int {
	t.Helper()
	return journaltest.MustRead(t, path).Version()
}

// A reader takes an old file as it is and leaves it so, to the last byte.
func TestReaderReadsVersion1(t *testing.T) {
	path := old(t, v1Unfinished)
	before := journaltest.CopyFile(t, path, path+".copy")
	if v := version(t, path); v != 1 {
		t.Fatalf("the old journal is of version %d", v)
	}
	r := journaltest.MustRead(t, path)
	if d := r.Verify(); d != nil {
		t.Errorf("damage in a sound journal of version 1: %v", d)
	}
	status, err := r.Status()
	if err != nil || status.Steps != 6 || status.Concluded != 5 || status.Finished {
		t.Errorf("status %+v, %v", status, err)
	}
	comparisons, err := r.Comparisons()
	if err != nil || len(comparisons) != 0 {
		t.Errorf("comparisons of a version without them: %v, %v", comparisons, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("reading changed the file (%v)", err)
	}
}

// A run does not go on with it, and the file stays as it was.
func TestOpenRefusesVersion1(t *testing.T) {
	path := old(t, v1Unfinished)
	before := journaltest.CopyFile(t, path, path+".copy")
	_, err := Open(path, Options{})
	if !errors.Is(err, store.ErrVersion) || !strings.Contains(err.Error(), "version 1, and a run goes on with version 2 or newer only") {
		t.Errorf("got %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("a refusal changed the file (%v)", err)
	}
}

// A run of version 2 goes on: the file is brought to the newest version, nothing that it
// holds is touched, and its sessions have the decisions version of that time.
func TestOpenExtendsVersion2(t *testing.T) {
	path := old(t, v2Unfinished)
	before := mustDump(t, path)
	r := journaltest.MustRead(t, path)
	if sessions, err := r.Sessions(); err != nil || r.Version() != 2 || len(sessions) != 1 || sessions[0].Decisions != 1 || r.Run().Decisions != 1 {
		t.Fatalf("version %d, sessions %+v, run by %d, %v", r.Version(), sessions, r.Run().Decisions, err)
	}
	j, err := Open(path, Options{Session: Session{Decisions: 7}})
	if err != nil {
		t.Fatal(err)
	}
	if notices := strings.Join(j.Notices(), "; "); !strings.Contains(notices, "from version 2 to 3") {
		t.Errorf("notices: %q", notices)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r = journaltest.MustRead(t, path)
	if d := r.Verify(); r.Version() != 3 || d != nil {
		t.Errorf("version %d, damage %v", r.Version(), d)
	}
	sessions, err := r.Sessions()
	if err != nil || len(sessions) != 2 || sessions[0].Decisions != 1 || sessions[1].Decisions != 7 {
		t.Errorf("sessions %+v, %v", sessions, err)
	}
	if after, before := withoutEvents(mustDump(t, path)), withoutEvents(before); after != before {
		t.Error(journaltest.FirstDifference(after, before))
	}
	j, err = Open(path, Options{})
	if err != nil || len(j.Notices()) != 0 {
		t.Errorf("opened again: %v, %v", j.Notices(), err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoSessionIsWithoutItsDecisions: a version that is gone is missed.
func TestNoSessionIsWithoutItsDecisions(t *testing.T) {
	path, j := journaltest.Demo(t, 5)
	if err := j.Exec("DELETE FROM session_decisions"); err != nil {
		t.Fatal(err)
	}
	if d := journaltest.MustRead(t, path).Verify(); len(d) != 1 || d[0].Table != "session_decisions" {
		t.Errorf("damage %v", d)
	}
}

// What the sentences of older files said to programs is read from them, and what is recorded
// now comes back as it went in.
func TestFactsOfEvents(t *testing.T) {
	for _, c := range []struct {
		older Event
		want  Facts
	}{
		{Event{Kind: EventStart, Message: "[0.1,null,-1e-300]"}, Facts{Start: []Number{0.1, Number(journaltest.NaN), -1e-300}}},
		{Event{Kind: EventStart, Message: "[0.1,"}, Facts{}},
		{Event{Kind: EventWaited, Message: "waited 1h0m3.000000001s for the resume"}, Facts{Waited: time.Hour + 3*time.Second + 1}},
		{Event{Kind: EventWaited, Message: "waited long for the resume"}, Facts{}},
		{Event{Kind: EventNarrowed, Message: `{"from":3}`}, Facts{Narrowed: []byte(`{"from":3}`)}},
		{Event{Kind: EventShutdown, Message: "actuators are at rest"}, Facts{AtRest: true}},
		{Event{Kind: EventShutdown, Message: "an earlier setpoint may still arrive"}, Facts{}},
		{Event{Kind: EventSafety, Level: "error", Message: "tripped: rule 3"}, Facts{Latched: true}},
		{Event{Kind: EventSafety, Level: "error", Message: "stopped: by a person"}, Facts{Latched: true}},
		{Event{Kind: EventSafety, Level: "error", Message: "fallen back: rule 3"}, Facts{}},
		{Event{Kind: "story", Message: "tripped: over a cable"}, Facts{}},
	} {
		e := c.older
		e.Level = cmp.Or(e.Level, "info")
		path, j := journaltest.Demo(t, 0)
		if err := j.Log(e); err != nil {
			t.Fatal(err)
		}
		said := e
		said.Message, said.Facts = "in words", c.want
		if err := j.Log(said); err != nil {
			t.Fatal(err)
		}
		n := 0
		for got, err := range journaltest.MustRead(t, path).Events() {
			if n++; err != nil || fmt.Sprintf("%+v", got.Facts) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("event %d of %q: %+v, want %+v (%v)", n, e.Message, got.Facts, c.want, err)
			}
		}
		if n != 2 {
			t.Errorf("%d events", n)
		}
	}
}

// withoutEvents drops the story from a dump.
func withoutEvents(dump string) string {
	var kept []string
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, "{Level:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
