package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// child is what this test binary does as a process of its own: it writes the demo
// script to the journal named by the job "KIND PATH", from where the journal
// stands, and prints the number of each record that was acknowledged.
func child(job string) int {
	kind, path, _ := strings.Cut(job, " ")
	opts := Options{}
	if kind == "rollback" {
		opts.FileSystem = func(string) (disk.FileSystem, error) { return disk.FileSystem{Name: "nfs"}, nil }
	}
	j, i, err := resume(path, opts)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("writing", i)
	for {
		switch {
		case kind == "hold" && i == 10:
			for { // until it is killed
				time.Sleep(time.Hour)
				runtime.KeepAlive(j) // a journal that nothing refers to is collected, and its lock with it
			}
		case os.Getenv("JOURNAL_TEST_END") == fmt.Sprint(i):
			return 0
		}
		end := i + 1
		if op := i % journaltest.OpsPerStep; os.Getenv("JOURNAL_TEST_TOGETHER") != "" && (op == 1 || op == 4) {
			end = i + 3 // an action with what became of it, or shots with their outcome
		}
		for err := perform(j, i, end); err != nil; err = perform(j, i, end) {
			if !patient(err) {
				fmt.Println("error:", err)
				return 1
			}
		}
		for ; i < end; i++ {
			fmt.Println(i)
		}
	}
}

// perform makes the records first to end-1, several of them together.
func perform(j *Journal, first, end int) error {
	if end == first+1 {
		return journaltest.Perform(j, first)
	}
	return j.Together("records", func() error {
		for i := first; i < end; i++ {
			if err := journaltest.Perform(j, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// patient reports whether the child is to try again: where a test asks for it, and the
// disk is at fault.
func patient(err error) bool {
	if os.Getenv("JOURNAL_TEST_PATIENT") == "" || !errors.Is(err, disk.ErrIO) {
		return false
	}
	fmt.Println("failed:", err)
	time.Sleep(2 * time.Millisecond)
	return true
}

// resume opens the journal, or makes it, and counts the records that it holds.
func resume(path string, opts Options) (j *Journal, i int, err error) {
	j, err = Open(path, opts)
	if errors.Is(err, fs.ErrNotExist) {
		j, err = Create(path, journaltest.DemoRun(), opts)
	}
	if err != nil {
		return nil, 0, err
	}
	r, err := OpenReader(path)
	if err != nil {
		return nil, 0, err
	}
	i, err = scripted(r)
	return j, i, errors.Join(err, r.Close())
}

// startChild runs this test binary as a child and gives its lines.
func startChild(t testing.TB, job string) (*exec.Cmd, <-chan string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+job)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1<<16)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		_ = cmd.Wait() // it was killed, here or by the test
	})
	return cmd, lines
}

// A process that is killed at any instant, also while it makes the journal, loses
// no record that was acknowledged and adds at most the one in flight; the next
// one continues. All in all the journal is that of one undisturbed process.
func TestKill(t *testing.T) {
	for _, kind := range []string{"wal", "rollback"} {
		t.Run(kind, func(t *testing.T) {
			r := journaltest.Seed(t)
			for range testsize.Of(1, 2) { // of two journals: the early kills hit their making
				path := filepath.Join(t.TempDir(), "x.db")
				done := 0
				for round := range 10 {
					// Half of them are killed at any time, half when they have begun to write.
					life := lifetime{time.Duration(r.IntN(60e3)) * time.Microsecond, r.IntN(2) == 0}
					done = killOnce(t, kind+" "+path, done, life)
					if t.Failed() {
						t.Fatalf("in round %d", round)
					}
				}
				for done == 0 && !t.Failed() { // on a slow machine all of them died before their first record
					done = killOnce(t, kind+" "+path, done, lifetime{time.Second, true})
				}
				checkAgainstUndisturbed(t, kind, path)
			}
		})
	}
}

// lifetime is how long a child lives after it began to write, or after its start.
type lifetime struct {
	time.Duration
	writing bool
}

// killOnce runs the child for its lifetime; done is the number of records that
// were there before, and it gives that number as it is then.
func killOnce(t *testing.T, job string, done int, life lifetime) int {
	cmd, lines := startChild(t, job)
	if life.writing {
		<-lines
	}
	time.Sleep(life.Duration)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	acknowledged := done
	for line := range lines {
		var i int
		if _, err := fmt.Sscan(line, &i); err == nil {
			acknowledged = i + 1
		} else if !strings.HasPrefix(line, "writing") {
			t.Fatalf("the child says: %s", line)
		}
	}
	_, path, _ := strings.Cut(job, " ")
	reader, err := OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) && acknowledged == 0 {
		return 0 // it died before the journal was there
	}
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if d := reader.Verify(); d != nil {
		t.Errorf("damage: %v", d)
	}
	n, err := scripted(reader)
	if err != nil || n < acknowledged || n > acknowledged+1 {
		t.Errorf("%d records are there, %d were acknowledged: %v", n, acknowledged, err)
	}
	return n
}

// scripted is performed without the events about the file system.
func scripted(r *Reader) (int, error) {
	n, err := performed(r)
	for e, eerr := range r.Events() {
		if eerr != nil {
			return 0, eerr
		}
		if e.Kind == "journal" {
			n--
		}
	}
	return n, err
}

func checkAgainstUndisturbed(t *testing.T, kind, path string) {
	reader := journaltest.MustRead(t, path)
	n, err := scripted(reader)
	if err != nil || n == 0 {
		t.Fatalf("%d records in the end: %v", n, err)
	}
	status, err := reader.Status()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d records, %d sessions", kind, n, status.Sessions)
	whole, _ := journaltest.Demo(t, n)
	drop := func(s string) string { // the events about the file system
		var kept []string
		for line := range strings.Lines(s) {
			if !strings.Contains(line, "nfs file system") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	if got, want := drop(mustDump(t, path)), mustDump(t, whole); got != want {
		t.Errorf("disturbed and undisturbed differ: %s", journaltest.FirstDifference(got, want))
	}
}

// No record is acknowledged before an fsync has returned: strace looks on.
func TestSyncBeforeAcknowledge(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Logf("not shown here: %v", err)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"wal", "rollback"} {
		dir := t.TempDir()
		trace := filepath.Join(dir, "trace")
		cmd := exec.Command(strace, "-f", "-e", "trace=fsync,fdatasync,write", "-e", "signal=none", "-o", trace, self)
		cmd.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+kind+" "+filepath.Join(dir, "x.db"), "JOURNAL_TEST_END=20")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("not shown here: strace may not look on: %v: %s", err, out)
			return
		}
		lines, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged, synced := 0, false
		for line := range strings.Lines(string(lines)) {
			switch {
			case strings.Contains(line, "sync") && strings.Contains(line, "= 0"):
				synced = true
			case strings.Contains(line, fmt.Sprintf(`write(1, "%d\n"`, acknowledged)):
				if !synced {
					t.Errorf("%s: record %d was acknowledged before an fsync", kind, acknowledged)
				}
				acknowledged, synced = acknowledged+1, false
			}
		}
		if acknowledged != 20 {
			t.Errorf("%s: strace saw %d of 20 acknowledgements", kind, acknowledged)
		}
	}
}
