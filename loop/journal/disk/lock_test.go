package disk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

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
				l, err := TakeLock(path, Holder{PID: 1})
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
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestLockOfTheDeadIsWaitedFor: a lock that a child of a dead process still has is waited
// for, one of a live process is not.
func TestLockOfTheDeadIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	dead := exec.Command("true")
	mustDo(t, dead.Run())
	l, err := TakeLock(path, Holder{PID: dead.Process.Pid})
	mustDo(t, err)
	released := make(chan error)
	go func() {
		time.Sleep(50 * time.Millisecond)
		released <- l.file.Close()
	}()
	again, err := TakeLock(path, Holder{PID: os.Getpid()})
	mustDo(t, err, <-released)
	if _, err := TakeLock(path, Holder{}); !errors.Is(err, ErrLocked) {
		t.Errorf("of a live process: %v", err)
	}
	mustDo(t, again.Release())
}

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
