package safety

import (
	"math"
	"testing"
	"time"
)

const tick = 100 * time.Millisecond

// oneVariable are limits of one actuator without a readback, from -2 to 10, 1 up
// and 4 down per second, whose fault state is its safe value 0.
func oneVariable() Limits {
	return Limits{Tick: tick, HoldMax: 5 * time.Second, DurableWait: 2 * tick, Variables: []VariableLimits{
		{Low: -2, High: 10, SlewUp: 1, SlewDown: 4, Safe: 0, OnFault: RestSafe, Shutdown: RestHold, Timeout: time.Second}}}
}

// rig is a device that does what it is told from one tick to the next, with a
// switch for everything that can go wrong.
type rig struct {
	t   *testing.T
	l   Limits
	s   State
	in  Inputs
	p   Proposal
	out Output
	now time.Duration
	// deaf: the device acknowledges and does not move. silent: nothing is read.
	deaf, silent bool
	// read gives each sensor's reading; one that is not in it is silent.
	read map[int]float64
	// given is exactly what Step was last given.
	given struct {
		s  State
		in Inputs
		p  Proposal
	}
	// writes counts, per variable.
	writes [MaxVariables]int
}

// newRig makes a rig with every actuator read at x.
func newRig(t *testing.T, l Limits, x float64) *rig {
	t.Helper()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, l: l, read: map[int]float64{}}
	r.in.Ready, r.in.Durable = true, Undurable
	for i := range l.Variables {
		r.in.Variable[i] = VariableInput{Readback: Sample{Value: x, Known: true}, CanWrite: true}
	}
	return r
}

// tick lets one tick pass: readings come in, Step runs, the device follows.
func (r *rig) tick(c Command) Output {
	r.t.Helper()
	r.now += r.l.Tick
	for i := range r.l.Sensors {
		if x, ok := r.read[i]; ok {
			r.s.Sensor[i], _ = r.l.Sensors[i].Accept(r.s.Sensor[i], Sample{Value: x, At: r.now, Known: true})
		}
	}
	for d := range r.l.Links {
		if !r.silent {
			r.in.Heard[d] = Sample{At: r.now, Known: true}
		}
	}
	r.in.Command = c
	r.given.s, r.given.in, r.given.p = r.s, r.in, r.p
	r.s, r.out = Step(&r.l, r.s, &r.in, &r.p, r.now)
	for i := range r.l.Variables {
		r.follow(i)
	}
	return r.out
}

// follow is the device's side of one tick.
func (r *rig) follow(i int) {
	in := &r.in.Variable[i]
	in.Lost = false
	if r.out.Release[i] {
		in.Released, in.Written = true, Sample{}
	}
	if !r.out.Write[i] {
		if !r.silent {
			in.Readback.At = r.now
		}
		return
	}
	r.writes[i]++
	in.Released = false
	in.Written = Sample{Value: r.out.Setpoint[i], At: r.now, Known: true}
	if !r.deaf && !r.silent {
		in.Readback = in.Written
	}
}

// ticks lets n ticks pass.
func (r *rig) ticks(n int) Output {
	r.t.Helper()
	for range n {
		r.tick(CommandNone)
	}
	return r.out
}

// pass lets a time pass.
func (r *rig) pass(d time.Duration) Output {
	r.t.Helper()
	return r.ticks(int(d / r.l.Tick))
}

// running brings the rig to Run.
func (r *rig) running() *rig {
	r.t.Helper()
	r.tick(CommandNone)
	r.tick(CommandArm)
	r.tick(CommandStart)
	r.want(Run)
	return r
}

// want fails unless the machine is in mode m.
func (r *rig) want(m Mode) {
	r.t.Helper()
	if r.s.Mode != m {
		r.t.Fatalf("at %v: mode %v, want %v; active %v, latched %v, refused %v", r.now, r.s.Mode, m,
			names(r.out.Active), names(r.s.Latched), names(r.out.Refused))
	}
}

// wantFirstOut fails unless exactly rule is the first-out.
func (r *rig) wantFirstOut(rule Rule) {
	r.t.Helper()
	if got := names(r.s.FirstOut); len(got) != 1 || got[0] != rule.String() {
		r.t.Errorf("at %v: first-out %v, want %v", r.now, got, rule)
	}
}

// drive proposes a destination for variable 0.
func (r *rig) drive(dest float64) *rig {
	r.p.ID++
	r.p.Drive[0], r.p.Release[0], r.p.Destination[0] = true, false, dest
	return r
}

// names lists the rules of a set.
func names(c Causes) (out []string) {
	for rule := range RuleCount {
		if c.Has(rule) {
			out = append(out, rule.String())
		}
	}
	return out
}

// near compares values that sums of tenths have rounded.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
