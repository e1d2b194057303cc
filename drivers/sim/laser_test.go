package sim

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func newLaser(dim int) *laser {
	return &laser{source: source{11}, dim: dim, noise: 1, energy: interval{0, 20}, pointing: interval{-5, 5}}
}

// TestLaserHasTwoRegions: for every number of knobs the bright centre is the
// brightest point and noisy, the quiet one a little dimmer and quiet, and the two
// change places when variance is charged for.
func TestLaserHasTwoRegions(t *testing.T) {
	for dim := 1; dim <= laserActs; dim++ {
		l := newLaser(dim)
		bright, brightVariance := l.moments(0, l.centre(0, 0), 0)
		quiet, quietVariance := l.moments(0, l.centre(1, 0), 0)
		if math.Abs(bright-8) > 1e-9 {
			t.Errorf("%d knobs: the bright peak is %v mJ, want 8", dim, bright)
		}
		if quiet < 7.3 || quiet > 7.6 {
			t.Errorf("%d knobs: the quiet peak is %v mJ, want about 7.5", dim, quiet)
		}
		const risk = 0.5 // per mJ, as in the sample
		if gap := quiet - risk*quietVariance - (bright - risk*brightVariance); gap < 0.4 || gap > 0.7 {
			t.Errorf("%d knobs: with risk %v the quiet region leads by %v mJ, want 0.4 to 0.7", dim, risk, gap)
		}
		for i := range uint64(2000) {
			u := make([]float64, dim)
			for k := range u {
				u[k] = source{1}.uniform(uint64(k), i)
			}
			mean, variance := l.moments(0, u, 0)
			if mean > bright || mean < 0.4 {
				t.Errorf("%d knobs: %v mJ at %v is outside [0.4, 8]", dim, mean, u)
			}
			if sd := math.Sqrt(variance); sd < 0.1 || sd > 1.5 {
				t.Errorf("%d knobs: noise of %v mJ at %v is outside [0.1, 1.5]", dim, sd, u)
			}
		}
	}
}

// TestLaserFormula works one point of two knobs out by hand, with the constants
// written again.
func TestLaserFormula(t *testing.T) {
	l := newLaser(2)
	u := []float64{0.55, 0.40}
	// widths times √(2/4)
	g := func(cx, cy, steep, shallow float64) float64 {
		dx, dy := 0.55-cx, 0.40-cy
		q := math.Pow((dx+dy)/math.Sqrt2/(steep*math.Sqrt(0.5)), 2) + math.Pow((dx-dy)/math.Sqrt2/(shallow*math.Sqrt(0.5)), 2)
		return math.Exp(-q / 2)
	}
	b, q := g(0.70, 0.62, 0.22, 0.38), g(0.34, 0.30, 0.32, 0.50)
	e := 0.05 + 0.95*(b+0.93*q-b*0.93*q)
	r := 0.03 + 0.155*b + 0.12*(1-b)*(1-q)
	mean, variance := l.moments(0, u, 0)
	if math.Abs(mean-8*e) > 1e-12 {
		t.Errorf("mean %v, want %v", mean, 8*e)
	}
	if want := 64 * (r*r*e*e + 0.0125*0.0125); math.Abs(variance-want) > 1e-12 {
		t.Errorf("variance %v, want %v", variance, want)
	}
}

// TestLaserShots compares sample moments of pulses with the formulas, and the
// quadrature rule with both.
func TestLaserShots(t *testing.T) {
	const n = 100_000
	l := newLaser(4)
	for _, u := range [][]float64{l.centre(0, 0), l.centre(1, 0), {0.5, 0.5, 0.5, 0.3}, {0, 1, 1, 0}} {
		var energy, pointing [n]float64
		out := make([]float64, 2)
		for i := range energy {
			l.shot(out, u, 0, uint64(i))
			energy[i], pointing[i] = out[0], out[1]
			if out[0] <= 0 {
				t.Fatalf("energy %v at %v is not positive", out[0], u)
			}
		}
		mean, variance := l.moments(0, u, 0)
		compare(t, fmt.Sprint("energy at ", u), energy[:], mean, variance)
		var weight, m1, m2, p1, p2 float64
		l.outcomes(u, 0, func(s []float64, w float64) {
			weight, m1, m2 = weight+w, m1+w*s[0], m2+w*s[0]*s[0]
			p1, p2 = p1+w*s[1], p2+w*s[1]*s[1]
		})
		straight, jitter := l.moments(1, u, 0)
		// A log-normal of s < 0.4 has no terms beyond degree 17 that matter.
		for name, pair := range map[string][2]float64{
			"weights": {weight, 1}, "energy's mean": {m1, mean}, "energy's variance": {m2 - m1*m1, variance},
			"pointing's mean": {p1, straight}, "pointing's variance": {p2 - p1*p1, jitter},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-7*(1+math.Abs(pair[1])) {
				t.Errorf("quadrature at %v: %s is %v, want %v", u, name, pair[0], pair[1])
			}
		}
	}
}

// compare checks a sample of independent values against mean and variance.
func compare(t *testing.T, name string, sample []float64, mean, variance float64) {
	t.Helper()
	n := float64(len(sample))
	m := average(sample)
	m2, m4 := 0.0, 0.0
	for _, x := range sample {
		d := (x - m) * (x - m)
		m2, m4 = m2+d/n, m4+d*d/n
	}
	if tolerance := 5 * math.Sqrt(variance/n); math.Abs(m-mean) > tolerance {
		t.Errorf("%s: mean %v, want %v within 5 standard errors, %v", name, m, mean, tolerance)
	}
	// The standard error of a variance, from the sample's fourth moment.
	if tolerance := 5 * math.Sqrt((m4-m2*m2)/n); math.Abs(m2-variance) > tolerance {
		t.Errorf("%s: variance %v, want %v within 5 standard errors, %v", name, m2, variance, tolerance)
	}
}

func TestLaserWithoutNoise(t *testing.T) {
	l := newLaser(3)
	l.noise = 0
	out := make([]float64, 2)
	u := []float64{0.4, 0.4, 0.5}
	l.shot(out, u, 0, 5)
	if mean, variance := l.moments(0, u, 0); out[0] != mean || variance != 0 {
		t.Errorf("without noise a shot is %v, want the mean, %v", out[0], mean)
	}
}

// TestLaserDrift: the optimum moves at the rate that was asked for, both centres
// together, and never leaves the cube's inside.
func TestLaserDrift(t *testing.T) {
	l := newLaser(8)
	l.drift = 0.02
	for hours := 0.0; hours < 200; hours += 0.37 {
		a, b := l.centre(0, hours), l.centre(1, hours)
		for i := range a {
			if a[i] < laserMargin-1e-9 || a[i] > 1-laserMargin+1e-9 || b[i] < laserMargin-1e-9 || b[i] > 1-laserMargin+1e-9 {
				t.Fatalf("after %v h the centres on axis %d are %v and %v", hours, i, a[i], b[i])
			}
			if d := a[i] - b[i] - (laserCentres[i][0] - laserCentres[i][1]); math.Abs(d) > 1e-9 {
				t.Fatalf("after %v h the centres on axis %d have moved apart by %v", hours, i, d)
			}
			// Speed, where the centre does not turn within the minute.
			speed := math.Abs(l.shift(i, hours+1.0/60)-l.shift(i, hours)) * 60
			if speed > 0.02+1e-9 {
				t.Fatalf("axis %d drifts at %v ranges per hour", i, speed)
			}
		}
	}
	if got := l.shift(0, 2); math.Abs(got-0.04) > 1e-12 {
		t.Errorf("after 2 h at 0.02/h the first axis has moved %v", got)
	}
	if got := l.shift(1, 2); math.Abs(got+0.04) > 1e-12 {
		t.Errorf("after 2 h at 0.02/h the second axis has moved %v", got)
	}
}

// TestLaserPulses: over the device there is one new energy per pulse, none
// between two, and the share of pulses without light is as said.
func TestLaserPulses(t *testing.T) {
	b := newBench(t, laserOptions())
	meter := b.device("meter")
	if r := b.read(meter, "energy", "pointing"); len(r.Values) != 0 {
		t.Fatalf("before the first pulse there is %v", r.Values)
	}
	const pulses = 20_000
	dark := 0
	for i := 1; i <= pulses; i++ {
		b.clock.move(60 * time.Millisecond)
		if i > 1 {
			if r := b.read(meter, "energy", "pointing"); len(r.Values) != 0 {
				t.Fatalf("between two pulses there is %v", r.Values)
			}
		}
		b.clock.move(40 * time.Millisecond)
		r := b.read(meter, "energy", "pointing")
		switch len(r.Values) {
		case 0:
			dark++
		case 2:
			if want := b.epoch.Add(time.Duration(i) * laserPulse); !r.At.Equal(want) {
				t.Fatalf("pulse %d is of %v, want %v", i, r.At, want)
			}
		default:
			t.Fatalf("energy and pointing are of one pulse, got %v", r.Values)
		}
	}
	want := laserNoLight * pulses
	if math.Abs(float64(dark)-want) > 5*math.Sqrt(want) {
		t.Errorf("%d of %d pulses without light, want about %v", dark, pulses, want)
	}
}

// TestLaserShotIsOfItsOwnTime: a pulse that is read after a move began was fired
// before it, and the mirrors' readback in the same answer is of the pulse too.
func TestLaserShotIsOfItsOwnTime(t *testing.T) {
	o := laserOptions()
	for i := range o.Sensors {
		o.Sensors[i].Device = "stage" // everything on one device
	}
	o.Noise = 0
	b := newBench(t, o)
	stage := b.device("stage")
	b.clock.move(1010 * time.Millisecond) // ten pulses, the last 10 ms ago
	before := b.Mean([]float64{0, 0, 12, 70})
	b.write(stage, map[string]float64{"mx": 2})
	b.clock.move(80 * time.Millisecond)
	r := b.read(stage, "energy", "mx")
	if r.Values["energy"] != before {
		t.Errorf("the pulse before the move reads %v, want %v", r.Values["energy"], before)
	}
	if got := r.At.Sub(b.epoch); got != time.Second {
		t.Errorf("it is dated %v, want 1s", got)
	}
	if math.Abs(r.Values["mx"]) > 0.002 {
		t.Errorf("its mirror stands at %v, want 0", r.Values["mx"])
	}
	b.clock.move(20 * time.Millisecond)
	r = b.read(stage, "energy", "mx")
	if r.Values["mx"] < 0.15 || r.Values["energy"] == before {
		t.Errorf("the pulse after it has mirror %v, energy %v", r.Values["mx"], r.Values["energy"])
	}
}

// TestLaserReleasedKnob: a mirror in the hands of the surroundings takes a new
// value each second, from its distribution.
func TestLaserReleasedKnob(t *testing.T) {
	o := laserOptions()
	o.Variables[0].OnRelease = "release"
	o.Variables[0].Random = Distribution{Kind: Uniform}
	b := newBench(t, o)
	stage := b.device("stage")
	b.write(stage, nil, "mx")
	const n = 4000
	values := make([]float64, n)
	for i := range values {
		values[i] = b.read(stage, "mx").Values["mx"]
		b.clock.move(500 * time.Millisecond)
		if again := b.read(stage, "mx").Values["mx"]; math.Abs(again-values[i]) > 0.003 {
			t.Fatalf("within a second the mirror went from %v to %v", values[i], again)
		}
		b.clock.move(500 * time.Millisecond)
	}
	compare(t, "released mirror", values, 0, 16.0/12) // uniform on [-2, 2]
	b.write(stage, map[string]float64{"mx": 1})
	b.clock.move(5 * time.Second)
	if got := b.read(stage, "mx").Values["mx"]; math.Abs(got-1) > 0.002 {
		t.Errorf("taken back, the mirror is at %v, want 1", got)
	}
}
