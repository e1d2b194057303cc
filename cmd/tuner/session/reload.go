package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/control"
)

// reloadWhenAsked takes the file over anew whenever asked (SIGHUP), until ctx ends.
func (s *session) reloadWhenAsked(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Env.Reload:
			s.service.reloading()
			words := s.reload(ctx)
			s.tell.Say("tuner: %s", words)
			s.service.reloaded(words)
		}
	}
}

// reload reads the configuration again and has the loop go on by it: by ranges, frozen
// variables, costs, risk and stop conditions as the command change does, and by limits that
// are narrower. Whatever is wrong with the file, or a wider limit, or of another kind, all of
// it is refused and the run goes on unchanged. It returns what came of it in one line.
func (s *session) reload(ctx context.Context) string {
	const unchanged = "reload refused: the run goes on unchanged"
	file := s.Setup.Config.File
	// What the devices said when the run began holds while it goes on.
	next, err := setup.LoadAsked(ctx, file, s.Env, func(*configs.Config) []byte { return s.Setup.Config.Text })
	if err != nil {
		s.refuseReload(err)
		return unchanged
	}
	changes, problems := s.going.Narrowed(next.Config)
	set := map[string]string{}
	for _, o := range s.going.Changed(next.Config) {
		set[o.Key] = o.Value
	}
	if err := configs.NewError(problems...); err != nil {
		s.refuseReload(err)
		return unchanged
	}
	if len(changes) == 0 {
		return fmt.Sprintf("reload: %s says nothing new", file)
	}
	next.Options.Mode = s.Setup.Options.Mode
	words := fmt.Sprintf("changed by %s (sha256 %s): %s", file, next.Config.SHA256[:12], strings.Join(changes, "; "))
	if err := s.narrower.Narrow(ctx, next.Options, words); err != nil {
		if !errors.Is(err, context.Canceled) {
			s.refuseReload(fmt.Errorf("%s: %w", file, err))
		}
		return unchanged
	}
	if err := s.changeByFile(ctx, set); err != nil {
		s.refuseReload(fmt.Errorf("%s: %w", file, err))
		return "reload refused but for what is narrower among the limits of [safety], which acts: the rest goes on unchanged"
	}
	s.going = next.Config
	return "reloaded: " + words
}

// changeByFile has the loop change what a file says otherwise, as the command change does. A
// run that takes no commands, as a dry run, has nothing to change.
func (s *session) changeByFile(ctx context.Context, set map[string]string) error {
	if len(set) == 0 {
		return nil
	}
	args, err := json.Marshal(control.Edit{Set: set})
	if err != nil {
		return err
	}
	r := s.panel.Do(ctx, control.Request{Command: control.CommandChange, Who: s.Setup.Config.File, Transport: "reload", Args: args})
	if !r.OK {
		return errors.New(r.Message)
	}
	return nil
}

// refuseReload tells every reason of a refusal.
func (s *session) refuseReload(err error) {
	var lines strings.Builder
	fault.Report(&lines, err)
	for line := range strings.Lines(lines.String()) {
		s.tell.Say("%s", strings.TrimSuffix(line, "\n"))
	}
}
