package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/configs"
)

// reloadWhenAsked takes the file over anew whenever asked (SIGHUP), until ctx ends.
func (s *session) reloadWhenAsked(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.env.reload:
			s.service.reloading()
			words := s.reload(ctx)
			s.tell.say("tuner: %s", words)
			s.service.reloaded(words)
		}
	}
}

// reload reads the configuration again and has the loop go on by what is narrower in it.
// Whatever is wrong with the file, or wider, or of another kind, all of it is refused and
// the run goes on unchanged. It returns what came of it in one line.
func (s *session) reload(ctx context.Context) string {
	const unchanged = "reload refused: the run goes on unchanged"
	file := s.w.cfg.File
	next, err := loadWiring(file, s.env.executable)
	if err != nil {
		s.refuseReload(err)
		return unchanged
	}
	changes, problems := s.going.Narrowed(next.cfg)
	if err := configs.NewError(problems...); err != nil {
		s.refuseReload(err)
		return unchanged
	}
	if len(changes) == 0 {
		return fmt.Sprintf("reload: %s says nothing new", file)
	}
	next.opt.Mode = s.w.opt.Mode
	words := fmt.Sprintf("narrower by %s (sha256 %s): %s", file, next.cfg.SHA256[:12], strings.Join(changes, "; "))
	if err := s.narrower.Narrow(ctx, next.opt, words); err != nil {
		if !errors.Is(err, context.Canceled) {
			s.refuseReload(fmt.Errorf("%s: %w", file, err))
		}
		return unchanged
	}
	s.going = next.cfg
	return "reloaded: " + words
}

// refuseReload tells every reason of a refusal.
func (s *session) refuseReload(err error) {
	var lines strings.Builder
	report(&lines, err)
	for line := range strings.Lines(lines.String()) {
		s.tell.say("%s", strings.TrimSuffix(line, "\n"))
	}
}
