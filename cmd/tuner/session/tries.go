package session

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/replay"
)

// CheckTries refuses settings that could not be tried, before anything begins.
func CheckTries(begin *Start) error {
	for i, t := range begin.Tries {
		o := &begin.Setup.Options
		if _, _, err := o.TrySetting(t.Values, o.Allowed); err != nil {
			return fmt.Errorf("%s: setting %d: %w", begin.Tried, i+1, err)
		}
	}
	return nil
}

// orderTries puts settings that the command line names on record, as commands that were followed,
// before anything begins. Each is taken once: a start after a kill takes those that are not there yet.
func (s *session) orderTries(deps *loop.Deps) error {
	taken := 0
	for i, t := range s.Tries {
		name := fmt.Sprintf("start-%d", i+1)
		if slices.ContainsFunc(deps.Asked, func(a replay.Asked) bool { return a.Transaction == name }) {
			continue
		}
		args, err := control.ArgsOf(t, "")
		if err != nil {
			return err
		}
		at := journal.Stamp{Wall: s.Clock.Now().Round(0)}
		c := journal.Command{Name: control.CommandTry, Who: s.owner().User, Transport: "cli", Transaction: name, Args: string(args), At: at}
		id, err := s.journal.Order(c)
		if err != nil {
			return err
		}
		if err := s.journal.Answer(id, journal.Answer{OK: true, Code: control.CodeOK, Message: "tried first", At: at}); err != nil {
			return err
		}
		deps.Asked = append(deps.Asked, replay.Asked{Command: id, Who: control.OriginOf(c.Who, c.Transport), Args: c.Args, Transaction: name})
		taken++
	}
	if taken > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("%s of %s %s tried first", show.Count(taken, "setting"), s.Tried, map[bool]string{true: "is", false: "are"}[taken == 1]))
	} else if len(s.Tries) > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("the settings of %s were taken by an earlier start of this run", s.Tried))
	}
	return nil
}
