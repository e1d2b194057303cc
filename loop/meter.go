package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Meter is told what those who watch over a service want to know of a run beside its
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

// metered runs a tick and tells how long it took.
func (l *Loop) metered(tick func()) {
	told := l.deps.Watch.Meter.Tick
	if told == nil {
		tick()
		return
	}
	watch := l.deps.stopwatch()
	begin := watch.Now()
	tick()
	told(watch.Now().Sub(begin))
}

// meterWrite tells how long a record took, from the time at which it was asked for.
func (l *Loop) meterWrite(asked time.Time) {
	if told := l.deps.Watch.Meter.Record; told != nil {
		told(l.now().Sub(asked))
	}
}

func (l *Loop) meterTrouble(k *link, operation string) {
	if told := l.deps.Watch.Meter.Trouble; told != nil {
		told(k.name, operation)
	}
}

func (l *Loop) meterState(mode safety.Mode) {
	if told := l.deps.Watch.Meter.State; told != nil {
		told(modeWords[mode], l.list(l.safety.FirstOut))
	}
}

func (l *Loop) meterModel(size policy.Size) {
	if told := l.deps.Watch.Meter.Model; told != nil {
		told(size)
	}
}

// sizeOf asks a policy for its model's size, on the policy's lane.
func sizeOf(p policy.Policy) (s policy.Size) {
	if sized, ok := p.(policy.Sizer); ok {
		s = sized.Size()
	}
	return s
}

func (l *Loop) meterFit(p policy.Proposal) {
	if told := l.deps.Watch.Meter.Fit; told != nil {
		if p.Fit != nil {
			told(p.Fit.Err != nil)
		}
		if p.FailedFits != nil {
			told(true)
		}
	}
}
