package policy

import (
	"context"
	"math"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/warp"
)

// warped is a policy whose model learns the objective through a logarithm (package warp) from the moment on that the readings
// ask for one. The engine inside knows the transformed objective alone; here it is brought into the engine's unit, and what
// the engine says of it back: a mean becomes a median, bounds stay bounds, standard deviations are half-widths. The variance
// of shots is taken along by the slope (delta method). A fit that is under way when the logarithm changes ends in the old unit,
// and holds until the next one.
type warped struct {
	*engine
	log   warp.Log
	dates warp.Dates
}

// newWarped is the policy around an engine.
func newWarped(e *engine) *warped {
	return &warped{engine: e, dates: warp.NewDates(len(e.axes))}
}

// Observe implements [Policy].
func (p *warped) Observe(o Observation) error {
	if err := p.engine.Observe(p.inside(o)); err != nil {
		return err
	}
	if !o.Valid {
		return nil
	}
	return p.ask(1)
}

// inside is an observation as the engine takes it.
func (p *warped) inside(o Observation) Observation {
	if !o.Valid || !p.log.Acts() {
		return o
	}
	z, slope := p.log.Of(o.Mean)
	o.Mean, o.Variance = z, o.Variance*slope*slope
	return o
}

// Warm implements [Warmer].
func (p *warped) Warm(observations []Observation) error {
	if err := p.engine.Warm(observations); err != nil {
		return err
	}
	return p.ask(len(observations))
}

// ask lets the readings choose, where that is due after so many more valid observations.
func (p *warped) ask(more int) error {
	if !p.dates.Due(more) {
		return nil
	}
	rows := p.model.Data.Rows
	var x, y []float64
	for i := range rows {
		x, y = append(x, rows[i].X...), append(y, p.log.Back(rows[i].Mean))
	}
	chosen, err := warp.Choose(x, y, len(p.axes))
	if err != nil || chosen == p.log {
		return err
	}
	return p.adopt(chosen)
}

// adopt brings what was observed from one unit into another.
func (p *warped) adopt(to warp.Log) error {
	from := p.log
	p.log, p.engine.throughLog = to, to.Acts()
	p.cache.Renew()
	p.kept.Forget()
	return p.model.Retell(func(r *model.Row) {
		y := from.Back(r.Mean)
		_, was := from.Of(y)
		z, slope := to.Of(y)
		r.Mean, r.Variance = z, r.Variance*(slope/was)*(slope/was)
	})
}

// Propose implements [Policy].
func (p *warped) Propose(ctx context.Context) (Proposal, error) {
	out, err := p.engine.Propose(ctx)
	w := &out.Why
	if w.SD = p.log.Spread(w.Mean, w.SD); p.valuesAreLevels() && math.IsNaN(w.Unseen) {
		w.Value = p.log.Back(w.Value)
	}
	w.Mean = p.log.Back(w.Mean)
	if p.log.Acts() && !out.Initial {
		w.LogWidth = p.log.Width
	}
	return out, err
}

// valuesAreLevels reports whether the acquisition's values are values of the objective: others stay in the engine's
// unit.
func (p *warped) valuesAreLevels() bool {
	a := p.spec.Acquisition
	return !p.spec.PerCost && (a == acquireUCB || a == acquireTS || a == acquireGittins)
}

// outside is an estimate in the objective's unit.
func (p *warped) outside(e Estimate) Estimate {
	return Estimate{Mean: p.log.Back(e.Mean), SD: p.log.Spread(e.Mean, e.SD), NoiseSD: p.log.Spread(e.Mean, e.NoiseSD),
		LowerBound: p.log.Back(e.LowerBound), Feasibility: e.Feasibility}
}

// Recommend implements [Policy].
func (p *warped) Recommend() (Recommendation, error) {
	r, err := p.engine.Recommend()
	r.Estimate, r.Start = p.outside(r.Estimate), p.outside(r.Start)
	return r, err
}

// Predict implements [Predictor].
func (p *warped) Predict(controlSet int, x [][]float64) ([]Estimate, error) {
	out, err := p.engine.Predict(controlSet, x)
	for i := range out {
		out[i] = p.outside(out[i])
	}
	return out, err
}

// BestOf implements [Predictor].
func (p *warped) BestOf(controlSet int) (Recommendation, bool, error) {
	r, ok, err := p.engine.BestOf(controlSet)
	if ok {
		r.Estimate = p.outside(r.Estimate)
	}
	return r, ok, err
}

// Acquisition implements [Predictor].
func (p *warped) Acquisition(controlSet int, x [][]float64) ([]float64, error) {
	out, err := p.engine.Acquisition(controlSet, x)
	if p.valuesAreLevels() {
		for i := range out {
			out[i] = p.log.Back(out[i])
		}
	}
	return out, err
}

// RecommendAt implements [Weigher]: by a risk of 0, since that of a transformed objective is another.
func (p *warped) RecommendAt(risk float64) (Recommendation, error) {
	if risk > 0 && p.log.Acts() {
		return Recommendation{}, ErrNoNoise
	}
	r, err := p.engine.RecommendAt(risk)
	r.Estimate, r.Start = p.outside(r.Estimate), p.outside(r.Start)
	return r, err
}

// Tradeoffs implements [Weigher].
func (p *warped) Tradeoffs() ([]Tradeoff, error) {
	if p.log.Acts() {
		return nil, ErrNoNoise
	}
	return p.engine.Tradeoffs()
}
