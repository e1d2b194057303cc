package outcome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
	"github.com/labtuner/tuner/loop/web/plots"
)

// Drawer draws figures of a run while it goes on, from its journal and a model of its own that learns the record: nothing
// is asked of the policy that decides. One thing is drawn at a time, and the model learns anew when steps have
// come and its last learning is as long ago as that took, 20 times over; between, figures show the model as it was.
type Drawer struct {
	env  *host.Env
	path string
	ctx  context.Context

	mu     sync.Mutex
	closed bool
	record *Recorded // nil before the first figure
	source plots.Source
	steps  int // that the model knows
	// next is the earliest time at which the model learns anew, rest that at which another figure is drawn:
	// drawing takes half of the time at most, however much is asked for.
	next, rest time.Time
	// made are the figures of the present model, busy the one that is being drawn: closed when it is.
	made map[web.FigureQuery]madeFigure
	busy chan struct{}
	of   web.FigureQuery
}

type madeFigure struct {
	svg []byte
	err error
}

// drawRest is how many times as long as learning took the model is left as it is: a twentieth of the time at most
// goes into it. drawWait is how long one request waits for its figure, drawnMost how many are kept, drawnCells
// how many values stand along a side of a map.
const (
	drawRest   = 20
	drawWait   = 10 * time.Second
	drawnMost  = 64
	drawnCells = 33
)

// NewDrawer draws the run of a journal until ctx ends. Its caller closes it.
func NewDrawer(ctx context.Context, e *host.Env, path string) *Drawer {
	env := *e
	env.Stderr = io.Discard // how far the model is concerns nobody
	return &Drawer{env: &env, path: path, ctx: ctx, made: map[web.FigureQuery]madeFigure{}}
}

// Kinds implements web.Drawer.
func (d *Drawer) Kinds() (out []web.FigureKind) {
	for _, k := range plots.Kinds() {
		f := web.FigureKind{Name: k.Name, About: k.About, Of: []string{}, Over: []string{}}
		switch k.Name {
		case "contour":
			f.Pair, f.Of = true, plots.Aspects()
		case "progress":
			f.Over = []string{"steps", "cost"}
		}
		out = append(out, f)
	}
	return out
}

// SVG implements web.Drawer.
func (d *Drawer) SVG(ctx context.Context, q web.FigureQuery) ([]byte, error) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, fmt.Errorf("%w: the run's process ends", web.ErrNoFigure)
	}
	if f, ok := d.made[q]; ok && (d.busy != nil || !d.due()) {
		d.mu.Unlock()
		return f.svg, f.err
	}
	if d.busy == nil && d.env.Now().Before(d.rest) {
		d.mu.Unlock()
		return nil, web.ErrDrawing
	}
	if d.busy == nil {
		d.busy, d.of = make(chan struct{}), q
		go d.draw(q)
	}
	busy, other := d.busy, d.of != q
	d.mu.Unlock()
	wait := time.NewTimer(drawWait)
	defer wait.Stop()
	select {
	case <-busy:
	case <-wait.C:
		return nil, web.ErrDrawing
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if f, ok := d.made[q]; ok {
		return f.svg, f.err
	}
	if other {
		return nil, web.ErrDrawing
	}
	return nil, fmt.Errorf("%w: the run's process ends", web.ErrNoFigure)
}

// due says that the model is to learn anew before a figure is drawn. The caller holds the lock, and nothing is
// being drawn, or the caller draws it: a record has one reader at a time.
func (d *Drawer) due() bool {
	if d.record == nil {
		return true
	}
	if d.env.Now().Before(d.next) {
		return false
	}
	status, err := d.record.Reader.Status()
	return err != nil || status.Steps != d.steps || status.Finished != d.source.Document.Run.Finished
}

// draw makes one figure. It alone changes the record and what is made of it.
func (d *Drawer) draw(q web.FigureQuery) {
	f := d.attempt(q)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.made) >= drawnMost {
		clear(d.made)
	}
	d.made[q] = f
	close(d.busy)
	d.busy = nil
	if d.closed {
		d.leave()
	}
}

// attempt has the model learn where that is due, and draws. A picture ends no run: a panic becomes an error.
func (d *Drawer) attempt(q web.FigureQuery) (f madeFigure) {
	defer func() {
		if r := recover(); r != nil {
			f = madeFigure{err: fmt.Errorf("drawing has panicked: %v", r)}
		}
	}()
	if d.dueNow() {
		if f.err = d.learn(); f.err != nil {
			return f
		}
	}
	begun := d.env.Now()
	f.svg, f.err = d.figure(q)
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.env.Now()
	d.rest = now.Add(now.Sub(begun))
	return f
}

func (d *Drawer) dueNow() bool {
	d.mu.Lock()
	defer d.mu.Unlock() // after a panic too
	return d.due()
}

// learn reads the record anew and has a model learn it.
func (d *Drawer) learn() error {
	begun := d.env.Now()
	record, source, steps, err := d.read()
	d.mu.Lock()
	defer d.mu.Unlock()
	took := d.env.Now().Sub(begun)
	d.next = d.env.Now().Add(max(time.Second, drawRest*took))
	clear(d.made)
	d.leave()
	if err != nil {
		return err
	}
	d.record, d.source, d.steps = record, source, steps
	return nil
}

func (d *Drawer) read() (*Recorded, plots.Source, int, error) {
	record, err := OpenRecorded(d.env, d.path, "")
	if err != nil {
		return nil, plots.Source{}, 0, err
	}
	status, err := record.Reader.Status()
	if err != nil {
		return nil, plots.Source{}, 0, errors.Join(err, record.Close())
	}
	source, err := record.Figures(d.ctx)
	if err != nil {
		return nil, plots.Source{}, 0, errors.Join(err, record.Close())
	}
	source.Cells = drawnCells
	return record, source, status.Steps, nil
}

// figure draws from what the model knows; nothing else does so meanwhile.
func (d *Drawer) figure(q web.FigureQuery) ([]byte, error) {
	s := d.source
	s.Sensors = sensorMeans(d.record.Reader) // asked for from the first step on
	f, err := plots.Draw(s, q.Kind, plots.Options{X: q.X, Y: q.Y, Of: q.Of, Over: q.Over})
	switch {
	case errors.Is(err, plots.ErrNothing), errors.Is(err, plots.ErrChoice):
		return nil, fmt.Errorf("%w: %w", web.ErrNoFigure, err)
	case err != nil:
		return nil, err
	}
	f.Note = fmt.Sprintf("%s After %s.", f.Note, show.Count(d.source.Document.Total, "step"))
	var out bytes.Buffer
	err = f.Write(&out, "svg", figure.Page)
	return out.Bytes(), err
}

// leave closes the record; the caller holds the lock.
func (d *Drawer) leave() {
	if d.record != nil {
		_ = d.record.Close() // it was only read
		d.record = nil
	}
}

// Close ends drawing. What is being drawn is given up with the context.
func (d *Drawer) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.busy == nil {
		d.leave()
	}
}
