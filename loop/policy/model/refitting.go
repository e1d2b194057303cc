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
		if err := m.adopt(p.hyper); err != nil {
			return nil, err
		}
		note = p.hyper.Describe()
	}
	note.Through = p.Task.step - 1
	return &note, nil
}

// LaunchFit prepares a fit before a step if one is to be, and takes it where it comes
// into force at once.
func (m *Model) LaunchFit(ctx context.Context, step int) (*Fit, error) {
	if !m.fits() || !m.Refits.due(step) {
		return nil, nil
	}
	m.Refits.launch(m.Task(step))
	return m.AwaitFit(ctx, step)
}

// StartFit lets the fit that was launched at this boundary run in the background.
func (m *Model) StartFit() { m.Refits.Start() }
