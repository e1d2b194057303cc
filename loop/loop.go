package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/record"
	"github.com/labtuner/tuner/loop/worker"
)

// phase is where the run stands; see the package comment.
type phase int

const (
	opening phase = iota
	booting
	idling
	choosing
	recording
	moving
	settling
	measuring
	concluding
	waiting
	fallen
	homing
	resting
	closing
	closed
)

// String names the phase for a progress line.
func (p phase) String() string {
	return [...]string{"opening", "booting", "waiting for resume", "choosing", "recording", "moving", "settling",
		"measuring", "concluding", "waiting out an outage", "fallen back", "homing", "resting", "closing", "closed"}[p]
}

// Loop is a run in progress. All fields belong to the goroutine that called Run.
type Loop struct {
	*parts
	stepper *stepper
	outages *outages
	ending  *ending
	orders  orders
	// followed is the last tick's time.
	followed time.Time
	shown    shown
	// facts are what the safety layer was told last.
	facts guard.Told
}

func newLoop(o plan.Options, d Deps) (*Loop, error) {
	if d.Clock == nil {
		d.Clock = worker.RealClock{}
	}
	if err := checkDeps(&o, &d); err != nil {
		return nil, err
	}
	statistic, err := plan.StatisticNamed(o.Objective.Statistic)
	if err != nil {
		return nil, err
	}
	d.Watch = d.Watch.Whole()
	p := &parts{opt: o, deps: d, course: course{start: d.Clock.Now()}}
	end := &ending{parts: p}
	steps := &stepper{parts: p, ending: end, statistic: statistic, score: score{ledger: plan.NewLedger(len(o.ControlSets))}}
	steps.people.steps, steps.changes.steps = steps, steps
	l := &Loop{parts: p, stepper: steps, ending: end, orders: orders{parts: p}, outages: &outages{parts: p, stepper: steps, ending: end}}
	p.runner = l
	if o.Mode == plan.Simulate {
		l.pool = worker.NewVirtual()
	} else {
		l.pool = worker.New()
	}
	l.recorder = record.New(d.Journal, l.pool, record.Options{Lane: laneJournal, SpaceLane: laneSpace, Wait: o.Outages.Wait,
		Look: o.Mode != plan.Simulate, Hook: d.Disk, Space: d.Space, MinFree: o.Outages.MinFree})
	l.advisor = advisor.New(d.Policy, l.pool, lanePolicy, laneDevice+len(d.Devices), advice(&o, &d))
	instruments := instrument.Options{Plan: &l.opt, Devices: d.Devices, Clock: d.Clock, Run: d.Run, Lane: laneDevice, Failpoint: d.Failpoint}
	if o.Mode == plan.Live {
		instruments.Stood = func() bool { return l.guard.Stood(d.Clock.Now()) }
	}
	l.instrument = instrument.New(instruments, l.pool)
	l.guard, err = guard.New(guard.Options{Plan: &l.opt, Devices: deviceNames(d.Devices), Start: l.start, Clock: d.Clock, Control: d.Control, Machine: d.Machine,
		Run: d.Run, Commands: d.Panel, Readings: l.instrument, Lane: laneControl, MarkLane: laneMark, Slowness: d.Slowness, Disk: d.Disk, Failpoint: d.Failpoint}, l.pool)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// deviceNames are the devices' names.
func deviceNames(devices []Device) []string {
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.Name
	}
	return names
}

// checkDeps refuses what the loop could not run with.
func checkDeps(o *plan.Options, d *Deps) error {
	if err := o.Check(); err != nil {
		return err
	}
	if d.Policy == nil || d.Journal == nil {
		return fmt.Errorf("%w: policy and journal are required", plan.ErrOptions)
	}
	if _, virtual := d.Clock.(*worker.VirtualClock); virtual != (o.Mode == plan.Simulate) {
		return fmt.Errorf("%w: mode %q and clock %T do not go together", plan.ErrOptions, o.Mode, d.Clock)
	}
	return nil
}

// run drives the state machine until it is closed.
func (l *Loop) run(ctx context.Context) (Result, error) {
	deviceCtx, cancelDevices := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelDevices()
	l.advisor.Begin(ctx)
	defer l.advisor.Stop()
	defer l.deps.Panel.End()
	defer l.pool.Close(closeTimeout)
	if l.opt.Mode == plan.Live {
		asleep := make(chan struct{})
		defer close(asleep)
		go l.guard.Watch(asleep, l.instrument.HaltAll)
	}

	l.event("info", "start", fmt.Sprintf("mode %s, %s, %s", l.opt.Mode,
		plan.Counted(len(l.opt.Variables), "variable"), plan.Counted(len(l.opt.ControlSets), "control set")))
	l.say(l.guard.Bypasses())
	l.stepper.takeUp()
	l.startTrace()
	l.enter(opening)
	l.instrument.Open(deviceCtx)
	if l.opt.Mode == plan.Simulate {
		l.runVirtual(ctx)
	} else {
		l.runReal(ctx)
	}
	return l.finished(ctx)
}

// runVirtual advances the clock tick by tick, with all jobs done in between.
func (l *Loop) runVirtual(ctx context.Context) {
	clock := l.deps.Clock.(*worker.VirtualClock)
	for {
		l.drain(ctx)
		if l.phase == closed {
			return
		}
		if ctx.Err() != nil {
			l.interrupt()
		}
		shotsUntil(ctx, l, clock, clock.Now().Add(l.opt.Tick))
		l.tick()
	}
}

// drain handles results until no job is left.
func (l *Loop) drain(ctx context.Context) {
	for {
		results := l.pool.Take()
		if len(results) == 0 {
			return
		}
		for _, r := range results {
			l.handleUnder(ctx, r)
		}
	}
}

// handleUnder handles a result, after the interrupt where the caller's context has ended: a decision that this cut off is
// nothing to act on.
func (l *Loop) handleUnder(ctx context.Context, r worker.Result) {
	if ctx.Err() != nil {
		l.interrupt()
	}
	l.handle(r)
}

// handle takes in what a job has brought.
func (l *Loop) handle(r worker.Result) {
	if m, mine := r.Value.(amended); mine {
		l.stepper.changes.looked(m)
		return
	}
	if e, mine := l.advisor.Handle(r); mine {
		l.advised(e)
		return
	}
	if events, mine := l.recorder.Handle(l.now(), r); mine {
		l.recorded(events)
		l.recorder.Next(l.now())
		return
	}
	if events, mine := l.guard.Handle(r.Value); mine {
		l.guarded(events)
		return
	}
	if events, mine := l.instrument.Handle(l.present(), r.Value); mine {
		l.sensed(events)
	}
}

// advised follows what the policy has answered.
func (l *Loop) advised(e any) {
	switch e := e.(type) {
	case *advisor.Decided:
		if l.phase != choosing {
			l.advisor.Reserve(e)
			return
		}
		l.stepper.decided(*e)
	case advisor.Adopted:
		l.stepper.people.accepted(e.Err)
	case *advisor.Learnt:
		l.stepper.learnt(e)
	case advisor.Recommended:
		l.recommended(e)
	case advisor.Rebuilt:
		l.stepper.rebuilt(e)
	case advisor.Drawn:
		l.drawn(e)
	case advisor.Flushed:
		l.ending.oneClosed()
	}
}

// runReal waits for ticks and for what workers and devices send. Ticks that were
// missed are not made up for: safety.Step measures the time that passed.
func (l *Loop) runReal(ctx context.Context) {
	ticker := time.NewTicker(l.opt.Tick)
	defer ticker.Stop()
	interrupted := ctx.Done()
	shot := time.NewTimer(0)
	defer shot.Stop()
	for l.phase != closed {
		var due <-chan time.Time
		if at, ok := soon(l); ok {
			shot.Reset(at.Sub(l.now()))
			due = shot.C
		}
		select {
		case <-due:
			askNow(l.stepper)
		case <-interrupted:
			l.interruptOnce(&interrupted)
		case <-l.pool.Ready():
			for _, r := range l.pool.Take() {
				if ctx.Err() != nil {
					l.interruptOnce(&interrupted)
				}
				l.stopIfAsked()
				l.handleUnder(ctx, r)
			}
		case <-l.deps.Panel.Rings():
			l.stopIfAsked()
			l.orders.takeOrders()
		case q := <-l.deps.Narrower.Asks():
			q.Answer <- l.narrowTo(q.Next, q.Words)
		case <-ticker.C:
			l.metered(l.tick)
		}
	}
}

// interruptOnce takes the interrupt up, which overtakes whatever else waits, unless it was: nil.
func (l *Loop) interruptOnce(interrupted *<-chan struct{}) {
	if *interrupted != nil {
		*interrupted = nil
		l.interrupt()
	}
}

// stopIfAsked lets a stop overtake whatever else waits.
func (l *Loop) stopIfAsked() {
	if l.deps.Panel.StopWaits() && l.phase < closing {
		l.pulse(l.now())
	}
}

// tick is the loop's heartbeat.
func (l *Loop) tick() {
	now := l.now()
	l.ownStall(now) // before the sign, which ends it
	l.showSign(now)
	if l.phase > booting && l.phase < closing {
		l.guard.SaveTime(now)
		l.pulse(now)
	} else {
		l.stopIfAsked()
	}
	l.orders.takeOrders()
	l.orders.answerStops(false)
	l.recorded(l.recorder.Tick(now))
	l.guard.Look(now)
	if l.phase < closing {
		l.guard.SaveAgain(now)
	}
	l.sensed(l.instrument.Reconnect(l.present()))
	l.outages.watchOutage(now)
	l.pollAll()
	switch l.phase {
	case booting:
		l.boot(now)
	case choosing:
		l.stepper.watchPolicy(now)
	case moving:
		l.stepper.watchMove(now)
	case settling:
		if l.stepper.step.shots.Settled(now) {
			l.stepper.measure(now)
		}
	case measuring:
		l.stepper.watchShots(now)
	case waiting:
		l.outages.watchWaiting()
	case fallen:
		l.outages.watchFallen(now)
	case homing:
		l.stepper.watchHoming(now)
	case resting:
		l.ending.watchRest()
	case closing:
		switch past := now.Sub(l.since); {
		case past <= closeTimeout:
		case !l.ending.late:
			l.ending.late = true
			l.event("warn", "close", "a device or the journal did not end in time")
		case l.recorder.Due() == 0 || past > closeTimeout+closeRecord:
			l.enter(closed)
		}
	}
	l.draw(now)
	l.show(now)
}

// finished makes the result once the machine is closed.
func (l *Loop) finished(ctx context.Context) (Result, error) {
	l.orders.answerStops(true)
	l.publish(l.now())
	r := &l.ending.result
	r.Broken = l.stepper.broken
	r.Reason, r.Steps, r.Spent = l.ending.reason, l.stepper.searched(), l.stepper.ledger.Spent.Float()
	r.PlaysBySet = l.stepper.ledger.Plays
	r.SpentBySet = make([]float64, len(l.stepper.ledger.BySet))
	for i, m := range l.stepper.ledger.BySet {
		r.SpentBySet[i] = m.Float()
	}
	r.Elapsed = l.ran(l.now())
	if n := l.instrument.Dropped(); n > 0 {
		l.deps.logger().Warn("readings dropped", "count", n)
	}
	if err := l.ending.owed(); err != nil {
		l.ending.err = errors.Join(l.ending.err, err)
	}
	if l.ending.err == nil && l.ending.reason == control.ReasonInterrupted {
		return *r, ctx.Err()
	}
	return *r, l.ending.err
}

// closeTimeout bounds the wait for devices to close: a child process gets 5 s to
// go safe and exit.
const closeTimeout = 10 * time.Second

// closeRecord is the time for the record of what did not end in time, which else would be
// taken for one that the disk did not take.
const closeRecord = time.Second

// advice says how the policy is asked. The deadline cuts a decision at a unit boundary: in a simulation, which is the same on
// every computer, by what units count for in a table.
func advice(opt *plan.Options, d *Deps) advisor.Options {
	o := advisor.Options{Deadline: opt.Deadline, Rebuild: d.Rebuild, Clock: d.Clock, Stopwatch: d.stopwatch()}
	if opt.Mode == plan.Simulate {
		o.UnitTime = func(readings int) time.Duration {
			return time.Duration(float64(advisor.UnitTime(readings, len(opt.Variables))) * cmp.Or(opt.UnitScale, 1))
		}
	}
	return o
}
