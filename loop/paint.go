package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
)

// pictureShare bounds what drawing may cost: a twentieth of the time. A decision that
// comes while a picture is drawn waits for it.
const pictureShare = 20

// pictureEvery is the shortest time between two pictures.
const pictureEvery = time.Second

// painting is what the loop knows of its pictures.
type painting struct {
	// steps is how many were concluded when the last one was drawn, next the earliest time
	// of the next one; busy says that one is being drawn.
	steps int
	next  time.Time
	busy  bool
}

// paint has the model drawn if there is something new to see and time for it.
func (l *Loop) paint(now time.Time) {
	w := &l.painting
	if w.busy || w.steps == l.steps || now.Before(w.next) || l.phase < moving || l.phase > measuring || !l.deps.Panel.WantsPicture(now) {
		return
	}
	w.busy, w.steps = true, l.steps
	watch := l.deps.stopwatch()
	l.post(lanePolicy, func() func() {
		begun := watch.Now()
		picture, err := l.draw()
		took := watch.Now().Sub(begun)
		return func() {
			w.busy, w.next = false, l.now().Add(max(pictureEvery, pictureShare*took))
			if err != nil {
				l.deps.logger().Warn("the model cannot be drawn", "error", err)
				return
			}
			l.deps.Panel.ShowPicture(&picture)
		}
	})
}

// draw runs on the policy's lane.
func (l *Loop) draw() (picture control.Picture, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the policy panicked: %v", r)
		}
	}()
	return Draw(&l.opt, l.deps.Policy)
}
