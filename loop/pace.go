package loop

import (
	"context"
	"time"

	"github.com/labtuner/tuner/loop/worker"
)

// soon is when a shot is to be asked for where no tick does it; false: a tick does.
func soon(l *Loop) (at time.Time, ok bool) {
	at, ok = l.stepper.step.shots.Soon(&l.opt, l.now())
	return at, ok && l.phase == measuring && !l.held
}

// shotsUntil advances the clock to the next tick, with the shots that are asked for before it.
func shotsUntil(ctx context.Context, l *Loop, clock *worker.VirtualClock, tick time.Time) {
	for {
		at, ok := soon(l)
		if !ok || !at.Before(tick) {
			clock.Advance(tick.Sub(clock.Now()))
			return
		}
		clock.Advance(at.Sub(clock.Now()))
		askNow(l.stepper)
		l.drain(ctx)
	}
}
