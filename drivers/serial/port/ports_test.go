package port

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDescribePorts: a real pty and its stable name are found; a link that leads
// nowhere is left out.
func TestDescribePorts(t *testing.T) {
	p, err := OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	folder := t.TempDir()
	stable := filepath.Join(folder, "usb-maker_meter-if00")
	if err := p.Link(stable); err != nil {
		t.Fatal(err)
	}
	target, err := filepath.EvalSymlinks(stable)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/nothing-here", filepath.Join(folder, "usb-gone")); err != nil {
		t.Fatal(err)
	}
	want := []Info{{Path: "/dev/null"}, {Path: target, Stable: stable}}
	if got := describePorts([]string{"/dev/null"}, folder); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	gone := describePorts([]string{"/dev/tty-not-here"}, folder)
	if len(gone) != 2 || gone[1].Problem == "" {
		t.Errorf("a port that is gone: %+v", gone)
	}
}

func TestPortsOfThisComputer(t *testing.T) {
	ports, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ports {
		if _, err := os.Stat(p.Path); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
