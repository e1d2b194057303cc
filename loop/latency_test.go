package loop

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

var (
	faultsFlag    = flag.Int("faults", 3, "how often TestFaultToSafe lets each fault happen")
	faultSeedFlag = flag.Uint64("faults.seed", 20261121, "seed of TestFaultToSafe")
)

// latencyInterval is one tick of the trial.
const latencyInterval = 100 * time.Millisecond

// suffering is a run in which something breaks.
type suffering struct {
	*trial
	rng *rand.Rand
	// deaf: the knob acknowledges and does not move. cut: the link is. dumb: aux gives
	// nothing. wrong: aux says this. panics: the policy does.
	deaf, cut, dumb, panics bool
	wrong                   float64
	// began is when it broke, over says that it has led to safety.
	began time.Time
	over  bool
}

// loopFault is a way to fail, what must come of it on the instrument, and how soon.
type loopFault struct {
	name  string
	begin func(*suffering)
	// safe says that the reaction is complete.
	safe  func(*suffering) bool
	bound time.Duration
}

// loopFaults are the classes of faults of the trial's instrument, looked at every 100 ms:
// a knob from -1 to 11 V at 2 V/s with a readback within 2 s, a sensor that may be 1 s
// old, a link that may be silent for 3 s, an interlock on the sensor. Each bound is the
// rule's own time and two ticks: one that a fault may come after, one to act in.
func loopFaults() []loopFault {
	held := func(s *suffering) bool { return s.said("held: ") }
	safe := func(s *suffering) bool { return s.ended() && s.rig.lastWritten("a") == 1 }
	const second, way = time.Second, 10 * time.Second / 2
	ticks := func(n int) time.Duration { return time.Duration(n) * latencyInterval }
	return []loopFault{
		{"sensor silent: held", func(s *suffering) { s.dumb = true }, held, second + ticks(2)},
		{"sensor out of range three times: held", func(s *suffering) { s.wrong = 5000 }, held, ticks(3 + 2)},
		{"interlock open: safe value written", func(s *suffering) { s.wrong = 320 }, safe, ticks(2)},
		{"interlock silent: safe value written", func(s *suffering) { s.dumb = true }, safe, second + ticks(2)},
		{"link lost: held", func(s *suffering) { s.cut = true }, held, 3*second + ticks(2)},
		{"moved by hand: held", func(s *suffering) { s.rig.moveByHand("a") }, held, 2*second + ticks(3)},
		{"actuator dead: safe value written", func(s *suffering) { s.deaf = true }, safe, way + 4*(2*second+ticks(1)) + ticks(2)},
		{"policy panics for ever: safe value reached under slew", func(s *suffering) { s.panics = true }, safe, way + ticks(2)},
		{"stop: safe value written", func(s *suffering) { s.order(control.CommandStop) }, safe, ticks(1)},
	}
}

// ended says that the layer has taken the actuators away.
func (s *suffering) ended() bool {
	return s.said("tripped: ") || s.said("stopped: ") || s.said("fallen back: ")
}

// moveByHand turns a knob away from where it was set.
func (r *rig) moveByHand(name string) {
	k := r.knobs[name]
	k.position, k.target = k.target-3, k.target-3
}

// lastWritten is what the device was told last, NaN for nothing. It is for callers that
// hold the rig already.
func (r *rig) lastWritten(name string) float64 {
	for i := len(r.log) - 1; i >= 0; i-- {
		if v, ok := r.log[i].values[name]; ok && r.log[i].op == "write" {
			return v
		}
	}
	return math.NaN()
}

// suffer runs until the fault has led to safety, and gives the time that it took.
func (f *loopFault) suffer(t *testing.T, seed uint64) time.Duration {
	t.Helper()
	s := &suffering{trial: newTrial(t), rng: rand.New(rand.NewPCG(seed, 6)), wrong: math.NaN()}
	s.opt.Stop, s.opt.Objective.Shots = plan.Stop{}, 40
	s.opt.Safety.Comms = 3 * time.Second
	if f.name[0] == 'l' {
		s.opt.Sensors[1].MaxAge = time.Minute // or its silence would be noticed first
	}
	if f.name[0] == 'i' {
		s.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 310}}
	}
	s.deps.Panel = control.NewPanel("test")
	s.rig.aux = func() float64 {
		switch {
		case s.dumb:
			return math.NaN()
		case !math.IsNaN(s.wrong):
			return s.wrong
		}
		return 300 + s.rng.NormFloat64()
	}
	s.policy.propose = func(context.Context) (policy.Proposal, error) {
		if s.panics {
			if s.began.IsZero() {
				s.began = s.clock.Now() // before this nobody asked it
			}
			panic("index out of range")
		}
		return policy.Proposal{X: []float64{10 * s.rng.Float64()}}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	took, reads, at := time.Duration(-1), 0, 100+s.rng.IntN(200) // one read each tick
	s.rig.fault = func(op string) error {
		if op == "read" {
			reads++
		}
		if reads >= at && !s.over {
			s.watch(f)
		}
		if s.over && took < 0 {
			took = s.clock.Now().Sub(s.began)
			cancel()
		}
		if s.cut {
			return drivers.ErrUnavailable
		}
		return nil
	}
	s.rig.deaf = func() bool { return s.deaf }
	s.deps.Journal, _ = book(t, &s.opt)
	if _, err := Run(ctx, s.opt, s.deps); took < 0 || took > f.bound {
		t.Errorf("seed %d, %s: %v after the fault, bound %v (%v); %+v", seed, f.name, took, f.bound, err, safetyEvents(s.events))
	}
	return took
}

// watch lets the fault begin, and looks for the end of it.
func (s *suffering) watch(f *loopFault) {
	now, k := s.clock.Now(), s.rig.knobs["a"]
	standing := now.Sub(k.since)
	switch {
	case f.name[0] == 'm' && s.began.IsZero() && (standing < 300*time.Millisecond || standing > time.Second):
		// Whether an actuator has been moved by a hand can only be told of one that stands,
		// for as long as that takes.
	case s.began.IsZero() && !s.panics:
		if f.begin(s); !s.panics {
			s.began = now
		}
	case s.began.IsZero(): // the policy has not been asked yet
	case s.deaf && !s.ended() && math.Abs(s.rig.lastWritten("a")-k.target) <= 0.01:
		s.began = now // nothing else has been asked of it yet: nobody can tell that it is dead
	case f.safe(s):
		s.over = true
	}
}

// safetyEvents are the lines that tell what the layer did.
func safetyEvents(all []journal.Event) (out []string) {
	for _, e := range all {
		if e.Kind == journal.EventSafety {
			out = append(out, e.At.Mono.String()+" "+e.Message)
		}
	}
	return out
}

// TestFaultToSafe measures the time from each class of fault to safety through the whole
// loop: devices, board, layer, latches, writes, by the simulator's clock; and holds each
// to the bound that is published.
func TestFaultToSafe(t *testing.T) {
	t.Logf("seed %d, each fault %d times", *faultSeedFlag, *faultsFlag)
	for k, f := range loopFaults() {
		var took []time.Duration
		for n := range *faultsFlag {
			took = append(took, f.suffer(t, *faultSeedFlag+uint64(1000*n+k)))
		}
		slices.Sort(took)
		n := len(took)
		t.Logf("| %s | %d | %v | %v | %v | %v |", f.name, n, took[n/2], took[n*99/100], took[n-1], f.bound)
	}
}
