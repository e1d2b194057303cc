// Package trial is what tests of whole programs share: a tuner that is the test's own binary,
// instruments that speak tuner-exec/1 and misbehave on request, and configurations. The
// packages below it are those tests.
package trial

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/labtuner/tuner/scripts/testsize"
)

// Program is what the binary of a package's tests is where it is called by its name.
type Program struct {
	Name string
	Main func()
}

// Main runs the tests of a package, whose binary is tuner too where it is called so, and an
// instrument that misbehaves on request, or one of the package's own.
func Main(m *testing.M, own ...Program) {
	testsize.InMemory()
	testsize.Waiting()
	// Debian keeps daemons out of a user's path.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/usr/local/sbin"); err != nil {
		panic(err)
	}
	programs := map[string]func(){"tuner": failpointMain, "child": childMain, "pump": pumpMain}
	for _, p := range own {
		programs[p.Name] = p.Main
	}
	testscript.Main(ownState{m}, programs)
}

// ownState gives the tests, and the processes that they start, a folder of their own for what
// outlives a run.
type ownState struct{ *testing.M }

func (m ownState) Run() int {
	dir, err := os.MkdirTemp("", "tuner-state-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_STATE_HOME", dir)
	os.Setenv("XDG_RUNTIME_DIR", dir)
	return m.M.Run()
}
