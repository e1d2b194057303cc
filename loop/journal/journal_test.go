package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// A second session continues where the first stopped, open step and all.
func TestResume(t *testing.T) {
	path, j := journaltest.Demo(t, 5)
	for i := 5; i < 30; i++ {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if j, err = Open(path, Options{Session: Session{PID: 100 + i, Version: "v0.2.0", BootID: "b008", Start: journaltest.After(time.Duration(i) * time.Minute)}}); err != nil {
			t.Fatal(err)
		}
		journaltest.PerformFrom(t, j, i, i+1)
	}
	defer j.Close()
	whole, _ := journaltest.Demo(t, 30)
	if got, want := mustDump(t, path), mustDump(t, whole); got != want {
		t.Errorf("26 sessions and one differ: %s", journaltest.FirstDifference(got, want))
	}
	sessions, err := journaltest.MustRead(t, path).Sessions()
	want := Session{Number: 26, PID: 129, Version: "v0.2.0", BootID: "b008", Start: journaltest.After(29 * time.Minute)}
	if err != nil || len(sessions) != 26 || sessions[25] != want || j.Session() != 26 {
		t.Errorf("sessions: %v, the last of %d is %+v", err, len(sessions), sessions[len(sessions)-1])
	}
}

// Readers see each record as soon as it is written, never half of one, and do not
// hold up the writer.
func TestReadWhileWriting(t *testing.T) {
	path, j := journaltest.Demo(t, 0)
	r := journaltest.MustRead(t, path)
	const n = 15 * journaltest.OpsPerStep
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for last := 0; ; {
				got, err := performed(r)
				if damage := r.Verify(); err != nil || got < last || damage != nil {
					t.Errorf("a reader saw %d records after %d: %v, damage %v", got, last, err, damage)
					return
				}
				last = got
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range n {
		journaltest.PerformFrom(t, j, i, i+1)
	}
	got, err := performed(r)
	close(stop)
	wg.Wait()
	if err != nil || got != n {
		t.Errorf("the reader sees %d of %d records: %v", got, n, err)
	}
	if d := r.Verify(); d != nil {
		t.Errorf("damage: %v", d)
	}
	// A reader that stays does not keep the writer from closing.
	if err := errors.Join(j.Finish("done", []byte("{}"), Stamp{}), j.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := performed(r); err != nil || got != n {
		t.Errorf("after the end the reader sees %d of %d records: %v", got, n, err)
	}
	mustDump(t, path)
}

// Where memory cannot be shared the journal is kept without a log, and says so.
func TestNetworkFileSystem(t *testing.T) {
	opts := Options{FileSystem: func(string) (disk.FileSystem, error) { return disk.FileSystem{Name: "nfs"}, nil }}
	path := filepath.Join(t.TempDir(), "x.db")
	j, err := Create(path, journaltest.DemoRun(), opts)
	if err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, 0, 20)
	if n := j.Notices(); len(n) != 1 || !strings.Contains(n[0], "nfs file system") {
		t.Errorf("notices: %q", n)
	}
	if mode, sync, err := j.Modes(); err != nil || mode != "delete" || sync != "3" {
		t.Errorf("journal mode %q, synchronous %s, want delete and 3 (EXTRA): %v", mode, sync, err)
	}
	for e, err := range journaltest.MustRead(t, path).Events() {
		if err != nil || e.Level != "warn" || !strings.Contains(e.Message, "nfs") {
			t.Errorf("the first event: %+v %v", e, err)
		}
		break
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	mustDump(t, path)
	// The same journal, moved to a local disk, takes a log from then on.
	j, err = Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	journaltest.PerformFrom(t, j, 20, 30)
	if _, err := os.Stat(path + "-wal"); err != nil || j.Notices() != nil {
		t.Errorf("no log on a local disk: %v, notices %q", err, j.Notices())
	}
	fails := Options{FileSystem: func(string) (disk.FileSystem, error) { return disk.FileSystem{}, errors.New("statfs: gone") }}
	if _, err := Create(path+"2", journaltest.DemoRun(), fails); err == nil || !strings.Contains(err.Error(), "statfs: gone") {
		t.Errorf("a file system that cannot be looked at: %v", err)
	}
}

// A writer that died in the middle of a transaction without a log leaves a
// rollback journal, which a reader must play back before it may believe the file.
func TestHotRollbackJournal(t *testing.T) {
	dir := t.TempDir()
	source, path := filepath.Join(dir, "source.db"), filepath.Join(dir, "x.db")
	opts := Options{FileSystem: func(string) (disk.FileSystem, error) { return disk.FileSystem{Name: "nfs"}, nil }}
	j, err := Create(source, journaltest.DemoRun(), opts)
	if err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, 0, 20)
	want := mustDump(t, source)
	// With a cache of one page, changed pages reach the file before the commit.
	err = errors.Join(j.Exec("PRAGMA cache_size = 1"), j.Exec("BEGIN IMMEDIATE"))
	for i := 0; err == nil && i < 500; i++ {
		err = j.Insert(int64(100+i), "half")
	}
	if err != nil {
		t.Fatal(err)
	}
	main := journaltest.CopyFile(t, source, path)
	journaltest.CopyFile(t, source+"-journal", path+"-journal")
	if !strings.Contains(string(main), "half") {
		t.Fatal("the transaction has not reached the file, so this shows nothing")
	}
	if got := mustDump(t, path); got != want {
		t.Errorf("a transaction that never ended shows: %s", journaltest.FirstDifference(got, want))
	}
	if err := errors.Join(j.Exec("ROLLBACK"), j.Close()); err != nil {
		t.Fatal(err)
	}
}

// A journal that is opened in a bubble of virtual time works in it.
func TestInBubble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		j, err := Create(path, journaltest.DemoRun(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			time.Sleep(time.Hour)
			journaltest.PerformFrom(t, j, i, i+1)
		}
		r := journaltest.MustRead(t, path)
		if n, err := performed(r); err != nil || n != 50 {
			t.Errorf("%d of 50 records: %v", n, err)
		}
		if err := errors.Join(r.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
	})
	mustDump(t, path)
}
