package journal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
	"github.com/labtuner/tuner/scripts/testsize"
)

// TestFailingDiskLosesNothing has the kernel fail the calls of a process that goes on
// trying: what it acknowledged is there, what failed is there once, and all in all the
// journal is that of an undisturbed process. strace does it, where it may.
func TestFailingDiskLosesNothing(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Logf("not shown here: %v", err)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := journaltest.Seed(t)
	const records = 60
	for range journaltest.Rounds(t, 1) {
		for f, fault := range []string{"fsync,fdatasync:error=EIO", "pwrite64:error=ENOSPC", "pwrite64:error=EROFS", "pwrite64:error=EIO"} {
			for k, kind := range []string{"wal", "rollback"} {
				if (f%2 == k || f > 1) && !testsize.Whole() {
					continue
				}
				dir := t.TempDir()
				path := filepath.Join(dir, "x.db")
				whole := exec.Command(self)
				whole.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+kind+" "+path, "JOURNAL_TEST_END=5")
				if out, err := whole.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				// The calls to open and read the file come first and are spared.
				first := 26 + r.IntN(60)
				if strings.HasPrefix(fault, "fsync") && kind == "wal" { // one a record, and strace counts each thread for itself; without a log there are more, also at the start
					first = 8 + r.IntN(20)
				}
				when := fmt.Sprintf("%s:when=%d..%d", fault, first, first+1+r.IntN(25))
				cmd := exec.Command(strace, "-f", "-qq", "-e", "signal=none", "-e", "trace="+strings.Split(fault, ":")[0], "-e", "inject="+when, "-o", "/dev/null", self)
				cmd.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+kind+" "+path, "JOURNAL_TEST_PATIENT=1", "GOMAXPROCS=1", fmt.Sprintf("JOURNAL_TEST_END=%d", records))
				what := kind + " " + when
				if r.IntN(2) == 0 {
					cmd.Env, what = append(cmd.Env, "JOURNAL_TEST_TOGETHER=1"), what+", records together"
				}
				out, err := cmd.CombinedOutput()
				if err != nil && strings.Contains(string(out), "ptrace") {
					t.Logf("not shown here: strace may not look on: %s", out)
					return
				}
				checkFailing(t, what, failing{path, string(out), err, records})
			}
		}
	}
}

// failing is what became of a child whose disk failed.
type failing struct {
	path, out string
	err       error
	records   int
}

func checkFailing(t *testing.T, what string, f failing) {
	t.Helper()
	failed, next := 0, 5
	for line := range strings.Lines(f.out) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "failed: "):
			failed++
		case line == fmt.Sprint(next):
			next++
		case !strings.HasPrefix(line, "writing"):
			t.Errorf("%s: the child says %s", what, line)
		}
	}
	if f.err != nil && strings.Contains(f.out, "error: ") {
		t.Errorf("%s: the child ended: %v", what, f.err)
		return
	}
	reader := journaltest.MustRead(t, f.path)
	if d := reader.Verify(); d != nil {
		t.Errorf("%s: damage %v", what, d)
	}
	n, err := scripted(reader)
	if err != nil || n != f.records || next != f.records {
		t.Errorf("%s: %d records are there, %d were acknowledged, want %d: %v", what, n, next, f.records, err)
	}
	whole, _ := journaltest.Demo(t, f.records)
	if got, want := withoutNotices(mustDump(t, f.path)), mustDump(t, whole); got != want {
		t.Errorf("%s: %s", what, journaltest.FirstDifference(got, want))
	}
	t.Logf("%s: %d attempts failed", what, failed)
}

// withoutNotices drops the events about the file system from a dump.
func withoutNotices(s string) string {
	var kept []string
	for line := range strings.Lines(s) {
		if !strings.Contains(line, "nfs file system") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestFullDisk fills the disk of this very process, by the limit on the size of a file,
// which needs no rights: each record fails with words, none is lost or half there, and
// when there is room again the same journal goes on.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	path, j := journaltest.Demo(t, 10)
	var had syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &had); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: had.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(had.Cur)
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	done := 10
	for extra := int64(0); extra < 40_000; extra += 3000 { // full at another byte each time
		limit(uint64(info.Size() + extra))
		var failure error
		for failure == nil && done < 1000 {
			if failure = journaltest.Perform(j, done); failure == nil {
				done++
			}
		}
		for range 3 {
			if failure = journaltest.Perform(j, done); failure == nil {
				done++ // folding the log has made room
			}
		}
		if failure != nil && !errors.Is(failure, disk.ErrIO) {
			t.Fatalf("record %d: %v", done, failure)
		}
		limit(had.Cur)
		for range 3 {
			if err := journaltest.Perform(j, done); err != nil {
				t.Fatalf("with room again, record %d: %v", done, err)
			}
			done++
		}
	}
	if n, err := performed(journaltest.MustRead(t, path)); err != nil || n != done {
		t.Errorf("%d records are there, %d were acknowledged: %v", n, done, err)
	}
	whole, _ := journaltest.Demo(t, done)
	if got, want := mustDump(t, path), mustDump(t, whole); got != want {
		t.Error(journaltest.FirstDifference(got, want))
	}
}

// TestWhatIsGoneAfterAFailureIsMissed: a disk that fails may lose what it had acknowledged.
// Whatever kind of record is gone, the journal does not go on without it.
func TestWhatIsGoneAfterAFailureIsMissed(t *testing.T) {
	for gone, remove := range map[string]string{
		"nothing":         "SELECT 1",
		"a step":          "DELETE FROM decision_value WHERE step = 2; DELETE FROM decision WHERE step = 2",
		"an outcome":      "DELETE FROM outcome_value WHERE step = 1; DELETE FROM outcome WHERE step = 1; DELETE FROM decision_value WHERE step = 2; DELETE FROM decision WHERE step = 2",
		"an action":       "DELETE FROM action_channel WHERE action = 2; DELETE FROM action WHERE id = 2",
		"an event":        "DELETE FROM event WHERE id = 1",
		"a command":       "DELETE FROM command WHERE id = 1",
		"a piece of tape": "DELETE FROM tape WHERE id = 2",

		"the first piece of tape":    "DELETE FROM tape WHERE id = 1",
		"a shot's reading":           "DELETE FROM shot_reading WHERE step = 1 AND shot = 0 AND sensor = 0",
		"what became of an action":   "DELETE FROM action_state WHERE action = 1 AND n = 2; DELETE FROM action_readback WHERE action = 1 AND state = 2",
		"an answer":                  "DELETE FROM command_answer",
		"a comparison":               "DELETE FROM comparison",
		"a result of a comparison":   "DELETE FROM comparison_result",
		"an observation before":      "DELETE FROM warm_value; DELETE FROM warm",
		"where it comes from":        "DELETE FROM warm_source",
		"a configuration":            "DELETE FROM setting; DELETE FROM config",
		"what decided":               "DELETE FROM session_decisions",
		"how many shots were wanted": "DELETE FROM decision_shots",
		"the facts of an event":      "DELETE FROM event_facts",
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		j, err := Create(path, journaltest.DemoRun(), Options{})
		mustDo(t, err)
		mustDo(t, j.Warm([]WarmSource{{File: "earlier.db", Taken: []WarmObservation{{X: []float64{1, 2}, Shots: 1}}}}))
		journaltest.PerformFrom(t, j, 0, journaltest.OpsPerStep+2)
		id, err := j.Order(Command{Name: "pause"})
		mustDo(t, err, j.Answer(id, Answer{OK: true}),
			j.Compare(Comparison{Number: 1, Recommended: []float64{1, 2}, Start: []float64{3, 4}}), j.CompareResult(ComparisonResult{Comparison: 1, Document: []byte("{}")}),
			j.Tape([]byte("{}"), 0, Stamp{}), j.Tape([]byte("ticks"), 9, Stamp{}))
		other, err := NewStranger(path)
		mustDo(t, err, other.Exec("PRAGMA foreign_keys = off"), other.Exec(remove), other.Close())
		// The disk takes nothing more, until the file is opened again.
		mustDo(t, j.Exec("PRAGMA max_page_count = 1"))
		if err := j.Log(Event{Level: "info", Message: strings.Repeat("x", 1<<20)}); !errors.Is(err, disk.ErrIO) {
			t.Fatalf("%s: a full disk: %v", gone, err)
		}
		err = j.Log(Event{Level: "info", Message: "after it"})
		if (gone == "nothing") != (err == nil) || err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s is gone: %v", gone, err)
		}
		if err := j.Close(); (gone == "nothing") != (err == nil) {
			t.Errorf("%s is gone, and it is closed: %v", gone, err)
		}
	}
}
