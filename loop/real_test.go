package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
)

// live runs the trial's options with goroutines on a bubble's clock.
func live(t *testing.T, mode plan.Mode, prepare func(*trial)) (*trial, Result, error) {
	t.Helper()
	tr := &trial{opt: options(mode), policy: &script{}}
	tr.rig = newRig(worker.RealClock{}, "a")
	tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
	tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}}}
	tr.deps.Watch.Step = func(_ journal.Decision, o journal.Outcome) { tr.outcomes = append(tr.outcomes, o) }
	prepare(tr)
	j, _ := book(t, &tr.opt)
	tr.deps.Journal = j
	res, err := Run(t.Context(), tr.opt, tr.deps)
	return tr, res, err
}

func TestLiveRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, res, err := live(t, plan.Live, func(tr *trial) { tr.policy.proposals = proposeAll(4, 6) })
		if err != nil || res.Steps != 2 {
			t.Fatalf("result %+v, error %v", res, err)
		}
		for i, want := range []float64{4, 6} {
			if o := tr.policy.seen[i]; o.X[0] != want || o.Shots != 3 {
				t.Errorf("observation %+v", o)
			}
		}
	})
}

// TestEndWaitsForTheJournal: a disk that is slow with the last outcome must not end
// the run before that is reported.
func TestEndWaitsForTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trial{opt: options(plan.Live), policy: &script{proposals: proposeAll(4, 6)}}
		tr.rig = newRig(worker.RealClock{}, "a")
		tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}}}
		tr.deps.Watch.Step = func(_ journal.Decision, o journal.Outcome) { tr.outcomes = append(tr.outcomes, o) }
		tr.deps.Journal, _ = book(t, &tr.opt)
		l, err := newLoop(tr.opt, tr.deps)
		if err != nil {
			t.Fatal(err)
		}
		measured := 0
		tr.rig.meter = func(map[string]float64) float64 {
			if measured++; measured == 2*tr.opt.Objective.Shots { // the last shot of all
				l.pool.Post(laneJournal, func() any { time.Sleep(5 * time.Second); return nil })
			}
			return 1
		}
		if _, err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(tr.outcomes) != 2 {
			t.Errorf("told of %d steps, want 2", len(tr.outcomes))
		}
	})
}

func TestShadowWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, res, err := live(t, plan.Shadow, func(tr *trial) {
			tr.opt.Stop = plan.Stop{Time: 3 * time.Second, Steps: 1}
			tr.rig.knobs["a"].target = 2
			tr.policy.propose = func(context.Context) (policy.Proposal, error) {
				return policy.Proposal{X: []float64{9}}, nil
			}
		})
		if err != nil || res.Reason != "time" || res.Spent != 0 {
			t.Fatalf("result %+v, error %v", res, err)
		}
		if n := len(tr.rig.calls("write")) + tr.rig.halts; n != 0 {
			t.Errorf("%d writes in shadow mode", n)
		}
		if len(tr.policy.seen) < 6 {
			t.Fatalf("%d observations in 3 s of shots every 100 ms", len(tr.policy.seen))
		}
		for _, o := range tr.policy.seen {
			if o.ControlSet != -1 || o.X[0] != 2 || o.Shots != 1 || o.Cost != 0 {
				t.Errorf("observation %+v; want the readback, everything random, nothing charged", o)
			}
		}
	})
}

// TestSlowCallsDoNotBlockTheTick: a device that takes 2 s per call and a
// decision of 5 s; ticks go on meanwhile.
func TestSlowCallsDoNotBlockTheTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticks := 0
		_, res, err := live(t, plan.Live, func(tr *trial) {
			tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = 10*time.Second, 10*time.Second
			tr.opt.Variables[0].Timeout = 30 * time.Second
			tr.opt.Objective.Timeout = 30 * time.Second
			tr.opt.Deadline = 0
			tr.rig.fault = func(string) error { time.Sleep(2 * time.Second); return nil }
			tr.policy.propose = func(context.Context) (policy.Proposal, error) {
				if len(tr.policy.seen) == 1 {
					return policy.Proposal{}, policy.ErrBudget
				}
				time.Sleep(5 * time.Second)
				return policy.Proposal{X: []float64{3}}, nil
			}
			tr.deps.Watch.Progress = func(control.Progress) { ticks++ }
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int(res.Elapsed / (100 * time.Millisecond)); ticks < want-5 {
			t.Errorf("%d ticks in %v, want about %d", ticks, res.Elapsed, want)
		}
	})
}

func TestLateDecisionIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := live(t, plan.Live, func(tr *trial) {
			tr.opt.Deadline = 200 * time.Millisecond
			tr.policy.propose = func(ctx context.Context) (policy.Proposal, error) {
				if len(tr.policy.seen) == 1 {
					return policy.Proposal{}, policy.ErrBudget
				}
				begin := time.Now()
				<-ctx.Done()
				if got := time.Since(begin); got != 200*time.Millisecond {
					t.Errorf("deadline after %v", got)
				}
				return policy.Proposal{X: []float64{3}, Cut: true, Work: 2}, nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestInterruptFinishesTheWriteInFlight: the caller's context ends while a write
// is under way; the write is finished, then the shutdown state is written.
func TestInterruptFinishesTheWriteInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tr := &trial{opt: options(plan.Live), policy: &script{proposals: proposeAll(6)}}
		tr.opt.Variables[0].Shutdown = plan.RestSafe
		tr.rig = newRig(worker.RealClock{}, "a")
		tr.rig.meter = func(map[string]float64) float64 { return 1 }
		var once sync.Once
		tr.rig.fault = func(op string) error {
			if op == "write" {
				once.Do(func() { cancel(); time.Sleep(time.Second) })
			}
			return nil
		}
		j, path := book(t, &tr.opt)
		tr.deps = Deps{Policy: tr.policy, Journal: j, Devices: []Device{{Name: "rig", Device: tr.rig}}}
		res, err := Run(ctx, tr.opt, tr.deps)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
		if got := tr.rig.knobs["a"].target; got != 1 {
			t.Errorf("left at %v V, want the safe 1 V; log %v", got, tr.rig.log)
		}
		if res.Rest[0].Err != nil {
			t.Errorf("report %+v", res.Rest)
		}
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
	})
}

// pushed is a device that speaks on its own.
type pushed struct {
	*rig
	sink func(drivers.Reading)
	stop chan struct{}
	wg   sync.WaitGroup
}

func (p *pushed) Listen(sink func(drivers.Reading)) { p.sink = sink }

func (p *pushed) Open(ctx context.Context) ([]drivers.Channel, error) {
	ch, err := p.rig.Open(ctx)
	p.wg.Go(func() {
		for {
			select {
			case <-p.stop:
				return
			case <-time.After(70 * time.Millisecond):
				r, _ := p.rig.Read(ctx, []string{"a", "meter", "aux"})
				p.sink(r)
			}
		}
	})
	return ch, err
}

func (p *pushed) Close() error {
	close(p.stop)
	p.wg.Wait()
	return p.rig.Close()
}

func TestListenerIsNotPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dev *pushed
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.rig.speed = 1
			dev = &pushed{rig: tr.rig, stop: make(chan struct{})}
			tr.deps.Devices = []Device{{Name: "rig", Device: dev}}
			tr.policy.proposals = proposeAll(1)
		})
		if err != nil {
			t.Fatal(err)
		}
		o := tr.policy.seen[0]
		if !o.Valid || o.Shots != 3 || fmt.Sprint(o.X) != "[1]" || o.Mean != 10 {
			t.Errorf("observation %+v", o)
		}
	})
}
