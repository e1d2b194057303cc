package model

import (
	"context"
)

// AwaitFit puts the pending fit in force if it is due and reports it; nil: there was
// none. A fit that failed leaves things as they are.
func (m *Model) AwaitFit(ctx context.Context, step int) (*Fit, error) {
	p, err := m.Refits.join(ctx, step)
	if err != nil || p == nil {
		return nil, err
	}
	note := Fit{Err: p.Err}
	if p.Err == nil {
		switch {
		case m.Priors != nil:
			note.Err = m.adoptMember(p.hyper)
		default:
			if err := m.adopt(p.hyper); err != nil {
				return nil, err
			}
		}
		if note.Err == nil {
			note = p.hyper.Describe()
		}
	}
	note.Through = p.Task.step - 1
	return &note, nil
}

// LaunchFit prepares a fit before a step if one is to be, and takes it where it comes
// into force at once.
func (m *Model) LaunchFit(ctx context.Context, step int) (*Fit, error) {
	m.pace()
	if !m.mayFit() || !m.Refits.due(step) {
		return nil, nil
	}
	if m.Priors != nil { // the noise of the rows is taken from it
		if err := m.Refresh(); err != nil {
			return nil, err
		}
	}
	m.Refits.launch(m.Task(step))
	return m.AwaitFit(ctx, step)
}

// pace has fits become rarer as observations become many, so that each decision has a bounded share of them; those of
// one of the priors that compete have more steps to end in, too.
func (m *Model) pace() {
	n := len(m.Data.Rows)
	if m.fitsMember() {
		m.Refits.Lag = max(m.Spec.RefitLag, n/fitLag)
	}
	if m.fitsMember() || m.Spec.RefitSeldom {
		m.Refits.Every = max(m.Spec.RefitEvery, n/fitEvery)
	}
}

// mayFit reports whether something is fitted, and from enough data.
func (m *Model) mayFit() bool {
	if !m.fitsMember() {
		return m.fits()
	}
	return len(m.Data.Rows) >= m.enoughToFit()
}

// adoptMember puts a fit of one of the priors that compete in force.
func (m *Model) adoptMember(h *Hyper) error {
	m.Loads++
	if err := m.Priors.adoptFit(h, m.Data.Rows); err != nil {
		return err
	}
	m.Fitted = h
	m.adoptPriors()
	return nil
}

// StartFit lets the fit that was launched at this boundary run in the background.
func (m *Model) StartFit() { m.Refits.Start() }
