package host

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// A file that cannot be made is named as the person named it, not by the name under which it is written.
func TestWriteFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "f.svg")
	err := WriteFile(path, func(io.Writer) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), path+" cannot be written: no such file") {
		t.Errorf("got %v", err)
	}
}
