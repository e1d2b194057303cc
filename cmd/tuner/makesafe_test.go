package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// TestAfterService goes through what systemd.exec(5) says of $SERVICE_RESULT: only an
// end that tuner confirmed itself keeps make-safe from its work.
func TestAfterService(t *testing.T) {
	t.Chdir(t.TempDir())
	writeService(t)
	for _, c := range []struct {
		result, code, status string
		nothing              bool
	}{
		{"success", "exited", "0", true},
		{"success", "exited", "130", true},
		{"success", "killed", "TERM", false},
		{"exit-code", "exited", "7", false},
		{"exit-code", "exited", "4", false},
		{"exit-code", "exited", "5", false},
		{"watchdog", "dumped", "ABRT", false},
		{"watchdog", "exited", "0", false},
		{"signal", "killed", "KILL", false},
		{"oom-kill", "killed", "KILL", false},
		{"timeout", "exited", "130", false},
		{"", "", "", false},
	} {
		e, out, errOut, _ := testEnv("make-safe", "--after-service", "service.toml")
		of := map[string]string{"SERVICE_RESULT": c.result, "EXIT_CODE": c.code, "EXIT_STATUS": c.status}
		e.Lookup = func(name string) (string, bool) { v, ok := of[name]; return v, ok }
		if code := execute(t.Context(), e); code != fault.ExitOK {
			t.Fatalf("exit code %d\n%s", code, errOut)
		}
		did := strings.Contains(out.String(), "actuator x: at its safe value, 0.25")
		if did == c.nothing || strings.Contains(out.String(), "nothing to do") != c.nothing {
			t.Errorf("%+v: %s", c, out)
		}
	}
}

// TestMakeSafeBesideARun: what a running tuner holds, the locks of its control state and its
// journal, does not keep make-safe from its work, also where the file has been broken since the
// run began.
func TestMakeSafeBesideARun(t *testing.T) {
	t.Chdir(t.TempDir())
	writeService(t)
	text, err := os.ReadFile("service.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := controlstate.Open("other.control", disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Belongs(controlstate.Instrument{Config: host.Absolute("service.toml"), Name: "bench"})
	if err := errors.Join(c.Write(controlstate.State{}), runfiles.KeepGood("other.control", text)); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []bool{false, true} {
		if broken {
			if err := os.WriteFile("service.toml", []byte("tick ="), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // it may be repeated
			e, out, errOut, _ := testEnv("make-safe", "service.toml")
			if code := execute(t.Context(), e); code != fault.ExitOK || !strings.Contains(out.String(), "actuator x: at its safe value, 0.25") {
				t.Errorf("broken %v: exit code %d\n%s%s", broken, code, out, errOut)
			}
			if told := strings.Contains(errOut.String(), "which the last run of it went by"); told != broken {
				t.Errorf("broken %v: %s", broken, errOut)
			}
		}
	}
}
