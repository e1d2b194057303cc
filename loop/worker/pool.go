package worker

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Ticket names a posted job; 0 names none.
type Ticket uint64

// Result is what a job returned, or with Ticket 0 what Put handed over.
type Result struct {
	Ticket Ticket
	Value  any
}

// Pool runs jobs on workers. Take belongs to the goroutine that owns the pool; Post and Put
// may be called from any, but in virtual time there is one only.
type Pool struct {
	virtual bool
	last    atomic.Uint64
	results *mailbox[Result]

	// queue is the virtual pool's jobs, in posting order, of which done have run; one is what Take gives.
	queue []posted
	done  int
	one   [1]Result
	// workers are the real pool's goroutines.
	mu      sync.Mutex
	workers map[int]*worker
}

// Job is what a worker does; nil gives no result.
type Job interface{ Do() any }

// function is a job that a function does.
type function func() any

func (f function) Do() any { return f() }

type posted struct {
	ticket Ticket
	Job
}

// New returns a pool with a goroutine for each worker that is used.
func New() *Pool { return &Pool{results: newMailbox[Result](), workers: map[int]*worker{}} }

// NewVirtual returns a pool without goroutines, whose Take runs the jobs.
func NewVirtual() *Pool { return &Pool{virtual: true, results: newMailbox[Result]()} }

// Post queues a function on a worker. One that returns nil gives no result.
func (p *Pool) Post(n int, job func() any) Ticket { return p.PostJob(n, function(job)) }

// PostJob queues a job on a worker.
func (p *Pool) PostJob(n int, job Job) Ticket {
	j := posted{Ticket(p.last.Add(1)), job}
	if p.virtual {
		p.queue = append(p.queue, j)
		return j.ticket
	}
	p.mu.Lock()
	w := p.workers[n]
	if w == nil {
		w = &worker{jobs: newMailbox[posted](), stop: make(chan struct{}), done: make(chan struct{})}
		p.workers[n] = w
		go w.run(p.results)
	}
	p.mu.Unlock()
	w.jobs.add(j)
	return j.ticket
}

// maxTransfer bounds what Put may leave waiting. A tick handles thousands; more than
// this waiting means that readings come faster than they can be used.
const maxTransfer = 8192

// Put hands v to the owner without waiting. It reports false, and forgets v, if too much
// waits already. In virtual time v takes its turn among the posted jobs.
func (p *Pool) Put(v any) bool {
	if p.virtual {
		p.queue = append(p.queue, posted{Job: function(func() any { return v })})
		return true
	}
	return p.results.addUpTo(Result{Value: v}, maxTransfer)
}

// Ready has a token while results wait; it is for one receiver. A virtual pool never has
// one.
func (p *Pool) Ready() <-chan struct{} { return p.results.ready }

// Take gives what waits, in order; it holds until the next call. A virtual pool runs jobs until one has a result and
// gives that alone, until the next call, so that what it leads to is posted before the next job
// runs; nil: nothing is left.
func (p *Pool) Take() []Result {
	if !p.virtual {
		return p.results.take()
	}
	for p.done < len(p.queue) {
		j := p.queue[p.done]
		p.queue[p.done] = posted{} // what it refers to can go
		if p.done++; p.done == len(p.queue) {
			p.queue, p.done = p.queue[:0], 0
		}
		if v := j.Do(); v != nil {
			p.one[0] = Result{j.ticket, v}
			return p.one[:]
		}
	}
	p.one[0] = Result{}
	return nil
}

// Close ends the workers once their queued jobs are done, and waits for that, but not for
// longer than limit: a job may hang.
func (p *Pool) Close(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		close(w.stop)
	}
	over := time.After(limit)
	for _, w := range p.workers {
		select {
		case <-w.done:
		case <-over:
			return
		}
	}
}

// worker is a goroutine with a queue of jobs.
type worker struct {
	jobs *mailbox[posted]
	stop chan struct{}
	done chan struct{}
}

// run runs jobs until the worker is stopped and its queue is empty.
func (w *worker) run(results *mailbox[Result]) {
	defer close(w.done)
	for {
		w.runAll(results)
		select {
		case <-w.jobs.ready:
		case <-w.stop:
			w.runAll(results)
			return
		}
	}
}

func (w *worker) runAll(results *mailbox[Result]) {
	for _, j := range w.jobs.take() {
		if v := j.Do(); v != nil {
			results.add(Result{j.ticket, v})
		}
	}
}

// mailbox is a queue from many goroutines to one.
type mailbox[T any] struct {
	mu    sync.Mutex
	queue []T
	// taken is what was taken last, and the next queue's memory.
	taken []T
	// ready has a token while the queue is not empty.
	ready chan struct{}
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{ready: make(chan struct{}, 1)} }

func (m *mailbox[T]) add(v T) { m.addUpTo(v, math.MaxInt) }

// addUpTo adds v unless limit wait already.
func (m *mailbox[T]) addUpTo(v T, limit int) bool {
	m.mu.Lock()
	if len(m.queue) >= limit {
		m.mu.Unlock()
		return false
	}
	m.queue = append(m.queue, v)
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
	return true
}

// take empties the box. What it gives holds until the next call.
func (m *mailbox[T]) take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.taken) // what it refers to can go
	m.queue, m.taken = m.taken[:0], m.queue
	return m.taken
}
