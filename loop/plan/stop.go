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

// Left estimates the time until the earliest stop condition at the pace so far, of so many steps of the
// search; negative if nothing is known yet.
func (o *Options) Left(searched int, spent float64, elapsed time.Duration) time.Duration {
	left := time.Duration(-1)
	earliest := func(d time.Duration) {
		if left < 0 || d < left {
			left = d
		}
	}
	s := &o.Stop
	if s.Time > 0 {
		earliest(max(s.Time-elapsed, 0))
	}
	if searched == 0 || o.Mode == Shadow {
		return left
	}
	if s.Steps > 0 {
		earliest(scale(elapsed, float64(s.Steps-searched)/float64(searched)))
	}
	if s.Cost > 0 && spent > 0 {
		earliest(scale(elapsed, (s.Cost-spent)/spent))
	}
	return left
}

func scale(d time.Duration, f float64) time.Duration {
	return time.Duration(max(f, 0) * float64(d))
}
