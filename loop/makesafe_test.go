package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// The gates between what the layer gives out and the wire, and one test for each. A line is
// one thing that keeps a proposal back. The driver's own gates (trust, the status topic,
// backoff, two sides out of step) have theirs in drivers/mqtt, drivers/serial and drivers/exec; the whole
// is TestTripOverMosquitto in cmd/tuner.
//
//	gate                        proposal                  safe value
//	write in flight             waits for its answer      overtakes it
//	read in flight              waits for its answer      overtakes it
//	dose in flight              waits for its end         overtakes it; the dose counts
//	device dead                 waits until reopened      is handed over all the same
//	readback not seen           waits for it              is handed over all the same
//	refused before              waits for another one     is handed over all the same
//	loop stalled (tooLate)      is decided anew           leaves
//	orders revoked              does not leave, not even  leaves
//	                            where its device has it
//	latch not durable           -                         leaves meanwhile
//	failed, nothing on the line waits its turn            is written again each tick

// gatedRig is a rig with a gate before it.
type gatedRig struct {
	*rig
	mu sync.Mutex
	// write and read, if there are any, are asked before the rig is.
	write     func(ctx context.Context, s drivers.Setpoints) error
	read      func(ctx context.Context) error
	straggles time.Duration
	loss      time.Time // of the last connection
	// safe is when the first safe write came to the rig, writes what came, in order.
	safe   time.Time
	writes []drivers.Setpoints
}

func (g *gatedRig) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	g.mu.Lock()
	gate := g.write
	g.mu.Unlock()
	if gate != nil {
		if err := gate(ctx, s); err != nil {
			return drivers.Reading{}, err
		}
	}
	r, err := g.rig.Write(ctx, s)
	g.came(s)
	return r, err
}

// came notes a write that has reached the instrument.
func (g *gatedRig) came(s drivers.Setpoints) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes = append(g.writes, s)
	if s.Safe && g.safe.IsZero() {
		g.safe = time.Now()
	}
}

func (g *gatedRig) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	g.mu.Lock()
	gate := g.read
	g.mu.Unlock()
	if gate != nil {
		if err := gate(ctx); err != nil {
			return drivers.Reading{}, err
		}
	}
	return g.rig.Read(ctx, channels)
}

func (g *gatedRig) MaxDelay() time.Duration { return g.straggles }
func (g *gatedRig) LastLoss() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.loss
}

// guardRig is a device with the interlock's sensor alone.
type guardRig struct {
	mu   sync.Mutex
	open bool // the interlock
}

func (*guardRig) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{{Name: "aux", Unit: "K"}}, nil
}
func (*guardRig) Close() error { return nil }
func (g *guardRig) Read(context.Context, []string) (drivers.Reading, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := 300.0
	if g.open {
		v = 400
	}
	return drivers.Reading{Values: map[string]float64{"aux": v}, At: time.Now()}, nil
}

// isOpen reports whether the interlock has opened.
func (g *guardRig) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// trip is a run whose interlock opens.
type trip struct {
	*trial
	dev    *gatedRig
	guard  *guardRig
	opened time.Time
}

// tripTrial runs in real time's clock, which synctest makes a virtual one. A gate is closed
// once the run has moved for a while; then, after a time, the interlock opens.
func tripTrial(t *testing.T, prepare func(*trip), gate func(*trip), after time.Duration) *trip {
	t.Helper()
	tr := &trip{trial: &trial{opt: options(plan.Live), policy: &script{}}, guard: &guardRig{}}
	tr.rig = newRig(worker.RealClock{}, "a")
	tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
	tr.dev = &gatedRig{rig: tr.rig}
	tr.opt.Sensors[1].Channel = plan.Channel{Device: 1, Name: "aux"}
	tr.opt.Stop = plan.Stop{}
	tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 310}}
	tr.opt.Outages = plan.Outages{Wait: true, Retries: 1000, Window: time.Hour}
	tr.opt.Variables[0].MaxAge, tr.opt.Variables[0].Timeout = time.Hour, time.Hour
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		return policy.Proposal{X: []float64{float64(2 + 6*(len(tr.policy.seen)%2))}}, nil
	}
	tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.dev}, {Name: "guard", Device: tr.guard}}, Panel: control.NewPanel("s")}
	tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
	if prepare != nil {
		prepare(tr)
	}
	tr.deps.Journal, _ = book(t, &tr.opt)
	end := tr.begin(t)
	time.Sleep(5 * time.Second)
	if gate != nil {
		tr.dev.mu.Lock()
		gate(tr)
		tr.dev.mu.Unlock()
	}
	time.Sleep(after + 50*time.Millisecond) // in the middle between two ticks
	tr.guard.mu.Lock()
	tr.guard.open, tr.opened = true, time.Now()
	tr.guard.mu.Unlock()
	time.Sleep(20 * time.Second)
	tr.dev.mu.Lock()
	tr.dev.read, tr.dev.write = nil, nil
	tr.dev.mu.Unlock()
	time.Sleep(time.Second)
	ask(tr.deps.Panel, control.CommandStop)
	if _, err := end(); !errors.Is(err, ErrSafety) || errors.Is(err, ErrJournal) {
		t.Errorf("ended with %v", err)
	}
	return tr
}

// slowToClose is a device that takes longer to close than the end of a run waits.
type slowToClose struct{ *guardRig }

func (slowToClose) Close() error {
	time.Sleep(closeTimeout + 5*time.Second)
	return nil
}

// TestTripBesideADeviceThatDoesNotClose: that is told and recorded, and not taken for a disk
// that does not answer.
func TestTripBesideADeviceThatDoesNotClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := tripTrial(t, func(tr *trip) { tr.deps.Devices[1].Device = slowToClose{tr.guard} }, nil, 0)
		tr.wantSafe(t)
		if tr.told("did not end in time") != 1 {
			t.Errorf("events %+v", tr.events)
		}
	})
}

// tripBound is from the interlock to the safe value: half a tick until it is read, one to act.
// Not longer: whatever costs a tick more is a gate.
const tripBound = 150 * time.Millisecond

// wantSafe wants the safe value in time, and nothing else after it.
func (tr *trip) wantSafe(t *testing.T) {
	t.Helper()
	took := tr.dev.safe.Sub(tr.opened)
	if tr.dev.safe.IsZero() || took > tripBound {
		t.Errorf("safe value after %v, bound %v; events %v", took, tripBound, safetyEvents(tr.events))
	}
	last := tr.dev.writes[len(tr.dev.writes)-1]
	if !last.Safe || last.Values["a"] != 1 {
		t.Errorf("the last write is %+v, want the safe 1 V", last)
	}
	if at := tr.rig.aim("a"); at != 1 {
		t.Errorf("left at %v V, want the safe 1 V", at)
	}
}

// hang is a call that gets no answer for a time, and gives way.
func hang(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return fmt.Errorf("%w: no answer", drivers.ErrUnavailable)
	case <-ctx.Done():
		return fmt.Errorf("given up: %w", context.Cause(ctx))
	}
}

const forever = 15 * time.Second

// unlessSafe lets safe writes pass.
func unlessSafe(f func(ctx context.Context) error) func(context.Context, drivers.Setpoints) error {
	return func(ctx context.Context, s drivers.Setpoints) error {
		if s.Safe {
			return nil
		}
		return f(ctx)
	}
}

func TestTripOvertakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(*trip)
		gate    func(*trip)
		after   time.Duration
	}{
		{"no gate", nil, nil, time.Second},
		{"write in flight", nil, func(tr *trip) {
			tr.dev.write = unlessSafe(func(ctx context.Context) error { return hang(ctx, forever) })
		}, 3 * time.Second},
		{"read in flight", nil, func(tr *trip) {
			tr.dev.read = func(ctx context.Context) error { return hang(ctx, forever) }
		}, 3 * time.Second},
		{"device dead", func(tr *trip) {
			tr.rig.reopen = func() error { return fmt.Errorf("%w: not there", drivers.ErrUnavailable) }
		}, func(tr *trip) {
			tr.dev.read = func(context.Context) error { return drivers.ErrProtocol }
		}, 10 * time.Second},
		{"readback not seen", nil, func(tr *trip) {
			tr.dev.read = func(context.Context) error { return fmt.Errorf("%w: silent", drivers.ErrUnavailable) }
			tr.dev.write = unlessSafe(func(context.Context) error { return drivers.ErrUnavailable })
		}, 5 * time.Second},
		{"refused before", nil, func(tr *trip) {
			tr.dev.write = unlessSafe(func(context.Context) error { return drivers.ErrRefused })
		}, 2 * time.Second},
		{"failed before", nil, func(tr *trip) {
			tr.dev.write = unlessSafe(func(context.Context) error { return drivers.ErrUnavailable })
		}, 5 * time.Second},
		{"connection broken and lost", nil, func(tr *trip) {
			tr.dev.write = unlessSafe(func(context.Context) error { return fmt.Errorf("%w: %w", drivers.ErrUnavailable, drivers.ErrClosed) })
		}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tripTrial(t, c.prepare, c.gate, c.after).wantSafe(t) })
			synctest.Test(t, func(t *testing.T) { // a run that takes commands does not end
				tripTrial(t, func(tr *trip) {
					if tr.deps.Panel.MakeReachable(); c.prepare != nil {
						c.prepare(tr)
					}
				}, c.gate, c.after).wantSafe(t)
			})
		})
	}
}

// TestTripDoesNotWaitForTheDisk: the latch is being written, for ever; the safe value leaves
// meanwhile, and the latch is on the disk when that is done.
func TestTripDoesNotWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "run.control")
		hung, hangs := make(chan struct{}), false
		var mu sync.Mutex
		tr := tripTrial(t, func(tr *trip) {
			tr.control(t, path)
			tr.deps.Disk = func(what string) {
				mu.Lock()
				wait := hangs
				mu.Unlock()
				if wait && what == "control state" {
					<-hung
				}
			}
		}, func(*trip) {
			mu.Lock()
			hangs = true
			mu.Unlock()
			time.AfterFunc(10*time.Second, func() { close(hung) })
		}, time.Second)
		tr.wantSafe(t)
		s, err := controlstate.Peek(path)
		if err != nil || len(s.Latched) == 0 {
			t.Errorf("latched %v, error %v", s.Latched, err)
		}
	})
}

// TestTripIsNotRevoked: the safe value waits behind a call that cannot give way; meanwhile
// the orders change. It leaves when the line is free.
func TestTripIsNotRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line = 2030 * time.Millisecond // no number of ticks
		var ends []time.Time
		tr := tripTrial(t, nil, func(tr *trip) {
			tr.dev.read = func(context.Context) error {
				time.Sleep(line)
				ends = append(ends, time.Now())
				return nil
			}
			panel := tr.deps.Panel
			time.AfterFunc(time.Second+300*time.Millisecond, func() { go ask(panel, control.CommandStop) })
		}, time.Second)
		if !slices.ContainsFunc(ends, tr.dev.safe.Equal) || tr.dev.safe.Sub(tr.opened) > line+tripBound {
			t.Errorf("safe value after %v (at %v), want with the end of the read under way, %v at most: %v", tr.dev.safe.Sub(tr.opened), tr.dev.safe, line, ends)
		}
	})
}

// TestTripLeavesAfterAStall: the loop stands still between each verdict and its write. A
// proposal would be left to the next tick, and then to the next; the safe value leaves.
func TestTripLeavesAfterAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stall = time.Second // below the watchdog's patience
		var stalled atomic.Int64
		tr := tripTrial(t, func(tr *trip) {
			tr.deps.Failpoint = func(name string) {
				if name != "before-write" || !tr.guard.isOpen() || stalled.Add(1) > 11 {
					return
				}
				time.Sleep(stall)
			}
		}, nil, time.Second)
		if took := tr.dev.safe.Sub(tr.opened); stalled.Load() == 0 || took < stall || took > tripBound+2*stall {
			t.Errorf("safe value after %v (stalled %d times), want with the end of the first stall of %v after the verdict", took, stalled.Load(), stall)
		}
	})
}

// TestTripIsWrittenAgain: the link flaps. The safe value is lost three times; it is written
// again in the next tick until it is acknowledged.
func TestTripIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := 0
		tr := tripTrial(t, nil, func(tr *trip) {
			tr.dev.write = func(_ context.Context, s drivers.Setpoints) error {
				if s.Safe && lost < 3 {
					lost++
					return drivers.ErrUnavailable
				}
				return nil
			}
		}, time.Second)
		if took := tr.dev.safe.Sub(tr.opened); lost != 3 || took > tripBound+3*100*time.Millisecond {
			t.Errorf("lost %d times, safe value after %v", lost, took)
		}
		if at := tr.rig.aim("a"); at != 1 {
			t.Errorf("left at %v V", at)
		}
	})
}

// TestAbandonedWriteIsFollowed: a write that was overtaken arrives late, after the safe
// value; the safe value is written again after it, until none can come any more.
func TestAbandonedWriteIsFollowed(t *testing.T) {
	for _, late := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 6 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var delivered atomic.Pointer[time.Time]
			once := false
			tr := tripTrial(t, func(tr *trip) { tr.dev.straggles = 7 * time.Second }, func(tr *trip) {
				tr.dev.write = unlessSafe(func(ctx context.Context) error {
					if once {
						return drivers.ErrUnavailable
					}
					once = true
					dev := tr.dev
					err := hang(ctx, forever)
					time.AfterFunc(late, func() {
						s := drivers.Setpoints{Values: map[string]float64{"a": 8}}
						dev.rig.Write(context.Background(), s)
						dev.came(s)
						delivered.Store(new(time.Now()))
					})
					return err
				})
			}, 3*time.Second)
			if delivered.Load() == nil {
				t.Fatal("nothing was delivered late")
			}
			tr.wantSafe(t)
		})
	}
}

// TestLostLinkIsFollowed: a write that left without an error is held back where the connection
// ended soon after it, and arrives after the safe value; the safe value is written again until
// none can come any more, also where the run ends meanwhile, and that is told.
func TestLostLinkIsFollowed(t *testing.T) {
	for _, late := range []time.Duration{1500 * time.Millisecond, 4 * time.Second, 6500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			var delivered atomic.Pointer[time.Time]
			kept := false
			tr := tripTrial(t, func(tr *trip) { tr.dev.straggles = 7 * time.Second }, func(tr *trip) {
				tr.dev.write = func(_ context.Context, s drivers.Setpoints) error {
					if s.Safe || kept {
						return nil
					}
					kept = true
					dev := tr.dev
					time.AfterFunc(10*time.Millisecond, func() {
						dev.mu.Lock()
						dev.loss = time.Now()
						dev.mu.Unlock()
					})
					old := drivers.Setpoints{Values: map[string]float64{"a": s.Values["a"]}}
					time.AfterFunc(late, func() {
						dev.rig.Write(context.Background(), old)
						dev.came(old)
						delivered.Store(new(time.Now()))
					})
					return nil
				}
			}, time.Second)
			if at := delivered.Load(); at == nil || at.Before(tr.opened) {
				t.Fatalf("delivered at %v, the door opened at %v", at, tr.opened)
			}
			tr.wantSafe(t)
			if told := fmt.Sprint(tr.events); !strings.Contains(told, "may still arrive") {
				t.Errorf("not told: %s", told)
			}
		})
	}
}

// TestNothingIsRepeatedForEver: a trip whose writes were all answered says its safe value
// once.
func TestNothingIsRepeatedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := tripTrial(t, func(tr *trip) { tr.dev.straggles = 7 * time.Second }, nil, time.Second)
		n := 0
		for _, s := range tr.dev.writes {
			if s.Safe {
				n++
			}
		}
		if n != 1 {
			t.Errorf("written %d times", n)
		}
	})
}

// TestWatchdogOvertakes: the halt of a loop that stands still does not wait for the write
// whose answer does not come.
func TestWatchdogOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(plan.Live)
		dev := &gatedRig{rig: newRig(worker.RealClock{}, "a")}
		j, _ := book(t, &o)
		l, err := newLoop(o, Deps{Policy: &script{}, Journal: j, Devices: []Device{{Name: "rig", Device: dev}}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.pool.Close(closeTimeout)
		l.instrument.Open(t.Context())
		dev.write = func(ctx context.Context, _ drivers.Setpoints) error { return hang(ctx, time.Hour) }
		apply(l, 8)
		synctest.Wait()
		began := time.Now()
		l.instrument.HaltAll(time.Second)
		synctest.Wait()
		if dev.rig.halts != 1 || time.Since(began) != 0 {
			t.Errorf("halted %d times within %v", dev.rig.halts, time.Since(began))
		}
	})
}

// dosingRig has a channel of doses on the line of its knob, and cannot stop one.
type dosingRig struct {
	*gatedRig
	dosing func(ctx context.Context) error
	begun  time.Time
}

func (d *dosingRig) Open(ctx context.Context) ([]drivers.Channel, error) {
	channels, err := d.gatedRig.Open(ctx)
	return append(channels, drivers.Channel{Name: "feed", Unit: "mL", Access: drivers.ReadWrite, Min: 0, Max: 10, Safe: math.NaN(), Dose: true}), err
}

func (d *dosingRig) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if s.Dose == "" {
		return d.gatedRig.Write(ctx, s)
	}
	d.begun = time.Now()
	return drivers.Reading{}, d.dosing(ctx)
}

// TestTripOvertakesADose: a dose takes the line of an actuator that is to go to its safe
// value. It is given up, and counts as given in full.
func TestTripOvertakesADose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "run.control")
		var dev *dosingRig
		tr := tripTrial(t, func(tr *trip) {
			dev = &dosingRig{gatedRig: tr.dev, dosing: func(ctx context.Context) error { return hang(ctx, forever) }}
			tr.deps.Devices[0].Device, tr.deps.Run = dev, "run"
			feed := doseOptions(plan.Live)
			v := feed.Variables[0]
			v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
			tr.opt.Variables = append(tr.opt.Variables, v)
			tr.opt.ControlSets[0].Variables = []int{0, 1}
			tr.opt.Safety.Doses = feed.Safety.Doses
			tr.opt.Safety.Doses[0].Variable = 1
			tr.policy.propose = func(context.Context) (policy.Proposal, error) {
				return policy.Proposal{X: []float64{4, 3}}, nil
			}
			tr.control(t, path)
		}, nil, time.Second)
		if dev.begun.IsZero() || !dev.begun.Before(tr.opened) {
			t.Fatalf("no dose was in flight: begun %v, interlock %v", dev.begun, tr.opened)
		}
		tr.wantSafe(t)
		if s := tr.deps.Control.State().Doses["feed"]; !s.Unknown || s.Total != 3 {
			t.Errorf("booked %+v, want the 3 mL in full, and unknown", s)
		}
		if err := tr.deps.Control.Close(); err != nil {
			t.Error(err)
		}
	})
}
