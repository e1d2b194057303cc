package controlstate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestLostControlStateIsWrittenAnew: whatever stands at its names by then.
func TestLostControlStateIsWrittenAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.control")
	c := openControl(t, path)
	defer c.Close()
	mustDo(t, c.Write(controlOf(1)))
	older, err := os.ReadFile(path + "-b")
	mustDo(t, err)
	for range 20 { // newer by far than what is put in its place
		mustDo(t, c.Write(controlOf(2)))
	}
	if found, err := c.Look(); found != "" || err != nil {
		t.Fatalf("nothing happened: %q, %v", found, err)
	}
	mustDo(t, os.Remove(path+"-a"), os.WriteFile(path+"-b", older, 0o600))
	if found, err := c.Look(); found == "" || err != nil {
		t.Fatalf("a copy deleted, the other replaced: %q, %v", found, err)
	}
	s, err := Peek(path)
	if err != nil || s.Doses["calcium"].Total != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if found, err := c.Look(); found != "" || err != nil {
		t.Errorf("it was mended: %q, %v", found, err)
	}
}

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
