package controlstate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/loop/journal/disk"
)

// A control state that a symbolic link stands for is refused before it is replaced.
func TestLinkedControl(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.control")
	for range 2 {
		c := openControl(t, real)
		if err := c.Write(controlOf(1)); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"-a", "-b"} {
		link := filepath.Join(dir, "link.control")
		if err := os.Symlink(real+part, link+part); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(link, disk.Holder{}); !errors.Is(err, disk.ErrLinked) {
			t.Errorf("%s: %v", part, err)
		}
		if err := os.Remove(link + part); err != nil {
			t.Fatal(err)
		}
	}
}
