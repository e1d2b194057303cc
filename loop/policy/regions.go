package policy

import (
	"context"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/trust"
)

// watchForJump looks at the readings once after each step; where the objective has
// jumped, what was learnt before is forgotten.
func (e *engine) watchForJump() error {
	rows := e.model.Data.Rows
	if len(rows) == 0 {
		return nil
	}
	last := rows[len(rows)-1].Step
	if !e.track.DetectsAfter(last) {
		return nil
	}
	if err := e.model.Refresh(); err != nil {
		return err
	}
	forget, err := e.track.DetectJump(e.model.Posterior().MostProbable(), rows, last)
	if err != nil || !forget {
		return err
	}
	return e.model.Forget(last)
}

// endSearch lets the tracker end a search before a step.
func (e *engine) endSearch(step int) error {
	if !e.track.Searching(step) || !e.ready() {
		return nil
	}
	if err := e.model.Refresh(); err != nil {
		return err
	}
	belief, h := e.model.Posterior(), e.model.Active
	seen := drift.Incumbents{Prior: belief.Offset(), Center: h.Center, Scale: h.Scale}
	seen.Mean, seen.SD = e.memory.Floats(maxIncumbents)[:0], e.memory.Floats(maxIncumbents)[:0]
	mean, sd, at := e.memory.Floats(1), e.memory.Floats(1), e.memory.Floats(e.model.Width())
	for _, x := range e.incumbents() {
		belief.Moments(&e.memory.Memory, mean, sd, e.model.AppendPoint(at[:0], x[:e.model.Dims], step))
		seen.Mean, seen.SD = append(seen.Mean, mean[0]), append(seen.SD, sd[0])
	}
	e.track.EndSearch(step, len(e.model.Data.Rows), e.spec.Beta, seen)
	return nil
}

// restrict restricts a decision to where its settings may be: one that belongs to a hold, or to the search
// among many variables. It reduces the exploration of one that belongs to the search before a hold.
func (e *engine) restrict(d *decision) error {
	if e.track.Holding(d.Step) {
		return e.holdRegions(d)
	}
	reduceExploration(e.track, d)
	switch {
	case d.Unseen:
	case explores(e, d.Step) && followSurprise(e, d):
	case e.spec.trusts() && d.Step%wholeEvery != 0:
		trustRegion(e, d)
	}
	return nil
}

const (
	surprises   = 2    // of the newest readings one is followed
	surpriseFar = 0.15 // of each range: how far from it
)

// followSurprise restricts the decision to a box around a reading that was better than expected, and reports whether there
// is one among the newest: a hill that is narrower than the model's lengthscales looks like an outlier to it, and what it is
// worth is found by climbing it.
func followSurprise(e *engine, d *decision) bool {
	row := e.model.Surprise(surprises, e.spec.InitialSteps+1)
	if row < 0 {
		return false
	}
	restrictTo(e, d, row, slices.Repeat([]float64{surpriseFar}, len(e.axes)))
	return true
}

// restrictTo restricts the decision to a box around a row's setting, so far from it in each variable.
func restrictTo(e *engine, d *decision, row int, reach []float64) {
	for set, dom := range d.Domains {
		centre := make([]float64, dom.Size())
		dom.Project(centre, e.model.Data.Rows[row].X)
		near := dom.Around(centre, reach)
		near.Screen, near.Climbs = 0, 0 // as in the whole domain
		d.regions[set] = near
	}
}

// wholeEvery: one decision in so many of those with a trust region looks everywhere all the same. A box stays on the hill
// on which it began until it has vanished, which takes more steps than most runs have.
const wholeEvery = 4

// trustRegion restricts the decision to a box around the best setting that is known, or has it begin anew where nothing
// was measured. The recommendation is the best of all that were measured, in and out of it.
func trustRegion(e *engine, d *decision) {
	rows := e.model.Data.Rows
	design := slices.IndexFunc(rows, func(r model.Row) bool { return r.Step > e.spec.InitialSteps })
	if design < 0 {
		design = len(rows)
	}
	r := trust.After(worths(e), design, len(e.axes))
	if r.Best < 0 {
		d.Unseen = !e.model.Deciding() // a prior that decides by itself has the whole domain
		return
	}
	_, lengthscales := model.DescribeKernel(e.model.Posterior().MostProbable().GP.Kernel())
	restrictTo(e, d, r.Best, r.Reach(lengthscales, len(e.axes)))
}

// reduceExploration reduces that of a decision in the search before a hold.
func reduceExploration(t *drift.Tracker, d *decision) {
	if t != nil && t.Hold && !t.Holding(d.Step) {
		d.Beta *= drift.SearchBeta
	}
}

// holdRegions restricts the decision to boxes around the incumbents: for each control
// set the setting with the greatest
//
//	E[ mean - alpha * noise variance ]
//
// at the present, within reach of where the hold has been (of the whole domain when it
// begins). Where the latest readings are in doubt, the hold stays where it was.
func (e *engine) holdRegions(d *decision) error {
	reach := e.track.HoldWidths(e.model.Posterior(), e.model.Dims)
	terms := e.criterion.Terms(e.memory.linear(e.model.Posterior(), 1, 0), 0)
	objectives, err := d.Expectations(terms)
	if err != nil {
		return err
	}
	var moving []acquisition.Option
	for i, set := range d.Sets {
		dom := e.domains[set]
		r, fixed := e.track.Region(e.model.Data.Rows, dom, reach)
		if d.regions[set] = r; !fixed {
			moving = append(moving, acquisition.Option{Set: set, Objective: e.criterion.Subtract(objectives[i], d.Evaluation(e.model.Posterior(), set), 0)})
		}
	}
	if len(moving) == 0 {
		return nil
	}
	found, err := d.Search(moving, math.Inf(1))
	if err != nil {
		return err
	}
	for i, o := range moving {
		d.regions[o.Set] = e.domains[o.Set].Around(found[i].X, reach)
	}
	return nil
}

// heldPoint is, while a control set is held, the setting within the hold's reach with the
// greatest lower bound, by which recommendations are ranked; nil while it is not, and
// where steps failed there. The readings surround it, so it is known better than where
// they were taken.
func (e *engine) heldPoint(set int) ([]float64, error) {
	if !e.track.Holding(e.lastObserved + 1) {
		return nil, nil
	}
	d := e.domains[set]
	anchor := e.track.Anchor(e.model.Data.Rows, d)
	if anchor == nil {
		return nil, nil
	}
	terms := e.criterion.Terms(e.memory.linear(e.model.Posterior(), 1, -e.spec.Beta), -e.spec.Beta)
	c, err := e.cache.One(terms, e.criterion.Random.Inputs(d, e.lastObserved+1))
	if err != nil {
		return nil, err
	}
	r := d.Around(anchor, e.track.HoldWidths(e.model.Posterior(), e.model.Dims))
	m, err := search.Maximize(context.Background(), r.Problem(e.criterion.Subtract(c, e.present(d), -e.spec.Beta)),
		search.Options{Seed: num.Stream(e.spec.Seed, num.ForScreening, e.lastObserved+1).Uint64()})
	if err != nil || e.excluded[set].Unreliable(m.X) {
		return nil, err
	}
	d.Round(m.X)
	return m.X, nil
}
