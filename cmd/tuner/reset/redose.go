package reset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/safety"
)

// HaveReservoirs refuses names of variables without a reservoir.
func HaveReservoirs(w *setup.Setup, names []string) error {
	for _, name := range names {
		has := slices.ContainsFunc(w.Options.Safety.Doses, func(d safety.DoseLimits) bool {
			return d.Reservoir > 0 && w.Options.Variables[d.Variable].Name == name
		})
		if !has {
			return w.Refuse("safety.dose", fmt.Sprintf("variable %q has no reservoir that could be refilled", name), "add reservoir to its [[safety.dose]]")
		}
	}
	return nil
}

// refill notes that reservoirs are full again.
func refill(e *host.Env, r Request, s *controlstate.State) {
	for _, d := range r.Setup.Options.Safety.Doses {
		v := &r.Setup.Options.Variables[d.Variable]
		if slices.Contains(r.Refilled, v.Name) {
			dose := s.Doses[v.Name]
			dose.Used = 0
			s.Doses[v.Name] = dose
			fmt.Fprintf(e.Stdout, "refilled: %s, %s again\n", v.Name, show.Quantity(d.Reservoir, v.Unit))
		}
	}
}

// recallBase is the safety layer's time that a control state begins with which is made
// anew: what was dosed within two days lies before it.
const recallBase = 48 * time.Hour

// recallDoses makes the account of doses anew, from the journal: each counts unless its
// outcome says that it was not given, at the time that the wall clock showed. Where that
// cannot be done, it asks.
func recallDoses(e *host.Env, r Request, s *controlstate.State) error {
	if len(r.Setup.Options.Safety.Doses) == 0 {
		return nil
	}
	machine := host.ThisMachine()
	s.At, s.BootID, s.Uptime = recallBase, machine.BootID, machine.Uptime() // from here on time counts
	err := r.fromJournal(s, e.Now())
	if err == nil {
		for _, d := range r.Setup.Options.Safety.Doses {
			v := &r.Setup.Options.Variables[d.Variable]
			fmt.Fprintf(e.Stdout, "from the journal %s: %s of %s were dosed; earlier journals are not looked at\n", r.Journal, show.Quantity(s.Doses[v.Name].Total, v.Unit), v.Name)
		}
		return nil
	}
	if r.Anew {
		fmt.Fprintf(e.Stderr, "tuner: warning: dose budgets begin again: %v\n", err)
		s.Doses = nil
		return nil
	}
	return fault.WithHint(fmt.Errorf("%w: what was dosed is not known, and cannot be taken from the journal: %w", guard.ErrLatched, err),
		"look at the instrument and wait for a day; then tuner reset --doses-anew begins the budgets again")
}

// fromJournal books every dose of a journal.
func (r Request) fromJournal(s *controlstate.State, now time.Time) (err error) {
	if _, err := os.Stat(r.Journal); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no journal %s", r.Journal)
	}
	var rises []string
	byChannel := map[string]string{}
	for _, d := range r.Setup.Options.Safety.Doses {
		v := &r.Setup.Options.Variables[d.Variable]
		if !v.Dose {
			rises = append(rises, v.Name)
			continue
		}
		byChannel[r.Setup.ChannelName(v.Channel)] = v.Name
	}
	if len(rises) > 0 {
		return fmt.Errorf("what a rise of %s was is not on record", strings.Join(rises, ", "))
	}
	reader, err := journal.OpenReader(r.Journal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	s.Run, s.Doses = reader.Run().ID, map[string]safety.DoseState{}
	for _, name := range byChannel {
		s.Doses[name] = safety.DoseState{}
	}
	for a, err := range reader.AllActions() {
		if err != nil {
			return err
		}
		if a.Kind == "dose" && !notGiven(a) {
			bookAction(a, byChannel, s, now)
		}
	}
	return nil
}

// notGiven says that it is certain that a dose was not given.
func notGiven(a journal.ActionRecord) bool {
	n := len(a.Resolutions)
	return n > 0 && a.Resolutions[n-1].State == journal.Failed
}

// bookAction books one dose of the journal, as long ago as the wall clock says; one from
// the future is of now.
func bookAction(a journal.ActionRecord, byChannel map[string]string, s *controlstate.State, now time.Time) {
	ago := max(now.Sub(a.At.Wall), 0)
	for channel, amount := range a.Values {
		name, known := byChannel[a.Device+"."+channel]
		if !known {
			continue
		}
		for _, settled := range a.Resolutions {
			amount = max(amount, settled.Readback[channel])
		}
		dose := s.Doses[name]
		at := max(recallBase-min(ago, recallBase), dose.LastAt) // the wall clock may have jumped back
		dose.Recall(at, amount)
		s.Doses[name] = dose
	}
}
