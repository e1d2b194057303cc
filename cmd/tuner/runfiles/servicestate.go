package runfiles

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/host"
)

// Where the unit tuner@NAME has its configuration, NAME.toml, and its state, in the folder
// NAME (StateDirectory=tuner/%i).
const (
	UnitConfigs = "/etc/tuner"
	UnitStates  = "/var/lib/tuner"
)

// ServiceState is the state folder of the service that a configuration belongs to: of
// states/NAME for configs/NAME.toml, "" where there is none. A command that an
// administrator types has no $STATE_DIRECTORY, and would else look beside itself.
func ServiceState(file, configs, states string) string {
	path := host.Absolute(file)
	name, isConfig := strings.CutSuffix(filepath.Base(path), ".toml")
	if filepath.Dir(path) != configs || !isConfig {
		return ""
	}
	dir := filepath.Join(states, name)
	// Its owner alone can look into it: whoever else asks is to be told so.
	if _, err := os.Lstat(dir); err != nil {
		return ""
	}
	return dir
}
