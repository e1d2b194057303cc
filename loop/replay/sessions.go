package replay

import (
	"context"
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// takeOver goes on by the configuration of the session that a step is of, as that session
// did when it resumed the run: a new policy is taught the steps before.
func (p *Decisions) takeOver(ctx context.Context, r *journal.Reader, s journal.Step) error {
	if p.Lenient || s.Session == p.session {
		return nil
	}
	newest := 0
	for n := range p.Changed {
		if n > p.session && n <= s.Session {
			newest = max(newest, n)
		}
	}
	p.session = s.Session
	if newest == 0 {
		return nil
	}
	var err error
	if p.Options, p.Policy, err = p.Changed[newest](); err != nil {
		return err
	}
	before := s.Decision.Step - 1
	if before == 0 {
		if starter, ok := p.Policy.(policy.Starter); ok && p.verified.start != nil {
			starter.SetStart(p.verified.start)
		}
		return nil
	}
	past := Decisions{Options: p.Options, Policy: p.Policy, Version: p.Version, Until: before, Lenient: true}
	if _, err := past.Run(ctx, r); err != nil {
		return fmt.Errorf("teach session %d the steps up to %d: %w", newest, before, err)
	}
	return nil
}
