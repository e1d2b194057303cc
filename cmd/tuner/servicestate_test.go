package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		if got := serviceState(file, configs, states); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestResetFromElsewhere: where nothing of a run is here, its running tuner is asked; where
// there is no broker either, it is said where the state would be.
func TestResetFromElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	writeService(t)
	reset := func() (int, string) {
		e, out, errOut, _ := testEnv("reset", "service.toml")
		e.now = time.Now
		return execute(t.Context(), e), out.String() + errOut.String()
	}
	if code, said := reset(); code != exitOK || !strings.Contains(said, "nothing is latched: there is no ") {
		t.Errorf("without a broker: exit code %d, %s", code, said)
	}
	for _, name := range []string{"service.control-a", "service.control-b"} {
		_ = os.Remove(name) // the first one may have made neither
	}
	with := serviceFile + "\n[mqtt]\nbroker = \"tcp://127.0.0.1:1\"\ncommands = true\n"
	if err := os.WriteFile("service.toml", []byte(with), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := reset(); code != exitInstrument || !strings.Contains(said, "there is no control state here (") {
		t.Errorf("with a broker that is not there: exit code %d, %s", code, said)
	}
}
