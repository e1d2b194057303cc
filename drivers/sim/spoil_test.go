package sim

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// TestDeadActuator: the readback arrives, the light does not change.
func TestDeadActuator(t *testing.T) {
	o := laserOptions()
	o.Noise = 0
	b := newBench(t, o)
	b.clock.move(time.Second)
	read := func() (energy, mx float64) {
		t.Helper()
		b.clock.move(5 * time.Second)
		e, err := b.Device("meter").(*view).openAndRead("energy")
		if err != nil {
			t.Fatal(err)
		}
		x, err := b.Device("stage").(*actuatorView).openAndRead("mx")
		if err != nil {
			t.Fatal(err)
		}
		return e, x
	}
	before, _ := read()
	if err := b.Inject("dead:mx+1h"); err != nil {
		t.Fatal(err)
	}
	stage := b.Device("stage").(*actuatorView)
	if _, err := stage.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"mx": 2}}); err != nil {
		t.Fatal(err)
	}
	after, mx := read()
	if math.Abs(mx-2) > 0.01 || after != before {
		t.Errorf("the readback is %v, the energy %v after %v", mx, after, before)
	}
	b.clock.move(time.Hour)
	if moved, _ := read(); moved == before {
		t.Error("the fault is over, and the actuator still does nothing")
	}
}

// openAndRead reads one channel with a view of its own.
func (v *view) openAndRead(channel string) (float64, error) {
	if _, err := v.Open(context.Background()); err != nil {
		return math.NaN(), err
	}
	r, err := v.Read(context.Background(), []string{channel})
	if x, there := r.Values[channel]; there {
		return x, err
	}
	return math.NaN(), err
}

// TestPowerCycle: outputs fall back to where they are at power-on, and the link is
// gone for the while.
func TestPowerCycle(t *testing.T) {
	b := newBench(t, laserOptions())
	stage := b.Device("stage").(*actuatorView)
	if _, err := stage.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"mx": 1, "pump": 90}}); err != nil {
		t.Fatal(err)
	}
	b.clock.move(10 * time.Second)
	if err := b.Inject("power-cycle:stage+3s"); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.openAndRead("mx"); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("during the power cycle: %v", err)
	}
	if _, err := b.Device("meter").(*view).openAndRead("energy"); err != nil {
		t.Errorf("another device: %v", err)
	}
	b.clock.move(4 * time.Second)
	for channel, want := range map[string]float64{"mx": 0, "pump": 70} { // Start of laserOptions
		if got, err := stage.openAndRead(channel); err != nil || math.Abs(got-want) > 0.2 {
			t.Errorf("%s after the power cycle: %v, %v; want %v", channel, got, err, want)
		}
	}
}

func TestClockJump(t *testing.T) {
	b := newBench(t, laserOptions())
	b.clock.move(time.Second)
	meter := b.Device("meter")
	if _, err := meter.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := b.Inject("clock-jump:meter+10s"); err != nil {
		t.Fatal(err)
	}
	r, err := meter.Read(context.Background(), []string{"energy"})
	if err != nil || r.At.Sub(b.clock.Now()) < 59*time.Minute {
		t.Errorf("the reading is of %v, now is %v: %v", r.At, b.clock.Now(), err)
	}
}

// TestSpoiltWire: a served device spoils bytes, one within the process fails or is
// silent.
func TestSpoiltWire(t *testing.T) {
	b := newBench(t, laserOptions())
	b.clock.move(time.Second)
	served := b.Served("meter").(drivers.Corrupter)
	answers := [][]byte{[]byte(`{"id":3,"ok":true,"values":{"energy":-1.25e-3}}` + "\n"), []byte("E 4.75 mJ\r\n"), []byte("7\n"), []byte("OK\n")}
	for _, a := range answers {
		if got := served.Corrupt(a); !bytes.Equal(got, a) {
			t.Errorf("without a fault %q became %q", a, got)
		}
	}
	if err := b.Inject("nan:meter+1m"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"id":3,"ok":true,"values":{"energy":NaN}}` + "\n", "E NaN mJ\r\n", "NaN\n", "OK\n"} {
		if got := served.Corrupt(answers[i]); string(got) != want {
			t.Errorf("NaN: %q became %q, want %q", answers[i], got, want)
		}
	}
	if v, err := b.Device("meter").(*view).openAndRead("energy"); err != nil || !math.IsNaN(v) {
		t.Errorf("within the process: %v, %v; want no value", v, err)
	}
	b.clock.move(2 * time.Minute)
	if err := b.Inject("garbage:energy+1m"); err != nil {
		t.Fatal(err)
	}
	changed := 0
	for range 20 {
		got := served.Corrupt(answers[0])
		if len(got) != len(answers[0]) || got[len(got)-1] != '\n' {
			t.Errorf("garbage made %q", got)
		}
		if !bytes.Equal(got, answers[0]) {
			changed++
		}
	}
	if changed < 15 {
		t.Errorf("only %d of 20 answers were spoilt", changed)
	}
	if _, err := b.Device("meter").(*view).openAndRead("energy"); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "garbage") {
		t.Errorf("within the process: %v", err)
	}
	if v, err := b.Served("meter").(*servedView).openAndRead("energy"); err != nil || math.IsNaN(v) {
		t.Errorf("served: %v, %v; the values are sound, the wire is not", v, err)
	}
}

// TestSaturation: shots are cut off, and the moments are those of shots that are.
func TestSaturation(t *testing.T) {
	o := laserOptions()
	o.Saturation = 0.36 // a share of the peak's 0.4: within the noise of the bright region
	l := &laser{source: source{o.Seed}, dim: 4, noise: 1, saturation: o.Saturation, energy: interval{0, 20}, pointing: interval{-5, 5}}
	u := l.centre(0, 0)
	const n = 200000
	var sum, square, highest float64
	out := make([]float64, 2)
	for i := range uint64(n) {
		l.shot(out, u, 0, i)
		sum, square, highest = sum+out[0], square+out[0]*out[0], max(highest, out[0])
	}
	mean, variance := l.moments(0, u, 0)
	got, gotVariance := sum/n, square/n-sum/n*sum/n
	// Five standard errors of a mean, and of a variance with a kurtosis of at most 3.
	if tolerance := 5 * math.Sqrt(variance/n); math.Abs(got-mean) > tolerance {
		t.Errorf("the mean of %d shots is %v, moments says %v (tolerance %v)", n, got, mean, tolerance)
	}
	if tolerance := 5 * variance * math.Sqrt(2.0/n); math.Abs(gotVariance-variance) > tolerance {
		t.Errorf("their variance is %v, moments says %v (tolerance %v)", gotVariance, variance, tolerance)
	}
	if limit := o.Saturation * 20; highest > limit || highest < limit-1e-9 {
		t.Errorf("the highest shot has %v mJ, saturation is at %v", highest, limit)
	}
	o.Saturation = 1.5
	if _, err := New(o, drivers.Env{Clock: newClock()}); err == nil || !strings.Contains(err.Error(), "saturation is 1.5") {
		t.Errorf("saturation 1.5: %v", err)
	}
}
