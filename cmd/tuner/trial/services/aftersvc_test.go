package services

import (
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestAfterService goes through what systemd.exec(5) says of $SERVICE_RESULT: only an
// end that tuner confirmed itself keeps make-safe from its work.
func TestAfterService(t *testing.T) {
	t.Parallel()
	file, _ := writeService(t)
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
		e, out, errOut, _ := hosttest.Env("make-safe", "--after-service", file)
		of := map[string]string{"SERVICE_RESULT": c.result, "EXIT_CODE": c.code, "EXIT_STATUS": c.status}
		e.Lookup = func(name string) (string, bool) { v, ok := of[name]; return v, ok }
		if code := commands.Execute(t.Context(), e); code != fault.ExitOK {
			t.Fatalf("exit code %d\n%s", code, errOut)
		}
		did := strings.Contains(out.String(), "actuator x: at its safe value, 0.25")
		if did == c.nothing || strings.Contains(out.String(), "nothing to do") != c.nothing {
			t.Errorf("%+v: %s", c, out)
		}
	}
}
