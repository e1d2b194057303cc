package loop

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// narrowTo goes on by the limits of next, on the loop's goroutine; see [control.Narrower].
func (l *Loop) narrowTo(next *plan.Options, words string) error {
	if l.phase >= homing {
		return fmt.Errorf("%w: and this one is ending", plan.ErrNotNarrower)
	}
	if len(next.Variables) != len(l.opt.Variables) || len(next.Sensors) != len(l.opt.Sensors) {
		return fmt.Errorf("%w: variables or sensors are others", plan.ErrNotNarrower)
	}
	err := l.guard.Narrow(next, l.endsByItself, func(i int) guard.Stand {
		wanted, driven := l.instrument.Wanted(i)
		return guard.Stand{Written: l.instrument.Written(i), Wanted: wanted, Driven: driven}
	})
	if err != nil {
		return err
	}
	l.opt.Safety = next.Safety
	l.opt.Variables = slices.Clone(l.opt.Variables) // the caller's stay as they are
	for i := range l.opt.Variables {
		l.opt.Variables[i].Limits = next.Variables[i].Limits
	}
	l.event("info", journal.EventConfiguration, words)
	from := l.stepper.steps + 1
	if l.stepper.step.open { // its decision has been made
		from++
	}
	l.stepper.changes.tellKept(from)
	return nil
}
