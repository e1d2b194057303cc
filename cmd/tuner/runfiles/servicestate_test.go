package runfiles

import (
	"os"
	"path/filepath"
	"testing"
)

// TestServiceState finds the state folder of a unit's configuration, and of no other file.
func TestServiceState(t *testing.T) {
	dir := t.TempDir()
	configs, states := filepath.Join(dir, "etc"), filepath.Join(dir, "var")
	if err := os.MkdirAll(filepath.Join(states, "laser"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(configs, "laser.toml"):              filepath.Join(states, "laser"),
		filepath.Join(configs, "oven.toml"):               "", // has never run
		filepath.Join(configs, "laser"):                   "",
		filepath.Join(configs, "old", "laser.toml"):       "",
		filepath.Join(dir, "laser.toml"):                  "",
		filepath.Join(configs, ".", "x", "../laser.toml"): filepath.Join(states, "laser"),
	} {
		if got := ServiceState(file, configs, states); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
