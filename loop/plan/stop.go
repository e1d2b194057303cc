package plan

import "time"

// What ends a search, as a run's reason has it.
const (
	StopTime          = "time"
	StopSteps         = "steps"
	StopCost          = "cost"
	StopTarget        = "target"
	StopNoImprovement = "no-improvement"
)

// Far is how far a search has come.
type Far struct {
	Ran   time.Duration
	Steps int
	Spent Money
	// Bound is the pessimistic bound of what is recommended, in the user's sense, where Bounded
	// and the setting is feasible.
	Bound   float64
	Bounded bool
	// Marked is the best bound so far.
	Marked Marked
}

// StopReason is the stop condition that holds before a step, "" if none does. Whether the
// budget pays for the step itself is looked at when its cost is known.
func (o *Options) StopReason(f Far) string {
	s := &o.Stop
	switch {
	case s.Time > 0 && f.Ran >= s.Time:
		return StopTime
	case o.Mode == Shadow:
		return ""
	case s.Steps > 0 && f.Steps >= s.Steps:
		return StopSteps
	case s.Cost > 0 && f.Spent >= AsMoney(s.Cost):
		return StopCost
	case f.Bounded && o.reached(o.Sense(f.Bound)):
		return StopTarget
	case f.Marked.over(s.NoImprovement, f.Steps, f.Spent):
		return StopNoImprovement
	}
	return ""
}
