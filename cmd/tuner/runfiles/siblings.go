package runfiles

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// sibling is the control state of another run that is known on this computer.
type sibling struct {
	Path  string
	State controlstate.State
	// err says that it cannot be read.
	err error
}

// Siblings are the control states of other runs that drive one of the instrument's devices,
// or tell nothing of theirs and lie beside this one.
func Siblings(e *host.Env, own string, of controlstate.Instrument) (out []sibling) {
	beside := filepath.Dir(host.Absolute(own))
	for _, path := range KnownControls(e, beside, filepath.Dir(of.Config)) {
		if path == host.Absolute(own) {
			continue
		}
		s := sibling{Path: path}
		s.State, s.err = controlstate.Peek(path)
		shared := slices.ContainsFunc(s.State.Instrument.Devices, func(d string) bool { return slices.Contains(of.Devices, d) })
		unknown := s.State.Instrument.Config == "" && filepath.Dir(path) == beside
		if shared || unknown {
			out = append(out, s)
		}
	}
	return out
}

// OtherTrips looks at what other runs of the same instrument have left: another name or
// another journal is no reset. It returns an error that wraps guard.ErrLatched where one of
// them is tripped, stopped or in the middle of a dose, and remarks on what this run does not
// count or cannot know.
func OtherTrips(e *host.Env, own string, of controlstate.Instrument, machine guard.Machine) (remarks []string, err error) {
	for _, s := range Siblings(e, own, of) {
		who := fmt.Sprintf("run %q, control state %s", s.State.Instrument.Name, s.Path)
		held := guard.Latched(s.State)
		switch {
		case s.State.Instrument.Config == "" && (held != nil || s.err != nil):
			why := s.err
			if why == nil {
				why = held
			}
			remarks = append(remarks, fmt.Sprintf("the control state %s beside this one does not say of which instrument it is: %v", s.Path, why))
		case held != nil:
			return remarks, fault.WithHint(fmt.Errorf("%w: this instrument, by another run (%s): %s", guard.ErrLatched, who, strings.TrimPrefix(held.Error(), guard.ErrLatched.Error()+": ")),
				"look at the instrument; then tuner reset CONFIG clears it there too: another name or another journal is no reset")
		default:
			remarks = append(remarks, otherDoses(s, guard.Away(machine, s.State))...)
		}
	}
	return remarks, nil
}

// otherDoses tells of doses on another run's books that this one's budgets do not count.
func otherDoses(s sibling, away time.Duration) (remarks []string) {
	for _, name := range slices.Sorted(maps.Keys(s.State.Doses)) {
		if d := s.State.Doses[name]; d.Dosed && s.State.At+away-d.LastAt < 24*time.Hour {
			remarks = append(remarks, fmt.Sprintf("%s was dosed within a day by another run (%q, control state %s): the budgets of this run do not count that", name, s.State.Instrument.Name, s.Path))
		}
	}
	return remarks
}

// OthersLatched says that other runs of the same instrument have something latched here.
func OthersLatched(e *host.Env, own string, of controlstate.Instrument) bool {
	return slices.ContainsFunc(Siblings(e, own, of), func(s sibling) bool {
		return s.State.Instrument.Config != "" && guard.Latched(s.State) != nil
	})
}

// KnownControls lists the control states that this computer is known to have: those that
// a run has noted, and those in the given folders and in the present one.
func KnownControls(e *host.Env, folders ...string) []string {
	return slices.DeleteFunc(namedControls(e, folders...), func(path string) bool { return !controlstate.Has(path) })
}

// namedControls are those that a note names or that lie in a folder, whether they are still there or not.
func namedControls(e *host.Env, folders ...string) (out []string) {
	add := func(path string) {
		if path = host.Absolute(path); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	for _, dir := range noteFolders(e) {
		notes, err := filepath.Glob(filepath.Join(dir, "*"+noteSuffix))
		if err != nil {
			continue // the folder's name cannot be searched; the folders below still can
		}
		for _, note := range notes {
			if path, err := readNote(note); err == nil {
				add(path)
			}
		}
	}
	for _, dir := range append(folders, e.StateDirectory(), ".") {
		if dir == "" {
			continue
		}
		for _, copy := range []string{"-a", "-b"} {
			found, err := filepath.Glob(filepath.Join(dir, "*.control"+copy))
			if err != nil {
				continue
			}
			for _, path := range found {
				add(strings.TrimSuffix(path, copy))
			}
		}
	}
	return out
}

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
	// Its owner alone can look into it: anyone else gets an error that says so.
	if _, err := os.Lstat(dir); err != nil {
		return ""
	}
	return dir
}
