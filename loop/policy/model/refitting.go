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
	m.Refits.unchanged = p.kept()
	note := Fit{Err: p.Err}
	if p.Err == nil {
		switch {
		case m.Priors != nil:
			note.Err = m.adoptMember(p.hyper)
		case p.hyper == m.Fitted && m.Loaded: // it is in force, and rows were not retold since the fit began
			m.follows = m.canFollow()
		default:
			if err := m.inForce(p); err != nil {
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

// inForce puts a fit in force: with a model that was loaded beside, where that has the rows of now. What it is
// loaded with is the same, so it is the same to the last bit as if it were loaded here.
func (m *Model) inForce(p *PendingFit) error {
	l := p.loaded
	if l == nil || p.kept() || l.rows != m.Data.made || m.GP == nil {
		return m.adopt(p.hyper)
	}
	<-l.done
	if l.err != nil || (m.Noise == nil) != (l.model.Noise == nil) {
		return m.adopt(p.hyper)
	}
	if err := m.GP.Adopt(l.model.GP); err != nil {
		return err
	}
	if v, o := m.Noise, l.model.Noise; v != nil {
		if err := v.GP.Adopt(o.GP); err != nil {
			return err
		}
		v.Hyper, v.low, v.high = o.Hyper, o.low, o.high
	}
	m.Fitted, m.Active, m.Loaded, m.follows = p.hyper, p.hyper, true, l.model.follows
	m.Loads++
	return nil
}

// Complete says that all rows of the steps before a boundary were learnt: where a fit comes into force there, a model
// is loaded with them in the background, so that the decision does not wait for it longer than for the fit. Where rows
// follow all the same, it is loaded at the boundary.
func (m *Model) Complete(step int) {
	p := m.Refits.Pending
	if p == nil || !p.Started || step < p.Due || m.Priors != nil || p.loaded != nil && p.loaded.rows == m.Data.made {
		return
	}
	p.load(m)
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

// pace has fits become rarer as observations become many, so that each decision has a bounded share of them, and the
// next one wait twice as long where the last one has found nothing; those of one of the priors that compete have more
// steps to end in, too.
func (m *Model) pace() {
	n := len(m.Data.Rows)
	if m.fitsMember() {
		m.Refits.Lag = max(m.Spec.RefitLag, n/fitLag)
	}
	if m.fitsMember() || m.Spec.RefitSeldom {
		m.Refits.Every = max(m.Spec.RefitEvery, n/fitEvery)
		if m.Refits.unchanged {
			m.Refits.Every *= 2
		}
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
