package runfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/safety"
)

// A journal that was deleted or replaced under a run goes on in a copy beside its name,
// NAME.rescued.db (see loop/journal). A run that ends before the copy could take the name
// back leaves it there.

// takeRescued puts a rescued copy of the journal at path back to its name, where nothing
// else stands there, and says so. Where something does, or there are several copies, a
// person has to decide, who may begin a new run with fresh: then they are moved aside.
func takeRescued(path string, fresh bool, now time.Time) (done string, err error) {
	copies, err := unfinishedCopies(path)
	if err != nil || len(copies) == 0 {
		return "", err
	}
	if err := journal.Unlocked(path); err != nil {
		return "", err
	}
	if fresh {
		for _, c := range copies {
			moved, err := moveAside(c, now)
			if err != nil {
				return "", err
			}
			done = joinWords(done, moved)
		}
		return done, nil
	}
	_, err = os.Lstat(path)
	switch free := errors.Is(err, fs.ErrNotExist); {
	case !free:
		return "", &disk.Error{Err: journal.ErrMoved, Path: path,
			Detail: fmt.Sprintf("it was replaced while a run wrote it: the record of that run is in %s", strings.Join(copies, ", ")),
			Hint:   "to go on with that run, move what stands at the journal's name away and start again; to go on with what stands there, rename the copy; --new moves both aside and begins a new run"}
	case len(copies) > 1:
		return "", &disk.Error{Err: journal.ErrMoved, Path: path,
			Detail: "it was deleted, and there are several copies that were rescued: " + strings.Join(copies, ", "),
			Hint:   fmt.Sprintf("rename the one to go on with to %s; --new moves all of them aside and begins a new run", path)}
	}
	if err := journal.PutBack(copies[0], path); err != nil {
		return "", err
	}
	return fmt.Sprintf("put %s, which was rescued when the journal lost its name, back to %s", copies[0], path), nil
}

// unfinishedCopies are the rescued copies whose run can go on. One that cannot be read is
// named with them: it is not for tuner to pass it over.
func unfinishedCopies(path string) (names []string, err error) {
	all, err := journal.Rescued(path)
	for _, name := range all {
		if old, err := LookAt(name); err == nil && (old.Status.Finished || old.Status.Steps == 0) {
			continue
		}
		names = append(names, name)
	}
	return names, err
}

// refuseLostJournal refuses to begin a run where there is no journal, and the control state
// says that there was one.
func refuseLostJournal(path string) error {
	control := ControlPath(path)
	if !controlstate.Has(control) {
		return nil
	}
	s, err := controlstate.Peek(control)
	if err != nil {
		return nil // opening it reports that
	}
	tells := controlText(s)
	if tells == "" {
		return nil
	}
	return &disk.Error{Err: fs.ErrNotExist, Path: path,
		Detail: fmt.Sprintf("but the control state %s is there, and records %s", control, tells),
		Hint:   "put the journal back with its -wal, or begin a new run with --new; what is latched and dosed stays so"}
}

// latched reports whether the control state beside a journal has something latched, or cannot be read.
func latched(path string) bool {
	control := ControlPath(path)
	if !controlstate.Has(control) {
		return false
	}
	s, err := controlstate.Peek(control)
	return err != nil || guard.Latched(s) != nil
}

// controlText says what a control state has of a run before, "" if nothing.
func controlText(s controlstate.State) string {
	var tells []string
	if s.Underway {
		tells = append(tells, "a run that was not finished")
	}
	if guard.Latched(s) != nil {
		tells = append(tells, "something latched")
	}
	for _, d := range s.Doses {
		if everDosed(d) {
			tells = append(tells, "doses")
			break
		}
	}
	return strings.Join(tells, ", ")
}

// everDosed reports whether anything was given.
func everDosed(d safety.DoseState) bool { return d.Total > 0 || d.Used > 0 }

// joinWords joins what was done.
func joinWords(a, b string) string {
	if a != "" && b != "" {
		return a + "; " + b
	}
	return a + b
}
