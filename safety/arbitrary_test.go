package safety

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/scripts/testsize"
)

var (
	proposalsFlag = flag.Float64("proposals", float64(testsize.Of(8e5, 1e7)), "how many arbitrary proposals TestArbitraryBits makes")
	seedFlag      = flag.Uint64("safety.seed", 20261121, "seed of the random tests")
)

// oddLimits are 32 variables of every scale and habit.
func oddLimits() Limits {
	l := Limits{Tick: tick, HoldMax: time.Second, Comms: time.Second, DurableWait: 2 * tick}
	for i := range MaxVariables {
		scale := math.Pow(10, float64(i%16-6))
		v := VariableLimits{Low: -scale * float64(1+i%3), High: 2 * scale, SlewUp: scale / float64(1+i%5), SlewDown: 3 * scale,
			Safe: scale * float64(i%2), OnFault: RestSafe, Shutdown: Rest(1 + i%3), Timeout: time.Second}
		if i%3 == 0 {
			v.Resolution = scale / 7
		}
		if i%4 == 0 {
			v.Lease = 500 * time.Millisecond
		}
		if i%5 == 0 {
			v.Dwell = 300 * time.Millisecond
		}
		if i%7 == 0 {
			v.Stepped = true
		}
		if i >= 24 {
			v.Tolerance = scale / 10
		}
		if i == 31 {
			v.Above, v.AboveTime = scale, time.Second
		}
		l.Variables = append(l.Variables, v)
	}
	l.Links = []LinkLimits{{Watched: true}}
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second, Watched: true}, {Low: 0, High: 1, MaxAge: time.Second}}
	l.Interlocks = []Condition{{Sensor: 1, Low: 0.5, High: 1}}
	l.Responses = []ResponseLimits{{Variable: 30, Sensor: -1, Change: 10, Moves: 5, Within: time.Second}}
	l.Doses = []DoseLimits{{Variable: 29, PerDose: 1e7, Hour: 1e8, MinInterval: time.Second}}
	l.Duties = []DutyLimits{{Variable: 31, Above: l.Variables[31].Above, Fraction: 0.5, Window: 10 * time.Second}}
	return l
}

// anyBits is any float64 there is, one time in four one that matters.
func anyBits(rng *rand.Rand, v *VariableLimits) float64 {
	if rng.IntN(4) == 0 {
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), v.Low, v.High, v.Safe, 0,
			math.Nextafter(v.High, math.Inf(1)), v.Low + rng.Float64()*(v.High-v.Low), math.MaxFloat64, 5e-324}[rng.IntN(11)]
	}
	return math.Float64frombits(rng.Uint64())
}

// witness follows one variable from outside, by what goes in and out alone.
type witness struct {
	// from are the values that the next setpoint may come from: the last one, or
	// where the actuator stood when it began to be driven.
	from []float64
	// time is what slew may have used since then.
	time time.Duration
}

// scene is what a witness sees in one tick.
type scene struct {
	l   *Limits
	i   int
	in  *VariableInput
	out *Output
	// driven: the variable is on a way. kept: it stands and is refreshed at most.
	// moved: the layer has found that it was moved by hand.
	driven, kept, moved bool
	dt                  time.Duration
}

// look compares one tick with the invariants. It returns what is wrong, "" if
// nothing is.
func (w *witness) look(c scene) string {
	v, mode := &c.l.Variables[c.i], c.out.Mode
	if !c.driven && !c.kept || c.in.Lost || c.moved {
		w.from = nil
	}
	anew := w.from == nil
	if anew {
		w.from, w.time = starts(v, c.in), 0
	}
	defer func() {
		if anew && !c.driven { // it is taken over when it is driven again
			w.from = nil
		}
	}()
	w.time += c.dt
	if !c.out.Write[c.i] {
		return ""
	}
	x := c.out.Setpoint[c.i]
	if math.IsNaN(x) || math.IsInf(x, 0) || x < v.Low || x > v.High {
		return fmt.Sprintf("setpoint %v outside [%v, %v]", x, v.Low, v.High)
	}
	switch mode {
	case Init, Idle, Armed:
		return "written in " + mode.String()
	case Tripped, Stopped:
		if x != v.Safe {
			return fmt.Sprintf("%v written in %v", x, mode)
		}
		return ""
	}
	from, allowed := w.from, min(w.time, longest(v, c.dt)).Seconds()
	if !slices.Contains(from, x) { // else it was written again
		w.time = 0
	}
	w.from = []float64{x}
	slack := v.Resolution + 1e-9*max(math.Abs(v.Low), math.Abs(v.High))
	for _, f := range from {
		if x <= f+v.SlewUp*allowed+slack && x >= f-v.SlewDown*allowed-slack {
			return ""
		}
	}
	return fmt.Sprintf("%v in %v from any of %v in %v s", x, mode, from, allowed)
}

// longest is the time that one change may make use of: that of the tick, where no
// rule withholds setpoints while the way goes on.
func longest(v *VariableLimits, dt time.Duration) time.Duration {
	switch {
	case v.Stepped:
		return math.MaxInt64
	case v.Dwell == 0 && v.Resolution == 0:
		return dt
	}
	grid := v.Resolution / min(v.SlewUp, v.SlewDown)
	// The dwell begins with the tick that tells of a loss, which is up to two ticks later.
	return v.Dwell + 4*tick + time.Duration(grid*float64(time.Second))
}

// starts are the values at which an actuator may be taken over.
func starts(v *VariableLimits, in *VariableInput) (out []float64) {
	inside := func(x float64) float64 { return min(max(x, v.Low), v.High) }
	real := func(s Sample) bool { return s.Known && !math.IsNaN(s.Value) && !math.IsInf(s.Value, 0) }
	switch {
	case real(in.Written):
		out = append(out, inside(in.Written.Value))
	case !real(in.Readback):
		out = append(out, v.Safe)
	}
	if real(in.Readback) {
		out = append(out, inside(in.Readback.Value))
	}
	return out
}

// TestArbitraryBits feeds arbitrary 64-bit patterns as destinations and readbacks,
// through every mode, and compares every setpoint with the invariants: finite,
// inside the bounds, within slew outside Tripped and Stopped.
func TestArbitraryBits(t *testing.T) {
	t.Logf("seed %d", *seedFlag)
	rng := rand.New(rand.NewPCG(*seedFlag, 1))
	l := oddLimits()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	var s State
	var in Inputs
	var p Proposal
	var now time.Duration
	var watch [MaxVariables]witness
	var lost [MaxVariables]bool
	var modes [modeCount]int
	writes := 0
	for n := 0.0; n < *proposalsFlag; n += MaxVariables {
		arbitraryTick(rng, &l, &s, &in, &p)
		for i := range l.Variables {
			in.Variable[i].Lost, lost[i] = in.Variable[i].Lost || lost[i], false
		}
		before := s
		now += time.Duration(rng.Int64N(int64(3 * tick)))
		var out Output
		s, out = Step(&l, s, &in, &p, now)
		dt := min(now-before.Last, 2*tick)
		modes[s.Mode]++
		for i := range l.Variables {
			c := scene{l: &l, i: i, in: &in.Variable[i], out: &out, dt: dt, moved: before.Variable[i].Overridden || out.Active[RuleOverride].Has(i)}
			c.kept = s.Mode == Hold || s.Mode == Fallback && s.Ending && l.Variables[i].Shutdown == RestHold
			c.driven = !c.kept && (s.Mode == Fallback || s.Mode == Run && p.Drive[i])
			if wrong := watch[i].look(c); wrong != "" {
				t.Fatalf("seed %d, proposal %.0f, variable %d: %s", *seedFlag, n, i, wrong)
			}
			if out.Write[i] {
				writes++
				if lost[i] = rng.IntN(8) == 0; !lost[i] {
					in.Variable[i].Written = Sample{Value: out.Setpoint[i], At: now, Known: true}
				}
			}
		}
		if s.Latched.Has(RuleAssert) {
			t.Fatalf("seed %d, proposal %.0f: the final assert found something", *seedFlag, n)
		}
	}
	for m, n := range modes {
		if n == 0 {
			t.Errorf("never in %v", Mode(m))
		}
	}
	t.Logf("%.0f proposals, %d setpoints, ticks by mode %v", *proposalsFlag, writes, modes)
}

// arbitraryTick makes anything of the inputs.
func arbitraryTick(rng *rand.Rand, l *Limits, s *State, in *Inputs, p *Proposal) {
	in.Command, in.Ready, in.Durable = CommandNone, rng.IntN(4) > 0, Undurable
	switch s.Mode { // towards Run, mostly
	case Idle:
		in.Command = CommandArm
	case Armed:
		in.Command = CommandStart
	case Hold, Fallback:
		in.Command = []Command{CommandNone, CommandResume}[rng.IntN(2)]
	case Tripped, Stopped:
		in.Command = []Command{CommandNone, CommandReset}[rng.IntN(2)]
	}
	if rng.IntN(50) == 0 {
		in.Command = Command(rng.IntN(int(commandCount)))
	}
	if rng.IntN(300) == 0 {
		*s = Boot(s.Save())
	}
	if rng.IntN(10) > 0 {
		in.Heard[0] = Sample{At: s.Last, Known: true}
	}
	for j := range l.Sensors {
		if rng.IntN(10) > 0 {
			x := 0.75
			if rng.IntN(20) == 0 {
				x = anyBits(rng, &l.Variables[0])
			}
			s.Sensor[j], _ = l.Sensors[j].Accept(s.Sensor[j], Sample{Value: x, At: s.Last, Known: true})
		}
	}
	p.ID += int64(rng.IntN(2))
	for i := range l.Variables {
		v := &in.Variable[i]
		p.Drive[i], p.Release[i] = rng.IntN(10) > 0, rng.IntN(2) == 0
		p.Destination[i] = anyBits(rng, &l.Variables[i])
		v.Readback = Sample{Value: anyBits(rng, &l.Variables[i]), At: s.Last, Known: rng.IntN(10) > 0}
		v.CanWrite, v.Lost, v.Released = rng.IntN(5) > 0, rng.IntN(50) == 0, false
		if rng.IntN(50) == 0 {
			v.Written, v.Released = Sample{}, true
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	l := oddLimits()
	rng := rand.New(rand.NewPCG(1, 1))
	var s State
	var in Inputs
	var p Proposal
	var now time.Duration
	if n := testing.AllocsPerRun(10000, func() {
		arbitraryTick(rng, &l, &s, &in, &p)
		now += tick
		s, _ = Step(&l, s, &in, &p, now)
	}); n != 0 {
		t.Errorf("%v allocations per step", n)
	}
}

// BenchmarkStep measures one tick of a run, as the loop has it (in place) and as the pure
// function that copies the State.
func BenchmarkStep(b *testing.B) {
	benchmarkStep(b, func(l *Limits, s *State, in *Inputs, p *Proposal, now time.Duration) { s.Advance(l, in, p, now) })
}

func BenchmarkStepByValue(b *testing.B) {
	benchmarkStep(b, func(l *Limits, s *State, in *Inputs, p *Proposal, now time.Duration) { *s, _ = Step(l, *s, in, p, now) })
}

func benchmarkStep(b *testing.B, advance func(*Limits, *State, *Inputs, *Proposal, time.Duration)) {
	for _, n := range []int{1, 4, MaxVariables} {
		b.Run(fmt.Sprintf("variables=%d", n), func(b *testing.B) {
			l := oddLimits()
			l.Variables, l.Sensors, l.Interlocks, l.Links, l.Responses, l.Doses = l.Variables[:n], nil, nil, nil, nil, nil
			var s State
			in := Inputs{Ready: true, Durable: Undurable}
			var p Proposal
			for i := range n {
				p.Drive[i], p.Destination[i], in.Variable[i].CanWrite = true, l.Variables[i].High, true
			}
			var now time.Duration
			step := func(c Command) {
				now += tick
				in.Command = c
				advance(&l, &s, &in, &p, now)
			}
			step(CommandNone)
			step(CommandArm)
			step(CommandStart)
			if s.Mode != Run {
				b.Fatal(s.Mode)
			}
			b.ReportAllocs()
			for b.Loop() {
				step(CommandNone)
			}
		})
	}
}
