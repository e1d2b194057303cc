package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// A second process is refused and told who has the journal; when that dies, by
// whatever cause, the way is free.
func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	holder, lines := startChild(t, "hold "+path)
	if line := <-lines; line != "writing 0" {
		t.Fatalf("the holder says %q", line)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("process %d on %s since 2026-03-01T21:04:05Z writes it; wait for that process to end", holder.Process.Pid, host)
	_, err = Open(path, Options{})
	if !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if err := Unlocked(path); !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), want) {
		t.Errorf("asked who has it: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, Options{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("by another name: %v", err)
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
	if err := Unlocked(path); err != nil {
		t.Errorf("asked who has it when nobody has: %v", err)
	}
	if ss, err := journaltest.MustRead(t, path).Sessions(); err != nil || len(ss) != 1 {
		t.Errorf("%d sessions: asking has left one: %v", len(ss), err)
	}
	j, err := Open(path, Options{Session: Session{PID: 4711}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := Open(path, Options{}); !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), "process 4711 on "+host+" writes it") {
		t.Errorf("a second writer in one process: %v", err)
	}
	if err := os.WriteFile(path+".lock", []byte("garbage\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), "another process writes it") {
		t.Errorf("a lock file that says nothing: %v", err)
	}
}
