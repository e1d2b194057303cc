package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// instrument says which instrument the file is about: its actuators' devices, by their
// addresses, whatever the run is called and wherever its journal lies.
func (w *wiring) instrument() controlstate.Instrument {
	out := controlstate.Instrument{Config: absolute(w.cfg.File), Name: w.cfg.Name}
	for i := range w.opt.Variables {
		v := &w.opt.Variables[i]
		if !v.Actuated {
			continue
		}
		d := &w.devices[v.Channel.Device]
		if address := d.addressOf(v.Channel.Name); address != "" && !slices.Contains(out.Devices, address) {
			out.Devices = append(out.Devices, address)
		}
	}
	return out
}

// addressOf is where a channel of the device is set, "" where that is no place outside this
// process: a serial port, a program with its arguments and folder, a folder of files, or
// over a broker, which has many instruments, the topic.
func (d *deviceWiring) addressOf(channel string) string {
	switch {
	case d.port != "":
		port := d.port
		if real, err := filepath.EvalSymlinks(port); err == nil {
			port = real // by-id names and ttyUSB0 are one port
		}
		return d.driver + " " + port
	case d.broker != "":
		return d.driver + " " + strings.Replace(d.broker, "localhost:", "127.0.0.1:", 1) + " " + d.topics[channel]
	case d.address != "":
		return d.driver + " " + d.address
	}
	return ""
}

// absolute is a path from the root, or as it is where the working folder is not known.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// sibling is the control state of another run that is known on this computer.
type sibling struct {
	path  string
	state controlstate.State
	// err says that it cannot be read.
	err error
}

// siblings are the control states of other runs that drive one of the instrument's devices,
// or tell nothing of theirs and lie beside this one.
func (e *env) siblings(own string, of controlstate.Instrument) (out []sibling) {
	beside := filepath.Dir(absolute(own))
	for _, path := range e.knownControls(beside, filepath.Dir(of.Config)) {
		if path == absolute(own) {
			continue
		}
		s := sibling{path: path}
		s.state, s.err = controlstate.Peek(path)
		shared := slices.ContainsFunc(s.state.Instrument.Devices, func(d string) bool { return slices.Contains(of.Devices, d) })
		unknown := s.state.Instrument.Config == "" && filepath.Dir(path) == beside
		if shared || unknown {
			out = append(out, s)
		}
	}
	return out
}

// otherTrips looks at what other runs of the same instrument have left: another name or
// another journal is no reset. It returns an error that wraps loop.ErrLatched where one of
// them is tripped, stopped or in the middle of a dose, and remarks on what this run does not
// count or cannot know.
func (e *env) otherTrips(own string, of controlstate.Instrument, machine loop.Machine) (remarks []string, err error) {
	for _, s := range e.siblings(own, of) {
		who := fmt.Sprintf("run %q, control state %s", s.state.Instrument.Name, s.path)
		held := loop.Latched(s.state)
		switch {
		case s.state.Instrument.Config == "" && (held != nil || s.err != nil):
			why := s.err
			if why == nil {
				why = held
			}
			remarks = append(remarks, fmt.Sprintf("the control state %s beside this one does not say of which instrument it is: %v", s.path, why))
		case held != nil:
			return remarks, withHint(fmt.Errorf("%w: this instrument, by another run (%s): %s", loop.ErrLatched, who, strings.TrimPrefix(held.Error(), loop.ErrLatched.Error()+": ")),
				"look at the instrument; then tuner reset CONFIG clears it there too: another name or another journal is no reset")
		default:
			remarks = append(remarks, otherDoses(s, loop.Away(machine, s.state))...)
		}
	}
	return remarks, nil
}

// otherDoses tells of doses on another run's books that this one's budgets do not count.
func otherDoses(s sibling, away time.Duration) (remarks []string) {
	for _, name := range slices.Sorted(maps.Keys(s.state.Doses)) {
		if d := s.state.Doses[name]; d.Dosed && s.state.At+away-d.LastAt < 24*time.Hour {
			remarks = append(remarks, fmt.Sprintf("%s was dosed within a day by another run (%q, control state %s): the budgets of this run do not count that", name, s.state.Instrument.Name, s.path))
		}
	}
	return remarks
}

// othersLatched says that other runs of the same instrument have something latched here.
func (e *env) othersLatched(own string, of controlstate.Instrument) bool {
	return slices.ContainsFunc(e.siblings(own, of), func(s sibling) bool {
		return s.state.Instrument.Config != "" && loop.Latched(s.state) != nil
	})
}

// resetOthers clears what other runs of the same instrument have latched, and says so.
func (e *env) resetOthers(own string, of controlstate.Instrument) (cleared int, err error) {
	for _, s := range e.siblings(own, of) {
		if s.state.Instrument.Config == "" || loop.Latched(s.state) == nil {
			continue
		}
		more := e.resetOther(s.path)
		if err = errors.Join(err, more); more == nil {
			cleared++
		}
	}
	return cleared, err
}

func (e *env) resetOther(path string) (err error) {
	c, err := controlstate.Open(path, disk.Holder{Since: e.now()})
	if err != nil {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	state := c.State()
	held := loop.Latched(state)
	if held == nil {
		return nil
	}
	fmt.Fprintf(e.stdout, "cleared of the run %q (%s): %s\n", state.Instrument.Name, path, strings.TrimPrefix(held.Error(), loop.ErrLatched.Error()+": "))
	return c.Write(e.resetState(state))
}

// knownControls lists the control states that this computer is known to have: those that
// a run has noted, and those in the given folders and in the present one.
func (e *env) knownControls(folders ...string) (out []string) {
	add := func(path string) {
		if path = absolute(path); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	for _, dir := range e.noteFolders() {
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
	for _, dir := range append(folders, e.stateDirectory(), ".") {
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
	return slices.DeleteFunc(out, func(path string) bool { return !controlstate.Has(path) })
}
