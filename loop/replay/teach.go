package replay

import (
	"context"

	"github.com/labtuner/tuner/loop/journal"
)

// Teach teaches the policy what the recorded steps brought and derives no decision: what a
// policy believes follows from its specification and its observations alone. Cost:
// that of the observations.
//
// Errors: what reading the journal gives, and a policy that refuses what was recorded.
func (p *Decisions) Teach(ctx context.Context, r *journal.Reader) error {
	if err := p.start(r); err != nil {
		return err
	}
	for s, err := range r.Steps() {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case p.Until > 0 && s.Decision.Step > p.Until:
			return nil
		case !s.Concluded || p.abandoned[s.Decision.Step] || s.Decision.Compared.Comparison > 0:
			continue
		}
		shots, err := r.Shots(s.Decision.Step)
		if err != nil {
			return err
		}
		if err := p.learn(s, shots); err != nil {
			return err
		}
		if p.Step != nil {
			p.Step(s.Decision.Step)
		}
	}
	return nil
}
