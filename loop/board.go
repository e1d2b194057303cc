package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/safety"
)

// entry is the latest believed value of one channel.
type entry struct {
	value float64
	at    time.Time
	known bool
}

// fresh reports whether the value may stand in for time t.
func (e entry) fresh(t time.Time, maxAge time.Duration) bool {
	return e.known && t.Sub(e.at) <= maxAge
}

// board holds the latest value of every channel that the run uses.
type board struct {
	// sensors and variables have one entry each, in the order of Options.
	sensors, variables []entry
	// oddSensors and oddVariables are the last values that were not believed.
	oddSensors, oddVariables []entry
	// why says what came in place of a value last, by device and channel; a value takes it
	// out.
	why map[plan.Channel]error
	// low and high bound what is believed of each variable: what its device says it
	// can have, and a tenth of that range more, because a readback has noise.
	low, high []float64
}

func newBoard(o *plan.Options) board {
	n := len(o.Variables)
	b := board{why: map[plan.Channel]error{}, sensors: make([]entry, len(o.Sensors)), variables: make([]entry, n),
		oddSensors: make([]entry, len(o.Sensors)), oddVariables: make([]entry, n), low: make([]float64, n), high: make([]float64, n)}
	for i := range n {
		b.low[i], b.high[i] = math.Inf(-1), math.Inf(1)
	}
	return b
}

// believe sets what is believed of variable i from what its device declares.
func (b *board) believe(i int, c drivers.Channel) {
	if margin := 0.1 * (c.Max - c.Min); !math.IsNaN(margin) {
		b.low[i], b.high[i] = c.Min-margin, c.Max+margin
	}
}

// takeReading stores the values of a reading that the run uses and reports which
// sensors it renewed. What the safety layer does not believe is no data.
func (l *Loop) takeReading(device int, r drivers.Reading) (renewed []int) {
	b := &l.board
	for name := range r.Values {
		delete(b.why, plan.Channel{Device: device, Name: name})
	}
	for i, s := range l.opt.Sensors {
		v, ok := r.Values[s.Channel.Name]
		if s.Channel.Device != device || !ok {
			continue
		}
		var verdict safety.Verdict
		state := &l.safety.Sensor[i]
		sample := safety.Sample{Value: v, At: l.safeTime(r.At), Known: true}
		*state, verdict = l.limits.Sensors[i].Take(*state, sample)
		l.trace.Heard(trace.Reading{Sensor: i, Sample: sample, Verdict: verdict})
		if verdict == safety.Believed {
			b.sensors[i] = entry{v, r.At, true}
			renewed = append(renewed, i)
		} else {
			b.oddSensors[i] = entry{v, r.At, true}
		}
	}
	for i, x := range l.opt.Variables {
		v, ok := r.Values[x.Channel.Name]
		switch {
		case !ok || x.Channel.Device != device || x.Dose:
		case v >= b.low[i] && v <= b.high[i] && isFinite(v):
			b.variables[i] = entry{v, r.At, true}
		default:
			b.oddVariables[i] = entry{v, r.At, true}
		}
	}
	l.seen(l.links[device])
	return renewed
}

// answerWords says what a channel gave in place of a value, "" where it says nothing.
func (l *Loop) answerWords(c plan.Channel) string {
	if err := l.board.why[c]; err != nil {
		return ": " + err.Error()
	}
	return ""
}

// handleReading takes in what a device said. asked is when the question was put:
// a shot counts only if both question and answer lie after the settling. A time that
// the device does not tell, or that has not come yet, is now: what is here was taken
// by now, and a clock that is ahead must not make a value fresh for longer.
func (l *Loop) handleReading(k *link, r drivers.Reading, asked time.Time) {
	for name, err := range r.Missing {
		l.board.why[plan.Channel{Device: k.lane - laneDevice, Name: name}] = err
	}
	if len(r.Values) == 0 {
		return
	}
	now := l.now()
	if r.At.IsZero() || r.At.After(now) {
		r.At = now
	}
	if asked.After(now) {
		asked = now
	}
	renewed := l.takeReading(k.lane-laneDevice, r)
	l.hearSpell(renewed)
	if l.phase == measuring && !l.held {
		l.offerShot(renewed, r.At, asked)
	}
}
