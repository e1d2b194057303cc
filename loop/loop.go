package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
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

// Loop is a run in progress. All fields belong to the goroutine that called Run,
// except what is atomic.
type Loop struct {
	opt       plan.Options
	deps      Deps
	pool      *worker.Pool
	statistic plan.Statistic

	start time.Time
	phase phase
	// since is when the phase began.
	since time.Time

	instrument *instrument.Instrument
	guard      *guard.Guard
	// settled says that everything is recorded and the devices are closed.
	settled bool
	// held says that the step's clocks stand still; heeded is the last tick's time.
	held   bool
	heeded time.Time
	// waited is how long the run has waited for a resume before it began.
	waited  time.Duration
	advisor *advisor.Advisor
	ledger  plan.Ledger
	step    step
	// startedAt is where the run started; verifying the comparison at its end.
	// proposed says that the policy has decided a step which is not under way yet.
	startedAt []float64
	verifying verifying
	proposed  bool
	// closingParts counts the devices that are being closed, and the policy that may still answer.
	closingParts int
	// spell and fallen say how the run waits for an instrument that is out of order.
	spell  spell
	fallen fallenState
	// recorder queues what is to be recorded.
	recorder *record.Recorder
	steps    int
	failures int
	// lastProblem is why the last steps failed, told once in a row.
	lastProblem string
	result      Result
	err         error
	reason      string

	// best is the recommendation after the last step, in the user's sense, last the
	// newest decision and outcome; nil: none yet. wantBest ends the search.
	best        *policy.Recommendation
	last        *journal.Decision
	lastOutcome *journal.Outcome
	wantBest    bool

	progress control.Progress
}

func newLoop(o plan.Options, d Deps) (*Loop, error) {
	if d.Clock == nil {
		d.Clock = RealClock{}
	}
	if err := checkDeps(&o, &d); err != nil {
		return nil, err
	}
	statistic, err := plan.StatisticNamed(o.Objective.Statistic)
	if err != nil {
		return nil, err
	}
	l := &Loop{opt: o, deps: d, statistic: statistic,
		ledger: plan.NewLedger(len(o.ControlSets)), start: d.Clock.Now()}
	if o.Mode == plan.Simulate {
		l.pool = worker.NewVirtual()
	} else {
		l.pool = worker.New()
	}
	l.recorder = record.New(d.Journal, l.pool, record.Options{Lane: laneJournal, SpaceLane: laneSpace, Wait: o.Outages.Wait,
		Look: o.Mode != plan.Simulate, Hook: d.Disk, Space: d.Space, MinFree: o.Outages.MinFree})
	l.advisor = advisor.New(d.Policy, l.pool, lanePolicy, laneDevice+len(d.Devices), l.advice())
	l.instrument = instrument.New(instrument.Options{Plan: &l.opt, Devices: d.Devices, Clock: d.Clock, Run: d.Run, Lane: laneDevice, Failpoint: d.Failpoint}, l.pool)
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
	if _, virtual := d.Clock.(*VirtualClock); virtual != (o.Mode == plan.Simulate) {
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

	l.event("info", "start", fmt.Sprintf("mode %s, %d variables, %d control sets", l.opt.Mode,
		len(l.opt.Variables), len(l.opt.ControlSets)))
	l.say(l.guard.Bypasses())
	l.takeUp()
	l.startTrace()
	l.openAll(deviceCtx)
	if l.opt.Mode == plan.Simulate {
		l.runVirtual(ctx)
	} else {
		l.runReal(ctx)
	}
	return l.finished(ctx)
}

// runVirtual advances the clock tick by tick, with all jobs done in between.
func (l *Loop) runVirtual(ctx context.Context) {
	clock := l.deps.Clock.(*VirtualClock)
	for {
		l.drain()
		if l.phase == closed {
			return
		}
		if ctx.Err() != nil {
			l.interrupt()
		}
		clock.Advance(l.opt.Tick)
		l.tick()
	}
}

// drain handles results until no job is left.
func (l *Loop) drain() {
	for {
		results := l.pool.Take()
		if len(results) == 0 {
			return
		}
		for _, r := range results {
			l.handle(r)
		}
	}
}

// handle takes in what a job has brought.
func (l *Loop) handle(r worker.Result) {
	if then, ok := r.Value.(func()); ok {
		then()
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
	case advisor.Decided:
		if l.phase != choosing {
			l.advisor.Keep(e)
			return
		}
		l.decided(e)
	case advisor.Learnt:
		l.learnt(e)
	case advisor.Recommended:
		l.recommended(e)
	case advisor.Rebuilt:
		l.rebuilt(e.Err)
	case advisor.Drawn:
		l.drawn(e)
	case advisor.Flushed:
		l.oneClosed()
	}
}

// advice says how the policy is asked. In a simulation a decision's length is its work
// units alone; else the deadline cuts it at a unit boundary.
func (l *Loop) advice() advisor.Options {
	o := advisor.Options{Deadline: l.opt.Deadline, Rebuild: l.deps.Rebuild, Clock: l.deps.Clock, Stopwatch: l.deps.stopwatch()}
	if l.opt.Mode == plan.Simulate {
		o.Deadline = 0
	}
	return o
}

// runReal waits for ticks and for what lanes and devices send. Ticks that were
// missed are not made up for: safety.Step measures the time that passed.
func (l *Loop) runReal(ctx context.Context) {
	ticker := time.NewTicker(l.opt.Tick)
	defer ticker.Stop()
	interrupted := ctx.Done()
	for l.phase != closed {
		select {
		case <-interrupted:
			interrupted = nil
			l.interrupt()
		case <-l.pool.Ready():
			for _, r := range l.pool.Take() {
				l.stopIfAsked()
				l.handle(r)
			}
		case <-l.deps.Panel.Rings():
			l.stopIfAsked()
			l.takeOrders()
		case q := <-l.deps.Narrower.asks():
			l.narrow(q)
		case <-ticker.C:
			l.metered(l.tick)
		}
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
		l.guard.KeepTime(now)
		l.pulse(now)
	} else {
		l.stopIfAsked()
	}
	l.takeOrders()
	l.recorded(l.recorder.Tick(now))
	l.guard.Look(now)
	if l.phase < closing {
		l.guard.KeepAgain(now)
	}
	l.sensed(l.instrument.Mend(l.present()))
	l.watchSpell(now)
	l.pollAll()
	switch l.phase {
	case booting:
		l.boot(now)
	case choosing:
		l.watchPolicy(now)
	case moving:
		l.watchMove(now)
	case settling:
		if !now.Before(l.step.settleEnd) {
			l.measure(now)
		}
	case measuring:
		l.watchShots(now)
	case waiting:
		l.watchWaiting()
	case fallen:
		l.watchFallen(now)
	case homing:
		l.watchHoming(now)
	case resting:
		l.watchRest()
	case closing:
		if now.Sub(l.since) > closeTimeout {
			l.event("warn", "close", "a device or the journal did not end in time")
			l.enter(closed)
		}
	}
	l.draw(now)
	l.tellProgress(now)
	l.publish(now)
}

// finished makes the result once the machine is closed.
func (l *Loop) finished(ctx context.Context) (Result, error) {
	l.publish(l.now())
	r := &l.result
	r.Reason, r.Steps, r.Spent = l.reason, l.searched(), l.ledger.Spent.Float()
	r.PlaysBySet = l.ledger.Plays
	r.SpentBySet = make([]float64, len(l.ledger.BySet))
	for i, m := range l.ledger.BySet {
		r.SpentBySet[i] = m.Float()
	}
	r.Elapsed = l.ran(l.now())
	if n := l.instrument.Dropped(); n > 0 {
		l.deps.logger().Warn("readings dropped", "count", n)
	}
	if err := l.owed(); err != nil {
		l.err = errors.Join(l.err, err)
	}
	if l.err == nil && l.reason == control.ReasonInterrupted {
		return *r, ctx.Err()
	}
	return *r, l.err
}

// closeTimeout bounds the wait for devices to close: a child process gets 5 s to
// go safe and exit.
const closeTimeout = 10 * time.Second

func (l *Loop) now() time.Time { return l.deps.Clock.Now() }

// stamp is the present by both clocks.
func (l *Loop) stamp() journal.Stamp {
	now := l.now()
	return journal.Stamp{Mono: now.Sub(l.start), Wall: now}
}

// enter changes the phase.
func (l *Loop) enter(p phase) {
	l.phase, l.since = p, l.now()
}

// event tells and records a line of the run's story.
func (l *Loop) event(level, kind, message string) {
	l.eventWith(journal.Facts{}, level, kind, message)
}

// eventWith does so with what programs read of it.
func (l *Loop) eventWith(f journal.Facts, level, kind, message string) {
	e := journal.Event{Level: level, Kind: kind, Message: message, Facts: f, Step: l.step.n, At: l.stamp()}
	l.tellEvent(e)
	l.put(record.Entry{What: "event", Write: func(j *journal.Journal) error { return j.Log(e) }, Story: !needed(kind)})
}
