package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// Where the unit tuner@NAME has its configuration, NAME.toml, and its state, in the folder
// NAME (StateDirectory=tuner/%i).
const (
	unitConfigs = "/etc/tuner"
	unitStates  = "/var/lib/tuner"
)

// serviceState is the state folder of the service that a configuration belongs to: of
// states/NAME for configs/NAME.toml, "" where there is none. A command that an
// administrator types has no $STATE_DIRECTORY, and would else look beside itself.
func serviceState(file, configs, states string) string {
	path := absolute(file)
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

// resetFolder is the state folder that a reset of a configuration is about.
func (e *env) resetFolder(file string) string {
	if dir := e.stateDirectory(); dir != "" {
		return dir
	}
	return serviceState(file, unitConfigs, unitStates)
}

// elsewhere says that nothing of a run is here: neither its control state nor its journal.
func (r *resetting) elsewhere() bool {
	_, err := os.Lstat(r.journal)
	return err != nil && !controlstate.Has(controlPath(r.journal))
}

// absentControl says where a control state was looked for in vain, "" where it is.
func absentControl(path string) string {
	if controlstate.Has(path) {
		return ""
	}
	return ": there is no " + path + "-a"
}
