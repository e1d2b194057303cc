package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// child is what this test binary does as a process of its own: it writes the demo
// script to the journal named by the job "KIND PATH", from where the journal
// stands, and prints the number of each record that was acknowledged.
func child(job string) int {
	kind, path, _ := strings.Cut(job, " ")
	opts := Options{}
	if kind == "rollback" {
		opts.FileSystem = func(string) (FileSystem, error) { return FileSystem{Name: "nfs"}, nil }
	}
	j, i, err := resume(path, opts)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("writing", i)
	for ; ; i++ {
		if kind == "hold" && i == 10 {
			select {} // until it is killed
		}
		if err := perform(j, i); err != nil {
			fmt.Println("error:", err)
			return 1
		}
		fmt.Println(i)
	}
}

// resume opens the journal, or makes it, and counts the records that it holds.
func resume(path string, opts Options) (j *Journal, i int, err error) {
	j, err = Open(path, opts)
	if errors.Is(err, fs.ErrNotExist) {
		j, err = Create(path, demoRun(), opts)
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

// seed gives the seed of a random test: JOURNAL_SEED, or a new one, which it logs.
func seed(t testing.TB) *rand.Rand {
	n := rand.Uint64()
	if s := os.Getenv("JOURNAL_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatalf("JOURNAL_SEED: %v", err)
		}
	}
	t.Logf("JOURNAL_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 0))
}

// A process that is killed at any instant, also while it makes the journal, loses
// no record that was acknowledged and adds at most the one in flight; the next
// one continues. All in all the journal is that of one undisturbed process.
func TestKill(t *testing.T) {
	for _, kind := range []string{"wal", "rollback"} {
		t.Run(kind, func(t *testing.T) {
			r := seed(t)
			for range 2 { // two journals: the early kills hit their making
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
	reader := mustRead(t, path)
	n, err := scripted(reader)
	if err != nil || n == 0 {
		t.Fatalf("%d records in the end: %v", n, err)
	}
	status, err := reader.Status()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d records, %d sessions", kind, n, status.Sessions)
	whole, _ := demo(t, n)
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
		t.Errorf("disturbed and undisturbed differ: %s", firstDifference(got, want))
	}
}

// A second process is refused and told who has the journal; when that dies, by
// whatever cause, the way is free.
func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	holder, lines := startChild(t, "hold "+path)
	if line := <-lines; line != "writing 0" {
		t.Fatalf("the holder says %q", line)
	}
	want := fmt.Sprintf("process %d since 2026-03-01T21:04:05Z writes it; wait for that process to end", holder.Process.Pid)
	_, err := Open(path, Options{})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	_, second := startChild(t, "wal "+path)
	if line := <-second; !strings.Contains(line, want) {
		t.Errorf("a second process got %q, want %q", line, want)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines { // until it is gone
	}
	j, err := Open(path, Options{Session: Session{PID: 4711}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "process 4711 writes it") {
		t.Errorf("a second writer in one process: %v", err)
	}
	if err := os.WriteFile(path+".lock", []byte("garbage\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "another process writes it") {
		t.Errorf("a lock file that says nothing: %v", err)
	}
}

// Whoever wins the race for the lock is alone: the file that is locked is the one
// that has the name.
func TestLockRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var holders int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				l, err := lock(path, Session{PID: 1})
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if holders++; holders > 1 {
					t.Errorf("%d hold the lock", holders)
				}
				mu.Unlock()
				mu.Lock()
				holders--
				mu.Unlock()
				if err := l.release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
