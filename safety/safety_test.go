package safety

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const tick = 100 * time.Millisecond

func oneVariable() Limits {
	l := Limits{N: 1, Tick: tick}
	l.Variable[0] = VariableLimits{Low: -2, High: 10, SlewUp: 1, SlewDown: 4, Safe: 0}
	return l
}

func propose(destination float64) Proposal {
	var p Proposal
	p.Drive[0], p.Destination[0] = true, destination
	return p
}

func readback(x float64) Inputs {
	var in Inputs
	in.Readback[0] = x
	return in
}

func TestWayToDestination(t *testing.T) {
	// Slew 1 up and 4 down per second at 0.1 s: steps of 0.1 and 0.4.
	l := oneVariable()
	var s State
	var out Output
	for k, want := range []float64{5, 5.1, 5.2, 5.25, 5.25} {
		s, out = Step(&l, s, readback(5), propose(5.25), time.Duration(k)*tick)
		if math.Abs(out.Setpoint[0]-want) > 1e-12 { // sums of 0.1 round
			t.Errorf("tick %d: setpoint %v, want %v", k, out.Setpoint[0], want)
		}
		if arrived := want == 5.25; out.Arrived[0] != arrived {
			t.Errorf("tick %d: arrived %v", k, out.Arrived[0])
		}
	}
	s, out = Step(&l, s, readback(5), propose(1), 5*tick)
	if want := 5.25 - 0.4; math.Abs(out.Setpoint[0]-want) > 1e-12 {
		t.Errorf("down: setpoint %v, want %v", out.Setpoint[0], want)
	}
	if out.Reasons[0] != Slew {
		t.Errorf("down: reasons %v", out.Reasons[0].Names())
	}
}

func TestPauseDoesNotBecomeOneLargeStep(t *testing.T) {
	l := oneVariable()
	s, _ := Step(&l, State{}, readback(0), propose(10), 0)
	for _, c := range []struct {
		name string
		now  time.Duration
		want float64
	}{
		{"clock stands still", 0, 0},
		{"clock goes back", -time.Hour, 0},
		{"an hour's pause counts as two ticks", time.Hour, 0.2},
	} {
		if _, out := Step(&l, s, readback(0), propose(10), c.now); math.Abs(out.Setpoint[0]-c.want) > 1e-12 {
			t.Errorf("%s: setpoint %v, want %v", c.name, out.Setpoint[0], c.want)
		}
	}
}

func TestNotFiniteKeepsTheLastSetpoint(t *testing.T) {
	l := oneVariable()
	s, _ := Step(&l, State{}, readback(3), propose(3), 0)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		next, out := Step(&l, s, readback(3), propose(bad), tick)
		if out.Setpoint[0] != 3 || out.Reasons[0]&NotFinite == 0 || next.Variable[0].Applied != 3 {
			t.Errorf("%v: setpoint %v, reasons %v, applied %v", bad, out.Setpoint[0], out.Reasons[0].Names(), next.Variable[0].Applied)
		}
		// A comparison clamp would have let NaN through and lost the rate limit.
		if _, out := Step(&l, next, readback(3), propose(10), 2*tick); math.Abs(out.Setpoint[0]-3.1) > 1e-12 {
			t.Errorf("after %v: setpoint %v, want 3.1", bad, out.Setpoint[0])
		}
	}
}

func TestTakeOverWithoutABump(t *testing.T) {
	l := oneVariable()
	s, out := Step(&l, State{}, readback(7), propose(2), 0)
	if out.Setpoint[0] != 7 {
		t.Errorf("first setpoint %v, want the readback 7", out.Setpoint[0])
	}
	var released Proposal
	s, out = Step(&l, s, readback(7), released, tick)
	if out.Write[0] || s.Variable[0].Known {
		t.Error("a variable that is not driven is written or remembered")
	}
	if _, out = Step(&l, s, readback(4), propose(2), 2*tick); out.Setpoint[0] != 3.6 {
		t.Errorf("taken over again at %v, want 4 - 0.4", out.Setpoint[0])
	}
	_, out = Step(&l, State{}, readback(math.NaN()), propose(2), 0)
	if out.Reasons[0]&NoReadback == 0 || out.Setpoint[0] != 0 {
		t.Errorf("without readback: setpoint %v, reasons %v, want the safe value 0", out.Setpoint[0], out.Reasons[0].Names())
	}
}

func TestAtOnce(t *testing.T) {
	l := oneVariable()
	p := propose(-2)
	p.AtOnce[0] = true
	if _, out := Step(&l, State{}, readback(9), p, 0); out.Setpoint[0] != -2 || !out.Arrived[0] {
		t.Errorf("setpoint %v, want -2 at once", out.Setpoint[0])
	}
}

func TestQuantise(t *testing.T) {
	l := oneVariable()
	l.Variable[0].Resolution = 0.25
	s, _ := Step(&l, State{}, readback(1), propose(2.1), 0)
	var out Output
	for k, want := range []float64{1, 1, 1.25, 1.25, 1.5, 1.5, 1.5, 1.75, 1.75, 2, 2.1} {
		s, out = Step(&l, s, readback(1), propose(2.1), time.Duration(k+1)*tick)
		if math.Abs(out.Setpoint[0]-want) > 1e-12 {
			t.Errorf("tick %d: setpoint %v, want %v", k, out.Setpoint[0], want)
		}
	}
}

func TestClampSaysWhatStepDoes(t *testing.T) {
	l := oneVariable()
	for _, c := range []struct {
		x, want float64
		rule    string
	}{{3, 3, "[]"}, {11, 10, "[hard-bounds]"}, {-3, -2, "[hard-bounds]"}, {math.NaN(), 1, "[not-finite]"}} {
		got, r := Clamp(&l.Variable[0], c.x, 1)
		if got != c.want || fmt.Sprint(r.Names()) != c.rule {
			t.Errorf("Clamp(%v) = %v %v, want %v %s", c.x, got, r.Names(), c.want, c.rule)
		}
	}
}

// TestArbitraryBits feeds arbitrary 64-bit patterns as destinations, readbacks
// and limits' neighbours and checks the invariants by plain comparisons.
func TestArbitraryBits(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	l := Limits{N: 3, Tick: tick}
	l.Variable[0] = VariableLimits{Low: -1, High: 1, SlewUp: 0.5, SlewDown: 2, Safe: 0}
	l.Variable[1] = VariableLimits{Low: 1e-9, High: 2e-9, SlewUp: 1e-9, SlewDown: 1e-9, Safe: 1e-9, Resolution: 1e-11}
	l.Variable[2] = VariableLimits{Low: -1e12, High: 1e12, SlewUp: 1e9, SlewDown: 1e11, Safe: 5}
	var s State
	var now time.Duration
	last := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	for range 1_000_000 {
		var p Proposal
		var in Inputs
		for i := range l.N {
			p.Drive[i] = rng.IntN(10) > 0
			p.Destination[i] = math.Float64frombits(rng.Uint64())
			in.Readback[i] = math.Float64frombits(rng.Uint64())
		}
		now += time.Duration(rng.Int64N(int64(3 * tick)))
		dt := min(now-s.Last, 2*tick).Seconds()
		if !s.Ticked {
			dt = 0
		}
		var out Output
		s, out = Step(&l, s, in, p, now)
		for i := range l.N {
			v := &l.Variable[i]
			if !out.Write[i] {
				last[i] = math.NaN()
				continue
			}
			x := out.Setpoint[i]
			if math.IsNaN(x) || math.IsInf(x, 0) || x < v.Low || x > v.High {
				t.Fatalf("variable %d: setpoint %v outside [%v, %v]", i, x, v.Low, v.High)
			}
			// One rounding step of the device's grid and of floating point beside slew.
			slack := v.Resolution + 1e-12*max(math.Abs(x), v.SlewUp)
			if !math.IsNaN(last[i]) && (x > last[i]+v.SlewUp*dt+slack || x < last[i]-v.SlewDown*dt-slack) {
				t.Fatalf("variable %d: %v to %v in %v s", i, last[i], x, dt)
			}
			last[i] = x
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	l := oneVariable()
	var s State
	in, p := readback(1), propose(2)
	if n := testing.AllocsPerRun(100, func() { s, _ = Step(&l, s, in, p, tick) }); n != 0 {
		t.Errorf("%v allocations per step", n)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, n := range []int{1, 4, MaxVariables} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			l := Limits{N: n, Tick: tick}
			var p Proposal
			for i := range n {
				l.Variable[i] = VariableLimits{Low: -1, High: 1, SlewUp: 0.1, SlewDown: 0.1}
				p.Drive[i], p.Destination[i] = true, 0.9
			}
			var s State
			var now time.Duration
			for b.Loop() {
				now += tick
				s, _ = Step(&l, s, Inputs{}, p, now)
			}
		})
	}
}

func ExampleStep() {
	limits := Limits{N: 1, Tick: 100 * time.Millisecond}
	limits.Variable[0] = VariableLimits{Low: 0, High: 100, SlewUp: 2, SlewDown: 20, Safe: 60}
	var p Proposal
	p.Drive[0], p.Destination[0] = true, 250 // out of bounds, in A
	var in Inputs
	in.Readback[0] = 70
	var state State
	var out Output
	for k := range 3 {
		state, out = Step(&limits, state, in, p, time.Duration(k)*limits.Tick)
		fmt.Printf("%.1f A on the way to %.0f A %v\n", out.Setpoint[0], out.Destination[0], out.Reasons[0].Names())
	}
	// Output:
	// 70.0 A on the way to 100 A [hard-bounds slew]
	// 70.2 A on the way to 100 A [hard-bounds slew]
	// 70.4 A on the way to 100 A [hard-bounds slew]
}
