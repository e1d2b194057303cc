package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// The watchdogs' limits.
const (
	// dogTicks ticks without a sign of the loop are too many, and never less than
	// dogMin. Not fewer: a slow disk or a busy board may hold a tick up. Not more: a
	// dead process is the lease's business.
	dogTicks = 20
	dogMin   = 2 * time.Second
	// wallStep is a jump of the wall clock that is worth a line.
	wallStep = time.Second
)

// watchdog halts every device by its own lane when the loop has not ticked for too
// long. It runs on a goroutine of its own and touches nothing of the loop's.
func (l *Loop) watchdog(asleep <-chan struct{}) {
	limit := l.dogLimit()
	look := time.NewTicker(limit * 23 / 100) // no multiple of a tick, which it would meet each time
	defer look.Stop()
	barked := false
	for {
		select {
		case <-asleep:
			return
		case <-look.C:
		}
		if !l.stood(l.now()) {
			barked = false
			continue
		}
		if !barked {
			barked = true
			l.instrument.HaltAll(limit)
		}
	}
}

// dogLimit is how long the loop may show no sign.
func (l *Loop) dogLimit() time.Duration {
	return max(dogTicks*l.opt.Tick, dogMin) * time.Duration(max(1, l.deps.Slowness))
}

// stood says that the loop has shown no sign for too long.
func (l *Loop) stood(now time.Time) bool {
	beat := l.beat.Load()
	return beat != 0 && now.Sub(l.start)-time.Duration(beat) > l.dogLimit()
}

// ownStall trips the run where the loop has stood still for too long. After a stop of the
// whole process the loop may be back before the watchdog has looked, or between its halt and
// word of that: either way nothing may follow but safe values.
func (l *Loop) ownStall(now time.Time) {
	if halted := l.instrument.Halted(); halted || l.opt.Mode == plan.Live && l.stood(now) {
		l.faults.Add(safety.RuleWatchdog, 0)
	}
}

// showSign tells the watchdog that the loop goes on, and looks at the wall clock.
func (l *Loop) showSign(now time.Time) {
	beat := int64(0)
	if l.phase > booting && l.phase < closing && l.instrument.Drove() {
		beat = max(int64(now.Sub(l.start)), 1)
	}
	l.beat.Store(beat)
	if jump, ok := l.wall.look(now.Sub(l.start), now.Round(0).Sub(l.start.Round(0))); ok {
		l.event("warn", "clock", fmt.Sprintf("the wall clock has jumped by %v; every timer uses the monotonic clock, and only dates are affected", jump))
	}
}

// wallWatch notices jumps of the wall clock against the monotonic one.
type wallWatch struct{ ahead time.Duration }

// look compares the time that has passed by both clocks.
func (w *wallWatch) look(mono, wall time.Duration) (jump time.Duration, told bool) {
	jump = wall - mono - w.ahead
	if jump < wallStep && jump > -wallStep {
		return 0, false
	}
	w.ahead += jump
	return jump, true
}
