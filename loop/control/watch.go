package control

import (
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Watch is a set of callbacks; nil ones are not called.
type Watch struct {
	// Step: a step was concluded.
	Step func(journal.Decision, journal.Outcome)
	// Progress: a tick was completed that changed what a progress line shows. Of a simulation that is the step, and the
	// phase too where Phases says so, for who looks on.
	Progress func(Progress)
	Phases   bool
	// Event: a line of the run's story.
	Event func(journal.Event)
	// Meter: durations and counts.
	Meter Meter
}

// Whole is the watch with something to call in the place of each nil but Progress, for which a
// status would be made.
func (w Watch) Whole() Watch {
	m := &w.Meter
	if w.Step == nil {
		w.Step = func(journal.Decision, journal.Outcome) {}
	}
	if w.Event == nil {
		w.Event = func(journal.Event) {}
	}
	if m.Tick == nil {
		m.Tick = func(time.Duration) {}
	}
	if m.Record == nil {
		m.Record = func(time.Duration) {}
	}
	if m.Trouble == nil {
		m.Trouble = func(string, string) {}
	}
	if m.State == nil {
		m.State = func(string, []Cause) {}
	}
	if m.Model == nil {
		m.Model = func(ModelSize) {}
	}
	if m.Fit == nil {
		m.Fit = func(bool) {}
	}
	return w
}

// Progress is what a progress line shows.
type Progress struct {
	*Status
	// Read says that the instrument has been read and the run goes on from there;
	// Ending that the actuators are on their way to rest.
	Read, Ending bool
}

// Meter receives what those who watch over a service want to know of a run beside its
// Status: how long things take, and how often they happen. Its functions are called on
// the loop's goroutine and must not block; nil ones are not called.
type Meter struct {
	// Tick: a tick was completed, and took so long.
	Tick func(took time.Duration)
	// Record: something that was to be recorded became durable, so long after it was asked for.
	Record func(took time.Duration)
	// Trouble: a device's "read" or "write" went wrong.
	Trouble func(device, operation string)
	// State: the safety layer went to "held", "fallen back", "tripped" or "stopped", because
	// of these.
	State func(state string, because []Cause)
	// Model: the policy has learnt, and its model is of this size.
	Model func(ModelSize)
	// Fit: hyperparameters came into force, or their fit failed.
	Fit func(failed bool)
}

// Fitted tells what came of the fits that a proposal follows.
func (m *Meter) Fitted(p policy.Proposal) {
	if p.Fit != nil {
		m.Fit(p.Fit.Err != nil)
	}
	if p.FailedFits != nil {
		m.Fit(true)
	}
}

// ModelSize is how much a policy's model holds.
type ModelSize = policy.Size

// RuleNames lists the safety rules by the names that a Cause has.
func RuleNames() []string {
	names := make([]string, safety.RuleCount)
	for r := range safety.RuleCount {
		names[r] = r.String()
	}
	return names
}
