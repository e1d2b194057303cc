package advisor

import (
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

const (
	// drawShare bounds what drawing may cost: a twentieth of the time. A decision that comes
	// while the model is drawn waits for it.
	drawShare = 20
	// drawEvery is the shortest time between two drawings.
	drawEvery = time.Second
)

// drawn is what was drawn last.
type drawn struct {
	// steps is how many were concluded then, next the earliest time of the next drawing.
	steps int
	next  time.Time
}

// Drawn is the answer to Draw.
type Drawn struct {
	Picture control.Picture
	Err     error
}

// picture is what the worker brings back.
type picture struct {
	Drawn
	took time.Duration
}

// Draw has the model drawn, after so many concluded steps, unless that was done already,
// is being done, or was done too lately. The answer, if any, is Drawn.
func (a *Advisor) Draw(o *plan.Options, steps int) {
	now := a.opt.Clock.Now()
	if a.drawing != 0 || a.drawn.steps == steps || now.Before(a.drawn.next) {
		return
	}
	a.drawn.steps = steps
	p, watch := a.policy, a.opt.Stopwatch
	a.drawing = a.pool.Post(a.worker, func() any {
		var v picture
		begun := watch.Now()
		v.Err = isolated(func() (err error) { v.Picture, err = Picture(o, p); return err })
		v.took = watch.Now().Sub(begun)
		return v
	})
}

// note says when the next drawing may be, by what this one cost.
func (d *drawn) note(v picture, now time.Time) Drawn {
	d.next = now.Add(max(drawEvery, drawShare*v.took))
	return v.Drawn
}
