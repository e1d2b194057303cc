package policy

import (
	"context"
	"math"

	"github.com/labtuner/tuner/gpcore"
)

// watchForJump looks at the readings once after each step; where the objective has
// jumped, what was learnt before is forgotten.
func (e *engine) watchForJump() error {
	rows := e.model.data.rows
	if len(rows) == 0 {
		return nil
	}
	last := rows[len(rows)-1].step
	if !e.track.looksAt(last) {
		return nil
	}
	if err := e.model.refresh(); err != nil {
		return err
	}
	forget, err := e.track.watch(e.model.belief().likeliest(), rows, last)
	if err != nil || !forget {
		return err
	}
	return e.model.forget(last)
}

// settle lets the tracker end a search before a step.
func (e *engine) settle(step int) error {
	if !e.track.searching(step) || !e.ready() {
		return nil
	}
	if err := e.model.refresh(); err != nil {
		return err
	}
	belief, h := e.model.belief(), e.model.inForce
	seen := sight{prior: belief.offset(), center: h.center, scale: h.scale}
	var mean, sd [1]float64
	for _, x := range e.incumbents() {
		belief.moments(mean[:], sd[:], e.model.point(x[:e.model.dims], step))
		seen.mean, seen.sd = append(seen.mean, mean[0]), append(seen.sd, sd[0])
	}
	e.track.settle(step, len(e.model.data.rows), e.spec.Beta, seen)
	return nil
}

// narrow restricts a decision that belongs to a hold, and lessens the exploration of one
// that belongs to the search before it.
func (e *engine) narrow(d *deciding) error {
	switch {
	case e.track.holding(d.step):
		return e.holdRegions(d)
	case e.track != nil && e.track.hold:
		d.beta *= searchBeta
	}
	return nil
}

// holdRegions restricts the decision to boxes around the incumbents: for each control
// set the setting with the greatest
//
//	E[ mean - alpha * noise variance ]
//
// at the present, within reach of where the hold has been (of the whole domain when it
// begins). Where the latest readings are in doubt, the hold stays where it was.
func (e *engine) holdRegions(d *deciding) error {
	reach := e.track.widths(e.model.belief(), e.model.dims)
	terms := append(e.model.belief().linear(1, 0), e.criterion.terms(0)...)
	objectives, err := d.expectations(terms)
	if err != nil {
		return err
	}
	var moving []option
	for i, set := range d.sets {
		dom := e.domains[set]
		r, fixed := e.track.region(e.model.data.rows, dom, reach)
		if d.regions[set] = r; !fixed {
			moving = append(moving, option{set: set, objective: e.criterion.lessKnownRisk(objectives[i], dom)})
		}
	}
	if len(moving) == 0 {
		return nil
	}
	found, err := d.search(moving, math.Inf(1))
	if err != nil {
		return err
	}
	for i, o := range moving {
		d.regions[o.set] = e.domains[o.set].around(found[i].X, reach)
	}
	return nil
}

// heldPoint is, while a control set is held, the setting within the hold's reach with the
// greatest lower bound, by which recommendations are ranked; nil while it is not, and
// where steps failed there. The readings surround it, so it is known better than where
// they were taken.
func (e *engine) heldPoint(set int) ([]float64, error) {
	if !e.track.holding(e.seen + 1) {
		return nil, nil
	}
	d := e.domains[set]
	anchor := e.track.anchor(e.model.data.rows, d)
	if anchor == nil {
		return nil, nil
	}
	terms := append(e.model.belief().linear(1, -e.spec.Beta), e.criterion.terms(-e.spec.Beta)...)
	c, err := gpcore.NewExpected(terms, e.criterion.around.inputs(d, e.seen+1))
	if err != nil {
		return nil, err
	}
	r := d.around(anchor, e.track.widths(e.model.belief(), e.model.dims))
	m, err := gpcore.Maximize(context.Background(), r.problem(e.criterion.lessKnownRisk(c, d)),
		gpcore.Options{Seed: stream(e.spec.Seed, forScreening, e.seen+1).Uint64()})
	if err != nil || e.excluded[set].unreliable(m.X) {
		return nil, err
	}
	d.settle(m.X)
	return m.X, nil
}
