package services

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

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
	if err := errors.Join(c.Write(controlstate.State{}), runfiles.SaveGood("other.control", text)); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []bool{false, true} {
		if broken {
			if err := os.WriteFile("service.toml", []byte("tick ="), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // it may be repeated
			e, out, errOut, _ := hosttest.Env("make-safe", "service.toml")
			if code := commands.Execute(t.Context(), e); code != fault.ExitOK || !strings.Contains(out.String(), "actuator x: at its safe value, 0.25") {
				t.Errorf("broken %v: exit code %d\n%s%s", broken, code, out, errOut)
			}
			if told := strings.Contains(errOut.String(), "which the last run of it went by"); told != broken {
				t.Errorf("broken %v: %s", broken, errOut)
			}
		}
	}
}
