package show

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// outboxLines is how many lines may wait for whoever reads stdout. A step makes
// one line, so this is a long time for a reader to be away.
const outboxLines = 4096

// OutboxPatience is how long the end of a run waits for a slow reader.
const OutboxPatience = 2 * time.Second

// errSlowReader is the end of a run whose reader did not take all lines.
var errSlowReader = errors.New("stdout was not read fast enough; the journal has every step")

// Outbox writes lines to a pipe or a file on a goroutine of its own, so that a
// reader who is slow or gone never stalls the loop that moves actuators.
type Outbox struct {
	w     io.Writer
	lines chan []byte
	done  chan struct{}
	// patient makes put wait for a slow reader instead of dropping lines: in a
	// simulation nothing real waits.
	patient bool
	dropped atomic.Int64
	// failed is called at the first error of a write.
	failed func()
	// err is the first error of a write; read it after done.
	err error
}

func NewOutbox(w io.Writer, patient bool, failed func()) *Outbox {
	o := &Outbox{w: w, lines: make(chan []byte, outboxLines), done: make(chan struct{}), patient: patient, failed: failed}
	go o.run()
	return o
}

// run writes until the box is closed. After a failed write it goes on emptying
// the box, so that nobody waits for it.
func (o *Outbox) run() {
	defer close(o.done)
	for line := range o.lines {
		if o.err != nil {
			o.dropped.Add(1)
			continue
		}
		if _, o.err = o.w.Write(line); o.err != nil {
			o.failed()
		}
	}
}

// Put queues a line with its line feed.
func (o *Outbox) Put(line []byte) {
	if o.patient {
		o.lines <- line
		return
	}
	select {
	case o.lines <- line:
	default:
		o.dropped.Add(1)
	}
}

// Close writes what is left and returns the first error of a write. It is called
// once, after the last put.
func (o *Outbox) Close() error {
	close(o.lines)
	if o.patient {
		<-o.done
		return o.err
	}
	select {
	case <-o.done:
	case <-time.After(OutboxPatience):
		return errSlowReader
	}
	if o.err == nil && o.dropped.Load() > 0 {
		return errSlowReader
	}
	return o.err
}
