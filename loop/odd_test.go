package loop

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// texts are all that a run has said.
func (tr *trial) texts() string {
	var b strings.Builder
	for _, e := range tr.events {
		fmt.Fprintln(&b, e.Message)
	}
	for _, o := range tr.outcomes {
		fmt.Fprintln(&b, o.Problem)
	}
	return b.String()
}

// TestOutsideOfRangeIsNoSilence: a sensor that reads what is not to be believed is not told as silent, in
// the log, in the reason of a step, of a hold, of an interlock, and in the status.
func TestOutsideOfRangeIsNoSilence(t *testing.T) {
	for name, c := range map[string]struct {
		value   float64
		prepare func(*trial, float64)
		want    []string
	}{
		"objective": {2000, func(tr *trial, v float64) {
			tr.rig.meter = func(map[string]float64) float64 { return v }
		}, []string{"sensor meter: it reads 2000 W, outside its range -1000 to 1000 W: no data", "no data: no value of meter within 5s; sensor meter: it reads 2000 W, outside its range -1000 to 1000 W"}},
		"number": {math.Inf(1), func(tr *trial, v float64) {
			tr.rig.meter = func(map[string]float64) float64 { return v }
		}, []string{"sensor meter: it reads +Inf, which is no number: no data"}},
		// Squares of it are infinite, and with them the variance of a step that has others too.
		"too large an objective": {450, func(tr *trial, v float64) {
			tr.rig.meter = func(map[string]float64) float64 { return v }
			tr.opt.Objective.Formula = func(sensors []float64) (float64, error) { return math.Pow(10, sensors[0]-300), nil }
		}, []string{"no data: no value of meter within 5s; meter is 1e+150, and only values from -1e+50 to 1e+50 can be learnt from"}},
		"watched": {-5, func(tr *trial, v float64) {
			tr.rig.aux = func() float64 { return v }
		}, []string{"sensor aux: it reads -5 K, outside its range 0 to 1000 K: no data", "held: range of aux (it must be within 0 to 1000 K, and it read -5 K)"}},
		"interlock": {1200, func(tr *trial, v float64) {
			tr.rig.aux = func() float64 { return v }
			tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 0, High: 400}}
		}, []string{"(it must be within 0 to 400 K, and it reads 1200 K, outside its range 0 to 1000 K)"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t)
			tr.policy.proposals = proposeAll(4, 5, 6)
			good, from := 300.0, rigStart.Add(5*time.Second)
			c.prepare(tr, c.value)
			meter, aux := tr.rig.meter, tr.rig.aux
			tr.rig.meter = func(at map[string]float64) float64 {
				if tr.clock.Now().Before(from) {
					return good
				}
				return meter(at)
			}
			if aux != nil {
				tr.rig.aux = func() float64 {
					if tr.clock.Now().Before(from) {
						return good
					}
					return aux()
				}
			}
			_, _ = tr.run(t, context.Background()) // how it ends is no matter
			for _, want := range c.want {
				if !strings.Contains(tr.texts(), want) {
					t.Errorf("nothing says %q in\n%s", want, tr.texts())
				}
			}
			if said := strings.Count(tr.texts(), ": no data\n"); said > 2 {
				t.Errorf("told %d times:\n%s", said, tr.texts())
			}
			if strings.Contains(tr.texts(), "silent") {
				t.Errorf("told as silent:\n%s", tr.texts())
			}
		})
	}
}

// TestTripOfAReadbackThatDoesNotCome: the trip says that there is no reading, not that the actuator stands
// somewhere else.
func TestTripOfAReadbackThatDoesNotCome(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(4, 5, 6)
	dev := &mumbling{rig: tr.rig}
	tr.deps.Devices = []Device{{Name: "rig", Device: dev}}
	_, err := tr.run(t, context.Background())
	if err == nil || !strings.Contains(err.Error(), "readback of a (there has been no reading of it for ") || !strings.Contains(err.Error(), ": the line is cut; it was sent to ") {
		t.Errorf("the trip says %v", err)
	}
}

// mumbling is a rig whose knob has no readback any more once it was written to twice.
type mumbling struct {
	*rig
	writes int
}

func (m *mumbling) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	m.writes++
	r, err := m.rig.Write(ctx, s)
	r.Values = nil
	return r, err
}

func (m *mumbling) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	r, err := m.rig.Read(ctx, channels)
	if _, there := r.Values["a"]; there && m.writes > 1 {
		delete(r.Values, "a")
		r.Missing = map[string]error{"a": fmt.Errorf("the line is cut")}
	}
	return r, err
}

// TestOddWords: what was read before what is believed, or too long ago, is no news.
func TestOddWords(t *testing.T) {
	s := plan.Sensor{Name: "s", Unit: "V", Low: 0, High: 1, MaxAge: time.Second}
	at := func(v float64, ago time.Duration) plan.Reading {
		return plan.Reading{Value: v, At: rigStart.Add(-ago), Known: true}
	}
	for want, odd := range map[string]plan.Reading{
		"": at(2, 600*time.Millisecond),
		"it reads 2 V, outside its range 0 to 1 V":                        at(2, 100*time.Millisecond),
		"it reads NaN, which is no number":                                at(math.NaN(), 100*time.Millisecond),
		"it reads 0.5 V, too far from what it read before to be believed": at(0.5, 0),
	} {
		if got := s.OddWords(at(0.9, 500*time.Millisecond), odd, rigStart); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := s.OddWords(plan.Reading{}, at(2, 2*time.Second), rigStart); got != "" {
		t.Errorf("two seconds ago: %q", got)
	}
}
