package runfiles

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
	"github.com/labtuner/tuner/safety"
)

func TestJournalPaths(t *testing.T) {
	plain := &configs.Config{Name: "oven", Dir: "/etc/lab"}
	named := &configs.Config{Name: "oven", Dir: "/etc/lab", Journal: configs.Journal{Path: "logs/oven.v2.db"}}
	for _, c := range []struct {
		cfg    *configs.Config
		state  string
		shadow bool
		want   string
	}{
		{plain, "", false, "oven.db"},
		{plain, "/var/lib/tuner", false, "/var/lib/tuner/oven.db"},
		{plain, "/var/lib/tuner", true, "/var/lib/tuner/oven.shadow.db"},
		{named, "/var/lib/tuner", false, "/etc/lab/logs/oven.v2.db"},
		{named, "", true, "/etc/lab/logs/oven.v2.shadow.db"},
	} {
		if got := RunJournalPath(c.cfg, c.state, c.shadow); got != c.want {
			t.Errorf("journal %q, want %q", got, c.want)
		}
	}
	e := &host.Env{Lookup: func(string) (string, bool) { return "/var/lib/a:/var/lib/b", true }}
	if got := e.StateDirectory(); got != "/var/lib/a" {
		t.Errorf("state directory %q", got)
	}
}

// begun makes a journal with one step, and leaves it open.
func begun(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(path, journal.Run{ID: "x", Name: "oven", Mode: "run", Policy: "random",
		Variables:   []journal.Column{{Name: "power", Unit: "W"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"power"}}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Decide(journal.Decision{Step: 1, Requested: []float64{1}, Applied: []float64{1}}); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestPrepareRunJournalNeverTouchesOneInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oven.db")
	j := begun(t, path)
	if _, err := PrepareRunJournal(path, Wanted{Fresh: true}, time.Now()); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("--new: %v, want locked", err)
	}
	if _, err := PrepareRunJournal(path, Wanted{}, time.Now()); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a run that goes on: %v, want locked", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRefusedNewMovesNothing: while something is latched a start is refused, so --new leaves the journal where it is.
func TestRefusedNewMovesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oven.db")
	if err := begun(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	control, err := controlstate.Open(ControlPath(path), disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	s := control.State()
	s.Latched = []controlstate.Cause{{Rule: safety.RuleInterlock}}
	if err := errors.Join(control.Write(s), control.Close()); err != nil {
		t.Fatal(err)
	}
	if did, err := PrepareRunJournal(path, Wanted{Fresh: true}, time.Now()); err != nil || did.Done != "" || did.Resume {
		t.Errorf("%+v, %v", did, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// An unfinished journal is moved with everything that belongs to it, as often as
// one likes within a second, and what is moved stays whole.
func TestMoveAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "oven.db")
	now := time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)
	want := []string{"oven-20260301-210405.db", "oven-20260301-210405-2.db"}
	for _, name := range want {
		if err := begun(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		if there, err := PrepareRunJournal(path, Wanted{}, now); err != nil || !there.Resume {
			t.Errorf("without --new: %+v, %v; want an unfinished run that goes on", there, err)
		}
		did, err := PrepareRunJournal(path, Wanted{Fresh: true}, now)
		if err != nil || did.Resume || did.Done != "moved "+path+" to "+filepath.Join(dir, name) {
			t.Errorf("%+v, %v", did, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		// What a reader leaves beside a journal moves with it.
		if name := strings.TrimSuffix(strings.TrimSuffix(f.Name(), "-wal"), "-shm"); !slices.Contains(want, name) {
			t.Errorf("%s is left over", f.Name())
		}
	}
	for _, name := range want {
		r, err := journal.OpenReader(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if damage := r.Verify(); damage != nil {
			t.Errorf("%s: %v", name, damage)
		}
		if s, err := r.Status(); err != nil || s.Steps != 1 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A journal that another program holds is nothing to give up: the hint says who is to end,
// not --new.
func TestPrepareRunJournalBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oven.db")
	if err := os.WriteFile(path, []byte("half a journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := journalTrouble(path, &disk.Error{Err: store.ErrBusy, Hint: "close the other program"})
	if told, ok := errors.AsType[fault.Hinted](err); ok {
		t.Errorf("told to %q", told.Hint)
	}
	if told, ok := errors.AsType[fault.Hinted](journalTrouble(path, &disk.Error{Err: store.ErrCorrupt})); !ok || !strings.Contains(told.Hint, "--new") {
		t.Errorf("of a damaged one: %+v", told)
	}
	if _, err := PrepareRunJournal(t.TempDir(), Wanted{}, time.Now()); err == nil || strings.Contains(err.Error(), "--new") {
		t.Errorf("of a folder: %v", err)
	}
}

// A file that is no journal is never replaced without being asked for, and moved
// only where it is.
func TestPrepareRunJournalForeignFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oven.db")
	if err := os.WriteFile(path, []byte("my notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PrepareRunJournal(path, Wanted{}, time.Now()); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	now := time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)
	if _, err := PrepareRunJournal(path, Wanted{Fresh: true}, now); err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "oven.toml")} {
		if filepath.Ext(foreign) == ".toml" {
			if err := os.WriteFile(foreign, []byte("name = \"oven\""), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := PrepareRunJournal(foreign, Wanted{Fresh: true}, now); err == nil {
			t.Errorf("%s was moved aside", foreign)
		}
		if _, err := os.Stat(foreign); err != nil {
			t.Errorf("%s is gone: %v", foreign, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "oven-20260301-210405.db"))
	if err != nil || string(text) != "my notes" {
		t.Errorf("%q, %v", text, err)
	}
}

// A journal without a step whose log is missing may have had steps: it is moved, never
// removed.
func TestPrepareRunJournalWithoutItsLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "oven.db")
	j, err := journal.Create(path, journal.Run{ID: "x", Name: "oven", Mode: "run", Policy: "random",
		Variables:   []journal.Column{{Name: "power", Unit: "W"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"power"}}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".lock", []byte("pid 4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)
	p, err := PrepareRunJournal(path, Wanted{}, now)
	if err != nil || !strings.HasPrefix(p.Done, "moved "+path) || !strings.Contains(p.Done, "oven.db-wal is not there") {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "oven-20260301-210405.db")); err != nil {
		t.Error(err)
	}
}

// TestPrepareRunJournalKeepsOneWithoutAStep: who asked for what is on record there too. It
// goes on where the run is the same, and is moved aside, whole, where it is another.
func TestPrepareRunJournalKeepsOneWithoutAStep(t *testing.T) {
	now := time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)
	for what, c := range map[string]struct {
		warm   []journal.WarmSource // that the run was told of
		want   Wanted
		goesOn bool
	}{
		"same":         {want: Wanted{Config: []byte("a")}, goesOn: true},
		"other file":   {want: Wanted{Config: []byte("b")}},
		"--new":        {want: Wanted{Config: []byte("a"), Fresh: true}},
		"warm start":   {want: Wanted{Config: []byte("a"), Warm: true}},
		"was told":     {want: Wanted{Config: []byte("a")}, warm: []journal.WarmSource{{File: "old.db"}}},
		"told and new": {want: Wanted{Config: []byte("a"), Fresh: true}, warm: []journal.WarmSource{{File: "old.db"}}},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "oven.db")
			j, err := journal.Create(path, journal.Run{ID: "x", Name: "oven", Mode: "run", Policy: "random", ConfigText: []byte("a"),
				Variables:   []journal.Column{{Name: "power", Unit: "W"}},
				ControlSets: []journal.ControlSet{{Variables: []string{"power"}}}}, journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(j.Warm(c.warm), j.Log(journal.Event{Level: "info", Kind: journal.EventCommand, Message: "stop asked for by ada"}), j.Close()); err != nil {
				t.Fatal(err)
			}
			p, err := PrepareRunJournal(path, c.want, now)
			if err != nil || p.Resume != c.goesOn || (p.Done == "") != c.goesOn {
				t.Fatalf("%+v, %v", p, err)
			}
			if !c.goesOn {
				path = strings.TrimSuffix(path, ".db") + "-20260301-210405.db"
			}
			r, err := journal.OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for e, err := range r.Events() {
				if err == nil && e.Message == "stop asked for by ada" {
					return
				}
			}
			t.Error("what was asked for is gone")
		})
	}
}

// What belongs to a journal lies beside the file itself, by whatever link it is named.
func TestJournalBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inDir := func(name string) string { return filepath.Join(dir, name) }
	if err := os.MkdirAll(inDir("disk/deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"folder": "disk/deep", "disk/deep/oven.db": "../file.db", "oven.db": "folder/oven.db", "round.db": "round.db"} {
		if err := os.Symlink(to, inDir(link)); err != nil {
			t.Fatal(err)
		}
	}
	// The last file is not there: a new journal is made in its place.
	for name, want := range map[string]string{"oven.db": "disk/file.db", "folder/oven.db": "disk/file.db", "other.db": "other.db", "round.db": "round.db"} {
		cfg := &configs.Config{Name: "oven", Dir: dir, Journal: configs.Journal{Path: name}}
		if got := RunJournalPath(cfg, "", false); got != inDir(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
