package simulator

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// fault is one thing that goes wrong, and for how long.
type fault struct {
	kind kind
	at   time.Duration
	long time.Duration
	// pick chooses among what a kind can strike.
	pick uint64
	// doses says that the pump's failpoints are among those that it can strike.
	doses bool
}

// kind of fault.
type kind int

// The kinds. What the instrument does by itself (plantKinds) is scheduled with the
// plant; everything else is done by the world.
const (
	netCut     kind = iota // both sides lose their connections, new ones are refused
	netHang                // new connections are taken and never answered
	netTuner               // the same as netCut, the tuner's alone
	netPlant               // the instrument's alone
	holeTuner              // what the tuner sends and is sent is kept, and comes late
	holePlant              // the same on the instrument's side
	netSlow                // messages take up to three ticks
	oldReading             // a reading of before is said again
	twice                  // the last reading comes twice
	garbled                // bytes that are no message, on every topic
	retained               // readings and setpoints of before stand retained
	oldSet                 // a setpoint of before is said again
	doorOpens              // the interlock's sensor says no
	doorMute               // the interlock's sensor is silent
	plantFault             // one of plantKinds
	kill                   // the process ends at once, wherever it is
	killAt                 // the process ends at the next failpoint of a name
	terminate              // the process is asked to end, and starts again
	stall                  // the loop's goroutine stands still at a failpoint
	wallJump               // the date is set
	policySlow             // decisions come after their deadline
	policyHung             // a decision does not come
	policyDies             // the policy panics
	diskFull               // files cannot grow
	diskFullAt             // the same, from the next failpoint of a name on
	diskSlow               // each write takes its time
	pumpFails              // the pump of doses is in one of its moods
	cmdPause               // commands
	cmdResume
	cmdStop
	cmdReset
	kinds
)

var kindNames = [kinds]string{"net-cut", "net-hang", "net-tuner", "net-plant", "hole-tuner", "hole-plant", "net-slow", "old-reading", "twice",
	"garbled", "retained", "old-setpoint", "door-open", "door-mute", "plant", "kill", "kill-at", "terminate", "stall", "wall-jump",
	"policy-slow", "policy-hung", "policy-dies", "disk-full", "disk-full-at", "disk-slow", "pump", "pause", "resume", "stop", "reset"}

func (k kind) String() string { return kindNames[k] }

// plantKinds are the faults of drivers/sim, with what they strike.
var plantKinds = []string{"dropout:energy", "dropout:coolant", "dropout:a", "stale:energy", "stuck:energy", "stuck:a", "stuck:b",
	"spike:energy", "spike:a", "lost", "slow:a", "wrong-sign:b", "dead:a", "dead:b", "nan", "garbage", "power-cycle", "clock-jump"}

// failpoints are the loop's, between intent, write and outcome.
var failpoints = []string{"decision-durable", "intent-durable", "before-write", "after-write", "outcome-durable"}

// doseFailpoints are those between the charge of a dose and its outcome.
var doseFailpoints = []string{"control-changed", "control-durable", "dose-granted", "dose-intended", "before-dose", "after-dose", "dose-settled"}

// weights say how often each kind comes: what ends the run for long is rarer.
var weights = [kinds]int{netCut: 4, netHang: 2, netTuner: 3, netPlant: 3, holeTuner: 4, holePlant: 4, netSlow: 3, oldReading: 2, twice: 2, garbled: 2,
	retained: 2, oldSet: 3, doorOpens: 2, doorMute: 2, plantFault: 16, kill: 4, killAt: 8, terminate: 2, stall: 2, wallJump: 2,
	policySlow: 2, policyHung: 1, policyDies: 1, diskFull: 3, diskFullAt: 2, diskSlow: 4, pumpFails: 3, cmdPause: 2, cmdResume: 2, cmdStop: 1, cmdReset: 1}

// schedule draws the faults of a world that ends its faults at until. The last part
// of a world is quiet, so that it can be seen to work again.
func schedule(rng *rand.Rand, p *pace, until time.Duration) []fault {
	total := 0
	for _, w := range weights {
		total += w
	}
	var out []fault
	for at := time.Duration(0); ; {
		at += time.Duration(rng.ExpFloat64() * float64(meanGap*p.tick))
		f := fault{at: at, long: between(rng, p.tick, 60*p.tick), pick: rng.Uint64(), doses: p.budget != nil}
		n := rng.IntN(total)
		for f.kind = 0; n >= weights[f.kind]; f.kind++ {
			n -= weights[f.kind]
		}
		if f.kind == stall {
			f.long = between(rng, p.tick, 40*p.tick)
		}
		if at+f.long > until {
			slices.SortFunc(out, func(a, b fault) int { return cmp.Compare(a.at, b.at) })
			return out
		}
		out = append(out, f)
		if f.ofDisk() && f.long > 40*p.tick && f.pick>>24%2 == 0 {
			out = append(out, f.doorMeanwhile(p))
		}
	}
}

// doorMeanwhile is an interlock that trips while the disk has a fault: whatever the disk
// does, the safe values are taken in time.
func (f *fault) doorMeanwhile(p *pace) fault {
	return fault{kind: []kind{doorOpens, doorMute}[f.pick>>25%2], at: f.at + 12*p.tick, long: 20 * p.tick, pick: f.pick}
}

// meanGap is the mean time from one fault to the next, in ticks: long enough that
// most of them find the loop at work, short enough that some come together.
const meanGap = 90

// plantFaults writes the instrument's own faults as drivers/sim reads them.
func plantFaults(faults []fault) []string {
	var out []string
	for _, f := range faults {
		if f.kind == plantFault {
			out = append(out, fmt.Sprintf("%s@%v+%v", f.plant(), f.at, f.long))
		}
	}
	return out
}

func (f *fault) plant() string { return plantKinds[f.pick%uint64(len(plantKinds))] }

// String is the fault as the log has it.
func (f *fault) String() string { return fmt.Sprintf("%s for %v", f.name(), f.long) }

// name is what goes wrong, without its time.
func (f *fault) name() string {
	switch f.kind {
	case plantFault:
		return f.plant()
	case killAt, stall, diskFullAt:
		return f.kind.String() + " " + f.failpoint()
	case pumpFails:
		return fmt.Sprintf("%v %d", f.kind, f.pumpMood())
	}
	return f.kind.String()
}

func (f *fault) failpoint() string {
	among := failpoints
	if f.doses {
		among = slices.Concat(failpoints, doseFailpoints)
	}
	return among[f.pick%uint64(len(among))]
}

// lasts says that the fault has an end that the world brings about.
func (f *fault) lasts() bool {
	return !slices.Contains([]kind{oldReading, twice, garbled, oldSet, kill, terminate, wallJump, cmdPause, cmdResume, cmdStop, cmdReset}, f.kind)
}

// ofDisk says that it is the disk's.
func (f *fault) ofDisk() bool {
	return f.kind == diskFull || f.kind == diskFullAt || f.kind == diskSlow
}

// mood of the policy.
type mood int

const (
	moodGood mood = iota
	moodSlow
	moodHung
	moodPanic
)

// moodTime is how long a decision takes.
func (p *pace) moodTime(m mood) time.Duration {
	if m == moodHung {
		return 4 * (p.tick + policyWait)
	}
	return p.tick * 3 / 2
}

// pumpMood is how the pump fails.
func (f *fault) pumpMood() pumpMood { return 1 + pumpMood(f.pick%uint64(pumpMoods-1)) }
