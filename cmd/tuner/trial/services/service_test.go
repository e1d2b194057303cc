package services

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

const stopSignal = syscall.SIGTERM

// serviceFile runs for as long as one likes on a plant in this process, in real time.
const serviceFile = `schema = 1
name = "service"
tick = "10ms"

[plant]
kind = "laser"

[objective]
sensor = "pulse_energy"
shots = 2

[[sensor]]
name = "pulse_energy"
unit = "mJ"
device = "bench"
channel = "energy"
range = [0.0, 20.0]
max_age = "1m"

[[variable]]
name = "x"
unit = "V"
range = [0.0, 1.0]
start = 0.5
device = "bench"
channel = "x"
readback = { tolerance = 0.05, timeout = "1m" }

[[variable]]
name = "y"
unit = "V"
range = [0.0, 1.0]
start = 0.5
device = "bench"
channel = "y"
readback = { tolerance = 0.05, timeout = "1m" }

[[variable]]
name = "z"
unit = "V"
range = [0.0, 1.0]
start = 0.5
device = "bench"
channel = "z"
readback = { tolerance = 0.05, timeout = "1m" }

[[variable]]
name = "w"
unit = "V"
range = [0.0, 1.0]
start = 0.5
device = "bench"
channel = "w"
readback = { tolerance = 0.05, timeout = "1m" }

[policy]
kind = "random"

[stop]
steps = 100000

[safety.variable.x]
hard = [0.0, 1.0]
slew = 20.0
safe = 0.25
on_fault = "safe"
shutdown = "safe"

[safety.variable.y]
hard = [0.0, 1.0]
slew = 20.0
safe = 0.25
on_fault = "safe"
shutdown = "safe"

[safety.variable.z]
hard = [0.0, 1.0]
slew = 20.0
safe = 0.25
on_fault = "safe"
shutdown = "safe"

[safety.variable.w]
hard = [0.0, 1.0]
slew = 20.0
safe = 0.25
on_fault = "safe"
shutdown = "safe"

[[device]]
name = "bench"
driver = "sim"
`

// writeService writes service.toml into a folder of its own, in which the run keeps its journal
// too, and returns the file's name and its text.
func writeService(t *testing.T) (file, text string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "service.toml")
	text = fmt.Sprintf("%s\n[journal]\npath = %q\n", serviceFile, filepath.Join(dir, "service.db"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, text
}

// waitUntil waits for a condition.
func waitUntil(t *testing.T, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(hosttest.Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited for %v", hosttest.Patience)
		}
	}
}

// lastStatus is the last status that a listener heard of a run that goes on.
func lastStatus(l *hosttest.Listener) string {
	for _, m := range slices.Backward(l.Messages()) {
		if _, status, ok := strings.Cut(m, "STATUS=step "); ok {
			return status
		}
	}
	return ""
}

// stepOf is the number that a status begins with, 0 if there is none.
func stepOf(t *testing.T, status string) int {
	t.Helper()
	number, _, _ := strings.Cut(status, ",")
	number, _, _ = strings.Cut(number, "/") // of how many
	n, err := strconv.Atoi(number)
	if err != nil && status != "" {
		t.Errorf("status %q: %v", status, err)
	}
	return n
}
