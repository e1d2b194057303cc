package safety

import (
	"math"
	"testing"
	"time"
)

// feed passes values, one per 100 ms, through a sensor's rules.
func feed(l SensorLimits, values ...float64) (s SensorState, verdicts []Verdict) {
	for k, x := range values {
		var v Verdict
		s, v = l.Accept(s, Sample{Value: x, At: time.Duration(k) * tick, Known: true})
		verdicts = append(verdicts, v)
	}
	return s, verdicts
}

func TestOutOfRangeCounts(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Hour, Watched: true}}
	for _, bad := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		r := newRig(t, l, 5)
		r.read[0] = 0.5
		r.running()
		r.read[0] = bad
		r.ticks(2)
		r.want(Run) // two pass
		r.read[0] = 0.5
		r.tick(CommandNone)
		r.read[0] = bad
		r.ticks(2)
		r.want(Run) // the count began anew
		r.tick(CommandNone)
		r.want(Hold) // the third in a row
		r.wantFirstOut(RuleRange)
		if x := r.s.Sensor[0].Last.Value; x != 0.5 {
			t.Errorf("%v was believed", x)
		}
		r.read[0] = 0.5
		r.tick(CommandNone)
		r.want(Run)
	}
}

func TestSpikes(t *testing.T) {
	// One per second: 0.1 in a tick of 0.1 s; the median of five lags by three ticks
	// on a ramp, by one of which the ramp may lead.
	l := SensorLimits{Low: -100, High: 100, Rate: 1, MaxAge: time.Hour}
	ramp := make([]float64, 50)
	for k := range ramp {
		ramp[k] = 0.1 * float64(k) * 0.999 // just within the rate
	}
	if s, _ := feed(l, ramp...); s.spiked != 0 {
		t.Errorf("a ramp within the rate has spikes: %05b", s.spiked)
	}
	s, verdicts := feed(l, 0, 0, 0, 0, 0, 50, 0, 0, -50, 0)
	for k, v := range verdicts {
		want := Valid
		if k == 5 || k == 8 {
			want = Spike
		}
		if v != want {
			t.Errorf("reading %d: %v, want %v", k, v, want)
		}
	}
	if s.Last.Value != 0 || s.spikes() != 2 {
		t.Errorf("believed %v, %d spikes", s.Last.Value, s.spikes())
	}
	limits := oneVariable()
	limits.Sensors = []SensorLimits{l}
	r := newRig(t, limits, 5)
	r.read[0] = 0
	r.running()
	r.ticks(5)
	for n, x := range []float64{50, -50, 50} {
		r.want(Run)
		r.read[0] = x
		r.tick(CommandNone)
		if n < 2 {
			r.want(Run)
		}
	}
	r.want(Hold)
	r.wantFirstOut(RuleSpike)
	r.read[0] = 0
	r.ticks(5)
	r.want(Run)
}

func TestStuckSensor(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Hour, Stuck: 20}}
	r := newRig(t, l, 5)
	r.read[0] = 0.5
	r.running()
	r.ticks(100)
	r.want(Run) // nothing has moved: a still instrument gives still readings
	r.drive(6).ticks(2)
	r.want(Hold)
	r.wantFirstOut(RuleStuck)
	r.read[0] = math.Nextafter(0.5, 1) // one bit is enough
	r.tick(CommandNone)
	r.want(Run)
	for k := range 100 {
		r.read[0] = 0.5 + 1e-6*float64(k%7)
		r.drive(float64(k % 10)).tick(CommandNone)
		r.want(Run)
	}
}

func TestSensorsDisagree(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{
		{Low: 0, High: 10, MaxAge: time.Second, With: 1, Tolerance: 0.5, AgreeTime: 2 * time.Second},
		{Low: 0, High: 10, MaxAge: time.Second}}
	r := newRig(t, l, 5)
	r.read[0], r.read[1] = 5, 5.4
	r.running()
	r.pass(5 * time.Second)
	r.want(Run)
	r.read[1] = 5.6
	r.pass(2 * time.Second)
	r.want(Run)
	r.read[1] = 5.4
	r.tick(CommandNone)
	r.read[1] = 4.4
	r.pass(2 * time.Second)
	r.want(Run) // the time began anew
	r.ticks(2)
	r.want(Hold)
	r.wantFirstOut(RuleDisagree)
	r.read[1] = 5
	r.tick(CommandNone)
	r.want(Run)
}

func TestCommsLoss(t *testing.T) {
	l := oneVariable()
	l.Comms, l.HoldMax = 3*time.Second, time.Minute
	l.Links = []LinkLimits{{}, {Watched: true}}
	for _, doses := range []bool{false, true} {
		l.Links[1].Doses = doses
		r := newRig(t, l, 5)
		r.drive(5).running()
		r.silent = true
		r.pass(3 * time.Second)
		r.want(Run)
		r.ticks(2)
		if !doses {
			r.want(Hold)
			r.wantFirstOut(RuleComms)
			r.silent = false
			r.ticks(2)
			r.want(Run)
			continue
		}
		r.want(Fallback) // what doses does not wait
	}
}
