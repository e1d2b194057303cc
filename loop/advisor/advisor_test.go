package advisor

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
)

// single is a policy that notices when two goroutines use it at once.
type single struct {
	t     *testing.T
	busy  atomic.Int32
	hangs chan struct{} // nil: it answers
}

func (s *single) enter() func() {
	if s.busy.Add(1) > 1 {
		s.t.Error("two goroutines use one policy")
	}
	return func() { s.busy.Add(-1) }
}

func (s *single) Propose(context.Context) (policy.Proposal, error) {
	defer s.enter()()
	if s.hangs != nil {
		<-s.hangs
	}
	return policy.Proposal{X: []float64{1}}, nil
}

func (s *single) Observe(policy.Observation) error {
	defer s.enter()()
	return nil
}

func (s *single) Recommend() (policy.Recommendation, error) {
	defer s.enter()()
	time.Sleep(time.Second)
	return policy.Recommendation{X: []float64{1}}, nil
}

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// next waits for the next result and handles it.
func next(t *testing.T, p *worker.Pool, a *Advisor) any {
	t.Helper()
	select {
	case <-p.Ready():
	case <-time.After(time.Minute):
		t.Fatal("no result within a minute")
	}
	results := p.Take()
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	e, mine := a.Handle(results[0])
	if !mine {
		t.Fatalf("%T is not the advisor's", results[0].Value)
	}
	return e
}

// TestModelIsDrawnAfterAPolicyHung: a policy that hangs is replaced; the model of its
// successor is drawn, decided with and taught by one goroutine at a time, also when the
// one that hung answers at last, and that answer is dropped.
func TestModelIsDrawnAfterAPolicyHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := worker.New()
		defer pool.Close(time.Second)
		hung, fresh := &single{t: t, hangs: make(chan struct{})}, &single{t: t}
		a := New(hung, pool, 4, 10, Options{Deadline: time.Second, Clock: clock{}, Stopwatch: clock{},
			Rebuild: func(context.Context) (policy.Policy, error) { return fresh, nil }})
		a.Begin(t.Context())
		defer a.Stop()
		if d := a.Ask(); d != nil {
			t.Fatalf("an answer before it was asked: %+v", d)
		}
		n := 0
		for n < Tries {
			time.Sleep(patience)
			var why error
			if n, why = a.Overdue(time.Duration(n+2) * patience); n == 0 || why == nil {
				t.Fatal("a decision that does not come is not overdue")
			}
		}
		a.GiveUp(a.Last())
		a.Forgive()
		if !a.Broken() || !a.BeginRebuild() {
			t.Fatal("a policy that hung is asked again as it is")
		}
		a.Rebuild()
		if e, ok := next(t, pool, a).(Rebuilt); !ok || e.Err != nil {
			t.Fatalf("made anew: %+v", e)
		}
		a.Draw(&plan.Options{}, 1)
		a.Recommend()
		if e, ok := next(t, pool, a).(Drawn); !ok || e.Err != nil {
			t.Fatalf("while the other policy hangs the model is not drawn: %+v", e)
		}
		close(hung.hangs) // it answers at last
		synctest.Wait()
		dropped := 0
		for range 2 {
			switch e := next(t, pool, a).(type) {
			case nil:
				dropped++
			case Recommended:
			default:
				t.Errorf("%T of the policy that was replaced", e)
			}
		}
		if dropped != 1 {
			t.Errorf("%d answers were dropped, want that of the policy that hung", dropped)
		}
		if d := a.Ask(); d != nil {
			t.Fatalf("the answer of the policy that hung is taken for a decision: %+v", d)
		}
		if e, ok := next(t, pool, a).(*Decided); !ok || e.Err != nil {
			t.Fatalf("decided: %+v", e)
		}
	})
}
