package plan

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Bounds is what the safety layer makes of a destination.
type Bounds interface {
	// Bounds are what decisions about a variable keep to, Destination where one ends.
	Bounds(i int) safety.VariableLimits
	Destination(i int, x float64) float64
	// Near keeps a setting near what is known to be safe, and says what that changed.
	Near(applied []float64) []journal.Reason
}

// Step is a decision as it is carried out.
type Step struct {
	Decision journal.Decision
	// Set is the control set in play, -1 in shadow mode.
	Set int
	// Random has one entry per variable: it is left alone in this step.
	Random []bool
	// PerShot says that each shot is a separate observation, because a variable
	// is random.
	PerShot bool
	// Moved is the way from the last setpoint to this one, in each variable's unit.
	Moved []float64
	// Setting is what the setting costs beside the step.
	Setting float64
}

// CheckProposal refuses a proposal that does not have the problem's shape; its
// numbers are the safety layer's business.
func (o *Options) CheckProposal(p policy.Proposal) error {
	if p.Shots < 0 {
		return fmt.Errorf("%d shots", p.Shots)
	}
	if p.ControlSet < 0 || p.ControlSet >= len(o.ControlSets) || len(p.X) != len(o.Variables) {
		return fmt.Errorf("control set %d of %d, %d values for %d variables", p.ControlSet, len(o.ControlSets), len(p.X), len(o.Variables))
	}
	return nil
}

// Decide is a proposal with what the safety layer makes of it. d says which step it is of;
// from is where a variable is taken over, NaN: nobody knows.
func Decide(o *Options, d journal.Decision, p policy.Proposal, b Bounds, from func(i int) float64) (Step, error) {
	d.ControlSet, d.Initial, d.Work, d.Cut, d.Shots, d.Why = p.ControlSet, p.Initial, p.Work, p.Cut, p.Shots, explain(p.Why)
	n, next := len(p.X), even(len(p.X))
	vectors := policy.NaNs(3 * next)
	d.Requested, d.Applied = vectors[:n:n], vectors[next:next+n:next+n]
	for _, i := range o.ControlSets[p.ControlSet].Variables {
		if d.Compared.Comparison > 0 && math.IsNaN(p.X[i]) {
			continue // it was random at the start, and is so again
		}
		limits := b.Bounds(i)
		fallback := from(i)
		if math.IsNaN(fallback) {
			fallback = limits.Safe
		}
		applied, why := limits.Clamp(p.X[i], fallback)
		d.Requested[i], d.Applied[i] = p.X[i], applied
		for _, rule := range why.Names() {
			d.Reasons = append(d.Reasons, journal.Reason{Variable: o.Variables[i].Name, Rule: rule,
				From: p.X[i], To: applied})
		}
	}
	d.Reasons = append(d.Reasons, b.Near(d.Applied)...)
	s := Step{Decision: d, Set: o.Played(p.ControlSet), Random: o.randomIn(d.Applied), PerShot: o.PerShot(d.Applied), Moved: vectors[2*next : 2*next+n]}
	clear(s.Moved)
	s.way(o, b, from)
	return s, s.price(o)
}

// way notes how far each variable is moved.
func (s *Step) way(o *Options, b Bounds, from func(i int) float64) {
	if o.Mode == Shadow {
		return
	}
	for i := range o.Variables {
		dest, driven := s.Destination(o, i)
		if from := from(i); driven && !math.IsNaN(from) {
			s.Moved[i] = math.Abs(b.Destination(i, dest) - from)
		}
	}
}

// price asks what the setting costs: where the safety layer lets it go, not where it
// was wanted.
func (s *Step) price(o *Options) (err error) {
	if s.Set < 0 {
		return nil
	}
	if s.Setting, err = o.Cost.SettingCost(s.Set, s.Decision.Applied); err != nil {
		return fmt.Errorf("decision of step %d: %w", s.Decision.Step, err)
	}
	return nil
}

// Destination is where the step wants variable i driven, if it does.
func (s *Step) Destination(o *Options, i int) (float64, bool) {
	v := &o.Variables[i]
	if applied := s.Decision.Applied[i]; !math.IsNaN(applied) {
		return applied, true
	}
	return v.Kept()
}

// Bad says that what was asked of variable i is not finite, so that its destination stands
// in for it.
func (s *Step) Bad(i int) bool {
	return !finite(s.Decision.Requested[i]) && !math.IsNaN(s.Decision.Applied[i])
}

// Wanted is how many shots the step takes.
func (s *Step) Wanted(o *Options) int { return o.shotsOf(&s.Decision) }

// Cost is what the step costs with the shots that were taken; nothing in shadow mode.
func (s *Step) Cost(o *Options, shots int) Money {
	if s.Set < 0 {
		return 0
	}
	return o.Cost.stepCost(Bill{Set: o.ControlSets[s.Set].Cost, Setting: s.Setting, Shots: shots, Moved: s.Moved})
}

// explain writes a policy's reasons as a JSON document; parts it does not have
// are left out.
func explain(w policy.Why) string {
	known := func(x *float64) *float64 {
		if finite(*x) {
			return x
		}
		return nil
	}
	text, err := json.Marshal(explained{Again: known(&w.Again), Best: known(&w.Best), BestNoiseVariance: known(&w.BestNoiseVariance), Beta: known(&w.Beta),
		Feasibility: known(&w.Feasibility), LogWidth: known(&w.LogWidth), Mean: known(&w.Mean), NoiseVariance: known(&w.NoiseVariance),
		OwnLengthscales: known(&w.OwnLengthscales), Risk: known(&w.Risk), SD: known(&w.SD), Settled: known(&w.Settled), Unseen: known(&w.Unseen), Value: known(&w.Value)})
	if err != nil {
		return "{}"
	}
	return string(text)
}

// explained are a policy's reasons in the order of their names, nil where it has none.
type explained struct {
	Again             *float64 `json:"again,omitempty"`
	Best              *float64 `json:"best,omitempty"`
	BestNoiseVariance *float64 `json:"best_noise_variance,omitempty"`
	Beta              *float64 `json:"beta,omitempty"`
	Feasibility       *float64 `json:"feasibility,omitempty"`
	LogWidth          *float64 `json:"log_width,omitempty"`
	Mean              *float64 `json:"mean,omitempty"`
	NoiseVariance     *float64 `json:"noise_variance,omitempty"`
	OwnLengthscales   *float64 `json:"own_lengthscales,omitempty"`
	Risk              *float64 `json:"risk,omitempty"`
	SD                *float64 `json:"sd,omitempty"`
	Settled           *float64 `json:"settled,omitempty"`
	Unseen            *float64 `json:"unseen,omitempty"`
	Value             *float64 `json:"value,omitempty"`
}
