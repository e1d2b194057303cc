package configs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bench.toml")
	if err := os.WriteFile(path, []byte(smallText), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, known())
	if err != nil {
		t.Fatal(err)
	}
	if c.File != path || c.Dir != dir || string(c.Text) != smallText {
		t.Errorf("file %q, dir %q, %d bytes", c.File, c.Dir, len(c.Text))
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(smallText))); c.SHA256 != want {
		t.Errorf("digest %s, want %s", c.SHA256, want)
	}
}

func TestLoadMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.toml")
	_, err := Load(path, known())
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want an *Error around fs.ErrNotExist", err)
	}
	if want := path + ": cannot be read: no such file or directory"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !strings.Contains(e.Problems[0].Hint, "tuner config") {
		t.Errorf("hint %q", e.Problems[0].Hint)
	}
}

func TestNewError(t *testing.T) {
	if err := NewError(); err != nil {
		t.Errorf("an error without problems: %v", err)
	}
	given := []Problem{{File: "f", Line: 9, Key: "c", What: "third"}, {File: "f", Line: 2, Key: "a", What: "first"}, {File: "f", Line: 2, What: "second"}}
	err := NewError(given...)
	if want := "f:2: a: first\nf:2: second\nf:9: c: third"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if given[0].Line != 9 {
		t.Error("the caller's problems were reordered")
	}
}

func TestProblemString(t *testing.T) {
	for want, p := range map[string]Problem{
		"f.toml:3: tick: must be x": {File: "f.toml", Line: 3, Key: "tick", What: "must be x", Hint: "y"},
		"f.toml: must be x":         {File: "f.toml", What: "must be x"},
		"tick: must be x":           {Line: 3, Key: "tick", What: "must be x"},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
