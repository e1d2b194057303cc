package controlstate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// TestLatchOnAFullDisk: what is latched while the disk is full is latched for the next
// process, with what was dosed before, until a state is written again.
func TestLatchOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.control")
	c := openControl(t, path)
	calm := controlOf(1)
	calm.Latched, calm.FirstOut, calm.Mode = nil, nil, "RUN"
	if err := c.Write(calm); err != nil {
		t.Fatal(err)
	}
	again := func(latched int) {
		t.Helper()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = openControl(t, path)
		if s := c.State(); len(s.Latched) != latched || len(s.FirstOut) != latched || s.Doses["calcium"].Total != 1 || len(c.Notices()) != latched {
			t.Fatalf("latched %v, first %v, doses %v, %v; want %d", s.Latched, s.FirstOut, s.Doses, c.Notices(), latched)
		}
	}
	journaltest.FullFor(t, func() {
		if err := c.Write(calm); !errors.Is(err, disk.ErrIO) {
			t.Errorf("a full disk: %v", err)
		}
	})
	again(0)
	for range 2 { // twice: a second failure changes nothing
		journaltest.FullFor(t, func() {
			if err := c.Write(controlOf(1)); !errors.Is(err, disk.ErrIO) || strings.Contains(err.Error(), "noted") {
				t.Errorf("a full disk: %v", err)
			}
		})
	}
	again(1)
	if text := c.State().FirstOut[0].String(); !strings.Contains(text, "the disk did not take") || c.State().Mode != "TRIPPED" {
		t.Errorf("%s, first out %q", c.State().Mode, text)
	}
	journaltest.FullFor(t, func() { // nobody has reset it: a reset failed
		if err := c.Write(calm); !errors.Is(err, disk.ErrIO) {
			t.Errorf("a full disk: %v", err)
		}
	})
	again(1)
	if err := c.Write(calm); err != nil {
		t.Fatal(err)
	}
	again(0)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLatchThatNothingTakes: where not even the mark can be made, the error says so.
func TestLatchThatNothingTakes(t *testing.T) {
	dir := t.TempDir()
	c := openControl(t, filepath.Join(dir, "x.control"))
	c.path = filepath.Join(dir, "gone", "x.control")
	if err := c.Write(controlOf(1)); !errors.Is(err, disk.ErrIO) || !strings.Contains(err.Error(), "nor can it be noted that something is latched") {
		t.Errorf("error %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestMarkThatStays: a state that was written while its mark cannot be removed is not
// reported as written, and the next process finds it latched.
func TestMarkThatStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.control")
	if err := os.MkdirAll(filepath.Join(path+"-latched", "full"), 0o755); err != nil { // a folder with something in it stays
		t.Fatal(err)
	}
	c := openControl(t, path)
	if len(c.State().Latched) != 1 {
		t.Errorf("latched %v", c.State().Latched)
	}
	if err := c.Write(State{}); !errors.Is(err, disk.ErrIO) || !strings.Contains(err.Error(), "a start is refused") {
		t.Errorf("error %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c = openControl(t, path); len(c.State().Latched) != 1 || c.State().Generation != 1 {
		t.Errorf("state %+v", c.State())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMarkAhead: a latch that waits for its state to be written is one for the next process,
// and none is left when the state has been written, whichever of the two comes first.
func TestMarkAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.control")
	c := openControl(t, path)
	calm, tripped := controlOf(1), controlOf(2)
	calm.Latched, calm.FirstOut, calm.Mode = nil, nil, "RUN"
	write := func(s State, marks uint64) {
		t.Helper()
		s.Marks = marks
		if err := c.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	ahead := func(n uint64) {
		t.Helper()
		if err := c.MarkAhead(n); err != nil {
			t.Fatal(err)
		}
	}
	marked := func(want bool) {
		t.Helper()
		if _, err := os.Stat(path + "-latched"); (err == nil) != want {
			t.Fatalf("the mark is there: %v, want %v", err == nil, want)
		}
	}
	ahead(1)
	write(calm, 0) // one from before the latch, which had to wait
	marked(true)
	write(tripped, 1)
	marked(false)
	write(tripped, 2) // the state is quicker than its mark
	ahead(2)
	marked(false)
	journaltest.FullFor(t, func() { // the state is not taken; its mark stays one
		tripped.Marks = 3
		if err := c.Write(tripped); !errors.Is(err, disk.ErrIO) {
			t.Errorf("a full disk: %v", err)
		}
	})
	ahead(3)
	write(calm, 3) // a person has reset it
	marked(false)
	ahead(4)
	if err := c.Close(); err != nil { // and the process ends
		t.Fatal(err)
	}
	c = openControl(t, path)
	if s := c.State(); len(s.Latched) != 1 || s.Mode != "TRIPPED" {
		t.Errorf("the next process finds %s, latched %v", s.Mode, s.Latched)
	}
	write(calm, 0)
	marked(false)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
