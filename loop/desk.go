package loop

import (
	"sync"
	"time"
)

// desk carries work that may block away from the loop's goroutine.
type desk interface {
	// post queues job on a lane; jobs of one lane run one after the other, in
	// order. What a job returns runs on the loop's goroutine (nil: nothing does).
	post(lane int, job func() func())
	// put hands f to the loop's goroutine; it may be called from any goroutine and
	// does not block. It reports false if too much is waiting already.
	put(f func()) bool
	// close ends the lanes once their queued jobs are done and waits for that, but
	// not for a job that hangs.
	close()
}

// mailLimit bounds what may wait for the loop's goroutine. A tick handles
// thousands; more than this waiting means that readings arrive faster than they
// can be used, and the newest are dropped and counted.
const mailLimit = 8192

// mailbox is a queue of functions for the loop's goroutine.
type mailbox struct {
	mu    sync.Mutex
	queue []func()
	// bell has a token while the queue is not empty.
	bell chan struct{}
}

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1)} }

// add appends f; limited says that it may be refused when the box is full.
func (m *mailbox) add(f func(), limited bool) bool {
	m.mu.Lock()
	if limited && len(m.queue) >= mailLimit {
		m.mu.Unlock()
		return false
	}
	m.queue = append(m.queue, f)
	m.mu.Unlock()
	select {
	case m.bell <- struct{}{}:
	default:
	}
	return true
}

// take empties the box.
func (m *mailbox) take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.queue
	m.queue = nil
	return q
}

// realDesk runs each lane on a goroutine of its own.
type realDesk struct {
	mail  *mailbox
	mu    sync.Mutex
	lanes map[int]*lane
}

// lane is a goroutine with a queue of jobs.
type lane struct {
	jobs *mailbox
	stop chan struct{}
	done chan struct{}
}

func newRealDesk() *realDesk {
	return &realDesk{mail: newMailbox(), lanes: map[int]*lane{}}
}

func (d *realDesk) post(n int, job func() func()) {
	d.mu.Lock()
	ln := d.lanes[n]
	if ln == nil {
		ln = &lane{jobs: newMailbox(), stop: make(chan struct{}), done: make(chan struct{})}
		d.lanes[n] = ln
		go ln.work()
	}
	d.mu.Unlock()
	ln.jobs.add(func() {
		if done := job(); done != nil {
			d.mail.add(done, false)
		}
	}, false)
}

func (d *realDesk) put(f func()) bool { return d.mail.add(f, true) }

func (d *realDesk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, ln := range d.lanes {
		close(ln.stop)
	}
	limit := time.After(closeTimeout)
	for _, ln := range d.lanes {
		select {
		case <-ln.done:
		case <-limit:
			return
		}
	}
}

// work runs jobs until the lane is stopped and its queue is empty.
func (ln *lane) work() {
	defer close(ln.done)
	for {
		for _, f := range ln.jobs.take() {
			f()
		}
		select {
		case <-ln.jobs.bell:
		case <-ln.stop:
			for _, f := range ln.jobs.take() {
				f()
			}
			return
		}
	}
}

// virtualDesk runs jobs in order on the caller's goroutine, between ticks.
type virtualDesk struct{ queue []func() func() }

func (d *virtualDesk) post(_ int, job func() func()) { d.queue = append(d.queue, job) }

func (d *virtualDesk) put(f func()) bool {
	d.post(0, func() func() { return f })
	return true
}

func (d *virtualDesk) close() {}

// drain runs jobs and what they return until nothing is left.
func (d *virtualDesk) drain() {
	for len(d.queue) > 0 {
		job := d.queue[0]
		d.queue = d.queue[1:]
		if done := job(); done != nil {
			done()
		}
	}
}
