package sim

import (
	"math"
	"testing"
	"time"
)

// TestMotionSolvesItsEquation integrates p' = clamp((target-p)/lag, ±speed) and
// the play behind it in small steps and compares.
func TestMotionSolvesItsEquation(t *testing.T) {
	cases := map[string]motion{
		"far":      {from: -1, target: 3, speed: 2, lag: 0.05, play: 0.01},
		"back":     {from: 3, target: -1, speed: 2, lag: 0.05, play: 0.01},
		"near":     {from: 1, target: 1.05, speed: 2, lag: 0.05, play: 0.01},
		"slow":     {from: 0, target: 1, speed: 0.5, lag: 0.5, play: 0.3},
		"pure lag": {from: 0, target: 1, speed: math.Inf(1), lag: 0.3},
	}
	const dt, every = 1e-5, 20_000
	for name, m := range cases {
		m.start, m.optic = 3*time.Second, m.from+m.play/3
		p, q := m.from, m.optic
		for i := 0; i <= 300_000; i++ {
			if i%every == 0 {
				at := m.start + time.Duration(float64(i)*dt*1e9)
				// Euler's error is speed·dt/2 at its worst here, below 1e-4.
				if got := m.at(at); math.Abs(got-p) > 1e-4 {
					t.Errorf("%s: motor at %v after the start is %v, integrated %v", name, at-m.start, got, p)
				}
				if got := m.opticPosition(at); math.Abs(got-q) > 1e-4 {
					t.Errorf("%s: optic at %v after the start is %v, integrated %v", name, at-m.start, got, q)
				}
			}
			rate := (m.target - p) / m.lag
			p += dt * math.Max(-m.speed, math.Min(m.speed, rate))
			q = math.Min(math.Max(q, p-m.play/2), p+m.play/2)
		}
	}
}

func TestMotionAtOnce(t *testing.T) {
	m := motion{from: 1, target: 4, speed: math.Inf(1)}
	if got := m.at(0); got != 4 {
		t.Errorf("without lag and limit the motor is at %v, want 4", got)
	}
	m = motion{from: 1, target: 4, speed: 2}
	if got := m.at(time.Second); got != 3 {
		t.Errorf("without lag the motor is at %v after 1 s at 2/s, want 3", got)
	}
	if got := m.at(time.Minute); got != 4 {
		t.Errorf("without lag the motor ends at %v, want 4", got)
	}
}

// TestLaserKnobMoves: through the device, a mirror takes its time and then is
// where it was sent, to the readback's noise and resolution.
func TestLaserKnobMoves(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.device("stage")
	b.write(stage, map[string]float64{"mx": 2})
	// 2 mrad at 0.5 range/s of 4 mrad = 2 mrad/s takes 1 s, and the lag of 50 ms
	// adds its own: linear until 0.1 mrad are left, at 0.95 s.
	for _, step := range []struct {
		at   time.Duration
		want float64
	}{{500 * time.Millisecond, 1}, {950 * time.Millisecond, 1.9}, {time.Second, 2 - 0.1*math.Exp(-1)}, {1150 * time.Millisecond, 2 - 0.1*math.Exp(-4)}} {
		b.clock.move(step.at - b.now)
		got := b.read(stage, "mx").Values["mx"]
		// Noise of a quarter step, at most four of them, and half a step of rounding.
		if math.Abs(got-step.want) > 0.0015+1e-12 {
			t.Errorf("after %v the mirror reads %v, want %v", step.at, got, step.want)
		}
		if q := got / 0.001; math.Abs(q-math.Round(q)) > 1e-9 {
			t.Errorf("readback %v is not a multiple of the resolution", got)
		}
	}
}

func TestReadbackNoise(t *testing.T) {
	o := laserOptions()
	o.Variables[0].Resolution = 0
	b := newBench(t, o)
	stage := b.device("stage")
	const n = 20_000
	mean, square := 0.0, 0.0
	for range n {
		b.clock.move(time.Millisecond)
		v := b.read(stage, "mx").Values["mx"]
		mean += v / n
		square += v * v / n
	}
	sd := math.Sqrt(square - mean*mean)
	// 1e-4 of the range of 4 mrad; a standard deviation from n numbers is good to
	// 1/√(2n), 0.5%.
	if math.Abs(sd-4e-4) > 5*4e-4/math.Sqrt(2*n) {
		t.Errorf("readback noise has sd %v, want 4e-4", sd)
	}
	if math.Abs(mean) > 5*4e-4/math.Sqrt(n) {
		t.Errorf("readback noise has mean %v", mean)
	}
	if again := b.read(stage, "mx").Values["mx"]; again != b.read(stage, "mx").Values["mx"] {
		t.Error("two readings of one instant differ")
	}
}

func TestSteppedKnob(t *testing.T) {
	o := laserOptions()
	o.Variables[2].Levels = []float64{10, 11, 13.5}
	o.Variables[3].Integer = true
	b := newBench(t, o)
	stage := b.device("stage")
	b.write(stage, map[string]float64{"gr": 13, "pump": 81.4})
	for range 30 {
		b.clock.move(100 * time.Millisecond)
		v := b.read(stage, "gr", "pump").Values
		if g := v["gr"]; g != 10 && g != 11 && g != 13.5 {
			t.Errorf("grating between its levels: %v", g)
		}
		if v["pump"] != math.Round(v["pump"]) {
			t.Errorf("whole number expected, got %v", v["pump"])
		}
	}
	if v := b.read(stage, "gr", "pump").Values; v["gr"] != 13.5 || v["pump"] != 81 {
		t.Errorf("knobs ended at %v, want 13.5 and 81", v)
	}
}
