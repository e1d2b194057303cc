package trace

import (
	"testing"
	"time"

	"github.com/labtuner/tuner/safety"
)

// TestTicksLeaveNoGarbage: once its memory is taken, what the recorder does in a tick allocates nothing, and a piece little
// more than its packed bytes.
func TestTicksLeaveNoGarbage(t *testing.T) {
	limits := safety.Limits{Variables: []safety.VariableLimits{{OnFault: safety.RestHold}}, Sensors: []safety.SensorLimits{{Watched: true}}}
	r, v := NewRecorder(&limits), &Tick{}
	tick := func() {
		v.Now += 100 * time.Millisecond
		v.Out.Setpoint[0] += 0.25
		r.Heard(Reading{Sample: safety.Sample{Value: v.Out.Setpoint[0], At: v.Now}})
		r.Tick(v)
	}
	piece := func() {
		for range pieceTicks {
			tick()
		}
		if data, ticks, err := r.Cut(); err != nil || ticks != pieceTicks || len(data) == 0 {
			t.Fatal(len(data), ticks, err)
		}
	}
	piece()
	if n := testing.AllocsPerRun(pieceTicks/2, tick); n != 0 {
		t.Errorf("a tick allocates %g objects", n)
	}
	r.Cut()
	if n := testing.AllocsPerRun(5, piece); n > 20 {
		t.Errorf("a piece allocates %g objects", n)
	}
}
