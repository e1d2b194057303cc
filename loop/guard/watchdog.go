package guard

import (
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/drivers"
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

// watchdog looks whether the loop goes on.
type watchdog struct {
	clock drivers.Clock
	start time.Time
	// limit is how long the loop may show no sign.
	limit time.Duration
	// beat is the last sign, since the start; 0 while nothing is watched.
	beat atomic.Int64
	wall wallWatch
}

func newWatchdog(o *Options) watchdog {
	limit := max(dogTicks*o.Plan.Tick, dogMin) * time.Duration(max(1, o.Slowness))
	return watchdog{clock: o.Clock, start: o.Start, limit: limit}
}

// Watch calls halt, with the limit, when the loop has shown no sign for too long. It runs
// on a goroutine of its own until asleep is closed, and touches nothing of the loop's.
func (d *watchdog) Watch(asleep <-chan struct{}, halt func(limit time.Duration)) {
	limit := d.limit
	look := time.NewTicker(limit * 23 / 100) // no multiple of a tick, which it would meet each time
	defer look.Stop()
	barked := false
	for {
		select {
		case <-asleep:
			return
		case <-look.C:
		}
		if !d.Stood(d.clock.Now()) {
			barked = false
			continue
		}
		if !barked {
			barked = true
			halt(limit)
		}
	}
}

// Stood says that the loop has shown no sign for too long. It may be called from any
// goroutine.
func (d *watchdog) Stood(now time.Time) bool {
	beat := d.beat.Load()
	return beat != 0 && now.Sub(d.start)-time.Duration(beat) > d.limit
}

// OwnStall trips the run where the loop has stood still for too long, and says so. After a stop
// of the whole process the loop may be back before the watchdog has looked, or between its halt
// and word of that: either way nothing may follow but safe values.
func (g *Guard) OwnStall(now time.Time, halted bool) bool {
	if !halted && (g.plan.Mode != plan.Live || !g.Stood(now)) {
		return false
	}
	g.Fault(safety.RuleWatchdog, 0)
	return true
}

// ShowSign tells the watchdog that the loop goes on, and looks at the wall clock: by how
// much it has jumped, if it has. Nothing is watched while nothing is driven.
func (d *watchdog) ShowSign(now time.Time, driving bool) (jump time.Duration, jumped bool) {
	beat := int64(0)
	if driving {
		beat = max(int64(now.Sub(d.start)), 1)
	}
	d.beat.Store(beat)
	return d.wall.look(now.Sub(d.start), now.Round(0).Sub(d.start.Round(0)))
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
