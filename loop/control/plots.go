package control

import (
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

// Picture is the newest picture of the model, nil before the first. Asking for it keeps
// pictures being drawn for another ten seconds. PictureRenewed has a token when there is a
// new one; it is for one receiver.
func (p *Panel) Picture(now time.Time) *Picture {
	p.easel.asked.Store(now.UnixNano())
	return p.easel.picture.Load()
}

// PictureRenewed is a channel that has a token when there is a new picture.
func (p *Panel) PictureRenewed() <-chan struct{} { return p.easel.renewed }

// WantsPicture says that somebody has asked for pictures lately.
func (p *Panel) WantsPicture(now time.Time) bool {
	if p == nil {
		return false
	}
	asked := p.easel.asked.Load()
	return asked != 0 && now.UnixNano()-asked < int64(pictureLapse)
}

// hang shows a new picture.
func (p *Panel) ShowPicture(picture *Picture) {
	p.easel.picture.Store(picture)
	select {
	case p.easel.renewed <- struct{}{}:
	default:
	}
}
