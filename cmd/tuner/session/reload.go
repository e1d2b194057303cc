package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
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

// reload reads the configuration again and has the loop go on by what is narrower in it.
// Whatever is wrong with the file, or wider, or of another kind, all of it is refused and
// the run goes on unchanged. It returns what came of it in one line.
func (s *session) reload(ctx context.Context) string {
	const unchanged = "reload refused: the run goes on unchanged"
	file := s.Setup.Config.File
	next, err := setup.Load(file, s.Env)
	if err != nil {
		s.refuseReload(err)
		return unchanged
	}
	changes, problems := s.going.Narrowed(next.Config)
	if err := configs.NewError(problems...); err != nil {
		s.refuseReload(err)
		return unchanged
	}
	if len(changes) == 0 {
		return fmt.Sprintf("reload: %s says nothing new", file)
	}
	next.Options.Mode = s.Setup.Options.Mode
	words := fmt.Sprintf("narrower by %s (sha256 %s): %s", file, next.Config.SHA256[:12], strings.Join(changes, "; "))
	if err := s.narrower.Narrow(ctx, next.Options, words); err != nil {
		if !errors.Is(err, context.Canceled) {
			s.refuseReload(fmt.Errorf("%s: %w", file, err))
		}
		return unchanged
	}
	s.going = next.Config
	return "reloaded: " + words
}

// refuseReload tells every reason of a refusal.
func (s *session) refuseReload(err error) {
	var lines strings.Builder
	fault.Report(&lines, err)
	for line := range strings.Lines(lines.String()) {
		s.tell.Say("%s", strings.TrimSuffix(line, "\n"))
	}
}
