package services

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// TestMakeSafeBesideARun: what a running tuner holds, the locks of its control state and its
// journal, does not keep make-safe from its work, also where the file has been broken since the
// run began.
func TestMakeSafeBesideARun(t *testing.T) {
	t.Parallel()
	file, _ := writeService(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(file), "other.control")
	c, err := controlstate.Open(other, disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Belongs(controlstate.Instrument{Config: file, Name: "bench"})
	if err := errors.Join(c.Write(controlstate.State{}), runfiles.SaveGood(other, text)); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []bool{false, true} {
		if broken {
			if err := os.WriteFile(file, []byte("tick ="), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // it may be repeated
			e, out, errOut, _ := hosttest.Env("make-safe", file)
			if code := commands.Execute(t.Context(), e); code != fault.ExitOK || !strings.Contains(out.String(), "actuator x: at its safe value, 0.25") {
				t.Errorf("broken %v: exit code %d\n%s%s", broken, code, out, errOut)
			}
			if told := strings.Contains(errOut.String(), "which the last run of it went by"); told != broken {
				t.Errorf("broken %v: %s", broken, errOut)
			}
		}
	}
}
