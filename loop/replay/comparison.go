package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// verified is what a replay knows of comparisons with the starting setting.
type verified struct {
	start   []float64
	all     []journal.Comparison
	results []journal.ComparisonResult
	// legs by comparison, as far as the replay has come, and by which options it was made.
	legs    map[int][]plan.Leg
	options map[int]plan.Options
	// foreign are those of which a step was decided by another version.
	foreign map[int]bool
}

// read takes in what the journal has of them.
func (v *verified) read(r *journal.Reader) (err error) {
	v.legs, v.options, v.foreign = map[int][]plan.Leg{}, map[int]plan.Options{}, map[int]bool{}
	if v.all, err = r.Comparisons(); err != nil {
		return err
	}
	v.results, err = r.ComparisonResults()
	return err
}

// deriveLeg derives a step of a comparison and, with its first, the two settings. The
// policy of a lenient replay is only to learn, and it learns nothing here.
func (p *Decisions) deriveLeg(ctx context.Context, s journal.Step) (*Difference, error) {
	d, v := &s.Decision, &p.verified
	if p.Lenient {
		return nil, nil
	}
	if d.Compared.Comparison > len(v.all) {
		return differ(d.Step, "comparison", d.Compared.Comparison, "none"), nil
	}
	c := v.all[d.Compared.Comparison-1]
	if len(v.legs[c.Number]) == 0 {
		if first, err := p.deriveSides(ctx, d.Step, c); first != nil || err != nil {
			return first, err
		}
	}
	v.options[c.Number] = p.Options
	v.legs[c.Number] = append(v.legs[c.Number], plan.Leg{Compared: d.Compared, Outcome: s.Outcome,
		Abandoned: p.abandoned[d.Step] || !s.Concluded, Session: s.Session})
	if _, _, err := p.Options.Pairing(c, v.legs[c.Number]); err != nil {
		return differ(d.Step, "turn in the comparison", d.Compared.Side, err), nil
	}
	q := policy.Proposal{ControlSet: c.ControlSet, X: c.Recommended}
	if d.Compared.Side == journal.Starting {
		q.X = c.Start
	}
	return p.compare(*d, q), nil
}

// deriveSides derives the settings that are compared.
func (p *Decisions) deriveSides(ctx context.Context, step int, c journal.Comparison) (*Difference, error) {
	if c.Proposed {
		if _, err := p.Policy.Propose(ctx); err != nil && !errors.Is(err, policy.ErrBudget) {
			return nil, fmt.Errorf("derive the decision before step %d, which was not played: %w", step, err)
		}
	}
	found, err := p.Policy.Recommend()
	if err != nil {
		return nil, fmt.Errorf("derive the recommendation before step %d: %w", step, err)
	}
	if found.ControlSet != c.ControlSet {
		return differ(step, "control set of the recommendation", c.ControlSet, found.ControlSet), nil
	}
	for _, i := range p.Options.ControlSets[c.ControlSet].Variables {
		name, start := p.Options.Variables[i].Name, found.X[i]
		if exactly(found.X[i]) != exactly(c.Recommended[i]) {
			return differ(step, "recommended setting of "+name, exactly(c.Recommended[i]), exactly(found.X[i])), nil
		}
		if same := p.Options.Verify.Same; p.verified.start != nil && (same == nil || !same[i]) {
			start = p.verified.start[i]
		}
		if exactly(start) != exactly(c.Start[i]) {
			return differ(step, "starting setting of "+name, exactly(c.Start[i]), exactly(start)), nil
		}
	}
	return nil, nil
}

// deriveResults derives what came of the comparisons.
func (p *Decisions) deriveResults() *Difference {
	for _, r := range p.verified.results {
		if p.verified.foreign[r.Comparison] {
			continue
		}
		if r.Comparison > len(p.verified.all) {
			return differ(0, "result of a comparison", r.Comparison, "none")
		}
		c, legs := p.verified.all[r.Comparison-1], p.verified.legs[r.Comparison]
		options, ok := p.verified.options[r.Comparison]
		if !ok {
			options = p.Options
		}
		found, err := options.Compare(c, legs)
		step := 0
		if len(legs) > 0 {
			step = legs[len(legs)-1].Outcome.Step
		}
		if err != nil {
			return differ(step, "result of the comparison", r.Verdict, err)
		}
		if derived := plan.ResultOf(r.Comparison, &found); !bytes.Equal(derived.Document, r.Document) {
			return differ(step, "result of the comparison", string(r.Document), string(derived.Document))
		}
	}
	return nil
}
