package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/remote"
)

// Find looks for the run that an argument names among those of this computer. A file's run is
// found also where the file has been broken since: what runs can then still be stopped.
// Without an argument it is the only run of this computer.
//
// Errors: what is wrong with a file, where none runs by it; where there is no run of a name,
// or more than one.
func (q *Question) Find(ctx context.Context, argument string) (err error) {
	switch {
	case argument == "":
		return q.findOnly(ctx)
	case filepath.Ext(argument) == ".db":
		return fault.Usage(fault.WithHint(fmt.Errorf("%s is a journal: %s asks a run that goes on", argument, q.Command), "name the run or its configuration file; tuner strike and unstrike also take a journal"))
	}
	folders := q.Env.Places().All()
	name, wanted := argument, func(r local.Run) bool { return r.Identity.Name == argument || r.ID == argument }
	var broken error
	if IsFile(argument) {
		name, wanted = "", func(r local.Run) bool { return sameFile(r.Identity.Config, argument) }
		if q.cfg, broken = configs.Load(argument, setup.Known()); broken == nil {
			name = q.cfg.Name
			if s := q.cfg.Socket; s != nil && s.Folder != "" {
				folders = append(folders, q.cfg.Path(s.Folder))
			}
		}
	}
	runs := local.List(ctx, folders, name)
	found := slices.DeleteFunc(slices.Clone(runs), func(r local.Run) bool { return r.Err != nil || !wanted(r) })
	silent := slices.IndexFunc(runs, func(r local.Run) bool { return r.Err != nil })
	switch {
	case len(found) == 1:
		q.Run = &found[0]
		return nil
	case len(found) > 1:
		return severalRuns(argument, found)
	case broken != nil:
		return broken
	case silent >= 0 && (q.cfg == nil || q.cfg.MQTT == nil):
		return silentRun(runs[silent])
	case q.cfg == nil:
		return fault.WithHint(fmt.Errorf("%w: %w: no run named %q that you may reach is on this computer", drivers.ErrUnavailable, remote.ErrNobody, argument),
			"another user's run is named by its file, whose [socket] lets you in (folder, and owner or group); one elsewhere by its file, whose [mqtt] says how to reach it")
	}
	return nil
}

// findOnly takes the only run of this computer.
func (q *Question) findOnly(ctx context.Context) error {
	// One that does not answer is one of them too; another user's is none of this one's business.
	runs := slices.DeleteFunc(local.List(ctx, q.Env.Places().All(), ""), func(r local.Run) bool { return r.Denied() })
	switch len(runs) {
	case 0:
		return fault.WithHint(fmt.Errorf("%w: %w: no run that you may reach is on this computer", drivers.ErrUnavailable, remote.ErrNobody),
			"name its file, whose [socket] or [mqtt] says how to reach it")
	case 1:
		if runs[0].Err != nil {
			return silentRun(runs[0])
		}
		q.Run = &runs[0]
		return nil
	}
	var names []string
	for i := range runs {
		names = append(names, nameOf(runs, i))
	}
	return fault.Usage(fault.WithHint(fmt.Errorf("%d runs are on this computer: %s", len(runs), strings.Join(names, ", ")), "name one of them"))
}

// sameFile says that two paths lead to one file, or are one path.
func sameFile(a, b string) bool {
	if a == host.Absolute(b) {
		return true
	}
	first, err := os.Stat(a)
	second, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(first, second)
}

// severalRuns lists the runs that an argument may mean.
func severalRuns(argument string, found []local.Run) error {
	var words []string
	for _, r := range found {
		words = append(words, fmt.Sprintf("%s (%s, journal %s)", r.ID, show.ModeWords(string(r.Identity.Mode)), r.Identity.Journal))
	}
	return fault.Usage(fault.WithHint(fmt.Errorf("%d runs of %s are on this computer: %s", len(found), argument, strings.Join(words, "; ")), "name one of them in place of "+argument))
}

// silentRun is the error of a run that is there and cannot be asked.
func silentRun(r local.Run) error {
	err := errors.Join(drivers.ErrUnavailable, r.Err)
	if r.Denied() {
		return fault.WithHint(fmt.Errorf("%w: %s lets other users in", drivers.ErrUnavailable, r.Socket), "ask as the run's user; [socket] of its file can name an owner or a group")
	}
	return fault.WithHint(fmt.Errorf("%w: the run behind %s does not answer", err, r.Socket), "look whether its process stands still")
}

// Variables are the names of a run's variables, for a shell to complete; none where the run
// does not answer.
func Variables(ctx context.Context, e *host.Env, argument string) (names []string) {
	q := Question{Env: e}
	if q.Find(ctx, argument) != nil || q.Run == nil {
		return nil
	}
	text, err := q.Run.Status(ctx)
	var s control.Status
	if err != nil || json.Unmarshal(text, &s) != nil {
		return nil
	}
	for _, v := range s.Variables {
		names = append(names, v.Name)
	}
	return names
}
