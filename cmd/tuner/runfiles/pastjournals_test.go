package runfiles

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestJournals: what a note names is found, the newest first; what is no database, lies beside by chance or has gone is not.
func TestJournals(t *testing.T) {
	e, _, _, _ := hosttest.Env()
	dir, state := t.TempDir(), t.TempDir()
	e.Lookup = func(name string) (string, bool) { return state, name == "XDG_STATE_HOME" }
	write := func(name, text string, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Now(), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = "SQLite format 3\x00"
	old, fresh := write("old.db", head, time.Hour), write("fresh.sqlite", head, time.Minute)
	write("fresh.html", "<html>", 0)
	write("fresh.simulate.db", head, 0)
	write("unnoted.db", head, 0)
	for _, path := range []string{old, fresh, filepath.Join(dir, "gone.db")} {
		NoteControl(e, ControlPath(path))
	}
	if got, want := Journals(e, 9), []string{fresh, old}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Journals(e, 1); len(got) != 1 || got[0] != fresh {
		t.Errorf("the newest alone: %q", got)
	}
}
