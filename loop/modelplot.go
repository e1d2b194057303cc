package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/advisor"
)

// draw has the model drawn while the instrument moves or is measured, never while a
// decision is due, and only if a person has asked for it lately.
func (l *Loop) draw(now time.Time) {
	if l.phase >= moving && l.phase <= measuring && l.deps.Panel.WantsPicture(now) {
		l.advisor.Draw(&l.opt, l.steps)
	}
}

// drawn shows the model.
func (l *Loop) drawn(d advisor.Drawn) {
	if d.Err != nil {
		l.deps.logger().Warn("the model cannot be drawn", "error", d.Err)
		return
	}
	l.deps.Panel.ShowPicture(&d.Picture)
}
