package advisor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/policy"
)

// watch is a clock that stands until someone works.
type watch struct{ now time.Time }

func (w *watch) Now() time.Time { return w.now }

func (w *watch) work(d time.Duration) { w.now = w.now.Add(d) }

// worksUnits is a policy whose decisions have many units of work, which take so long, and a tail.
type worksUnits struct {
	policy.Policy
	watch               *watch
	before, unit, after time.Duration
}

func (p worksUnits) Propose(ctx context.Context) (policy.Proposal, error) {
	p.watch.work(p.before)
	done := 0
	for done == 0 || ctx.Err() == nil {
		p.watch.work(p.unit)
		if done++; done == 1000 {
			return policy.Proposal{Work: done}, nil
		}
	}
	p.watch.work(p.after)
	return policy.Proposal{Work: done, Cut: true}, nil
}

// A unit that would end after the deadline is not begun, as soon as one has shown how long a unit takes; nor one that
// leaves no time for what follows, as soon as a decision has shown how long that takes.
func TestDecisionsEndWithinTheDeadline(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name         string
		p            worksUnits
		first, later time.Duration
		done         int
	}{
		{"nothing is cut", worksUnits{unit: 40 * time.Microsecond}, 40 * ms, 40 * ms, 1000},
		{"units of 7 ms", worksUnits{before: ms, unit: 7 * ms}, 50 * ms, 50 * ms, 7},
		{"a tail of 10 ms", worksUnits{unit: 4 * ms, after: 10 * ms}, 58 * ms, 50 * ms, 10},
		{"a tail of more than half", worksUnits{unit: 5 * ms, after: 40 * ms}, 90 * ms, 65 * ms, 5},
		{"one unit is always done", worksUnits{before: 30 * ms, unit: 60 * ms}, 90 * ms, 90 * ms, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.watch = &watch{now: time.Unix(0, 0)}
			a := &Advisor{opt: Options{Deadline: 50 * ms, Stopwatch: c.p.watch}}
			for i, want := range []time.Duration{c.first, c.later} {
				d := a.opt.propose(context.Background(), c.p, a.tail)
				if a.expectTail(d.tail); d.Took != want {
					t.Errorf("decision %d took %v, want %v", i+1, d.Took, want)
				}
				if i == 1 && d.Proposal.Work != c.done {
					t.Errorf("decision 2 has %d units, want %d", d.Proposal.Work, c.done)
				}
			}
		})
	}
}

// A decision that has no time left has ended for whoever waits for it, once and for all.
func TestPacedContext(t *testing.T) {
	w := &watch{now: time.Unix(0, 0)}
	c := newPaced(context.Background(), w, time.Second, 0)
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	w.work(2 * time.Second)
	if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	<-c.Done()
	if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asked again: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c = newPaced(ctx, w, time.Second, 0)
	cancel()
	if err := c.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if c.close() != 0 {
		t.Error("a decision that was cancelled has a tail")
	}
}

// A pause does not count in the deadline, nor in what a unit is expected to take; a cancellation ends it all the same.
func TestPausedDeadline(t *testing.T) {
	w := &watch{now: time.Unix(0, 0)}
	ctx, cancel := context.WithCancel(context.Background())
	c := newPaced(ctx, w, time.Second, 0)
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	resume := c.Pause()
	w.work(time.Hour)
	resume()
	w.work(time.Second / 2)
	for range 2 {
		if err := c.Err(); err != nil {
			t.Fatalf("half a second of the second is left: %v", err)
		}
	}
	w.work(time.Second)
	if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("half a second too late: %v", err)
	}
	c = newPaced(ctx, w, time.Second, 0)
	defer c.Pause()()
	cancel()
	<-c.Done()
	if err := c.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a pause: %v", err)
	}
}
