package loop

import (
	"fmt"
	"sync/atomic"
	"time"
)

// easel is where the model's picture is put for those who look at it. It is drawn while
// the instrument moves or is measured, never while a decision is due, and only when
// somebody has asked for it lately.
type easel struct {
	// asked is when a picture was asked for last, in nanoseconds since 1970.
	asked   atomic.Int64
	picture atomic.Pointer[Picture]
	// renewed has a token when there is a new one.
	renewed chan struct{}
}

// pictureLapse is how long after somebody has asked for pictures they are still drawn.
const pictureLapse = 10 * time.Second

// pictureShare bounds what drawing may cost: a twentieth of the time. A decision that
// comes while a picture is drawn waits for it.
const pictureShare = 20

// pictureEvery is the shortest time between two pictures.
const pictureEvery = time.Second

// Picture is the newest picture of the model, nil before the first. Asking for it keeps
// pictures being drawn for another ten seconds. PictureRenewed has a token when there is a
// new one; it is for one receiver.
func (p *Panel) Picture(now time.Time) *Picture {
	p.easel.asked.Store(now.UnixNano())
	return p.easel.picture.Load()
}

// PictureRenewed is a channel that has a token when there is a new picture.
func (p *Panel) PictureRenewed() <-chan struct{} { return p.easel.renewed }

// wantsPicture says that somebody has asked for pictures lately.
func (p *Panel) wantsPicture(now time.Time) bool {
	if p == nil {
		return false
	}
	asked := p.easel.asked.Load()
	return asked != 0 && now.UnixNano()-asked < int64(pictureLapse)
}

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
	if w.busy || w.steps == l.steps || now.Before(w.next) || l.phase < moving || l.phase > measuring || !l.deps.Panel.wantsPicture(now) {
		return
	}
	w.busy, w.steps = true, l.steps
	watch := l.deps.stopwatch()
	l.desk.post(lanePolicy, func() func() {
		begun := watch.Now()
		picture, err := l.draw()
		took := watch.Now().Sub(begun)
		return func() {
			w.busy, w.next = false, l.now().Add(max(pictureEvery, pictureShare*took))
			if err != nil {
				l.deps.logger().Warn("the model cannot be drawn", "error", err)
				return
			}
			l.deps.Panel.hang(&picture)
		}
	})
}

// draw runs on the policy's lane.
func (l *Loop) draw() (picture Picture, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the policy panicked: %v", r)
		}
	}()
	return Draw(&l.opt, l.deps.Policy)
}

// hang shows a new picture.
func (p *Panel) hang(picture *Picture) {
	p.easel.picture.Store(picture)
	select {
	case p.easel.renewed <- struct{}{}:
	default:
	}
}
