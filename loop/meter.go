package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/policy"
)

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
func (l *Loop) meterWrite(took time.Duration) {
	if told := l.deps.Watch.Meter.Record; told != nil {
		told(took)
	}
}

func (l *Loop) meterTrouble(t instrument.Troubled) {
	if told := l.deps.Watch.Meter.Trouble; told != nil {
		told(t.Device, t.Doing)
	}
}

func (l *Loop) meterState(a guard.Alarm) {
	if told := l.deps.Watch.Meter.State; told != nil {
		told(a.Mode, a.Causes)
	}
}

func (l *Loop) meterModel(size policy.Size) {
	if told := l.deps.Watch.Meter.Model; told != nil {
		told(size)
	}
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
