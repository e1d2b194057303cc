package session

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDiskOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if free, size, err := diskOf(path); err != nil || free == 0 || size != 0 {
		t.Errorf("%d free, %d bytes, %v without a journal", free, size, err)
	}
	for name, n := range map[string]int{path: 1000, path + "-wal": 234} {
		if err := os.WriteFile(name, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, size, err := diskOf(path); err != nil || size != 1234 {
		t.Errorf("%d bytes, %v", size, err)
	}
	if _, _, err := diskOf(filepath.Join(path, "no", "folder")); err == nil {
		t.Error("no error for a folder that there is not")
	}
}
