package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"
)

// SafetyLimits gathers what the safety layer keeps to.
func SafetyLimits(o *Options, start time.Time) (safety.Limits, error) {
	s := &o.Safety
	l := s.Limits
	l.Tick, l.Links = o.Tick, make([]safety.LinkLimits, o.links())
	for i := range o.Variables {
		v := &o.Variables[i]
		limits := v.Limits
		limits.Stepped, limits.Tolerance, limits.Timeout = v.Stepped, v.Tolerance, cmp.Or(v.Timeout, MoveTimeout)
		limits.Dose = v.Dose
		if v.Actuated {
			limits.OnFault, limits.Shutdown, limits.OnStop = restOf[v.OnFault], restOf[v.Shutdown], restOf[v.OnStop()]
			limits.Lasts = true
			l.Links[v.Channel.Device].Watched = l.Links[v.Channel.Device].Watched || v.Tolerance > 0
		}
		l.Variables = append(l.Variables, limits)
	}
	for _, d := range s.Doses {
		if d.Variable >= 0 && d.Variable < len(o.Variables) && o.Variables[d.Variable].Actuated {
			l.Links[o.Variables[d.Variable].Channel.Device].Doses = true
		}
	}
	for i := range o.Sensors {
		v := &o.Sensors[i]
		limits := v.Limits
		// Three ticks at least: a reading that comes every tick may be late, or missing
		// once.
		limits.Low, limits.High, limits.MaxAge = v.Low, v.High, max(v.MaxAge, 3*o.Tick)
		limits.Watched = Watched(o, i)
		l.Sensors = append(l.Sensors, limits)
	}
	for _, b := range s.Bypasses {
		l.Bypasses = append(l.Bypasses, safety.Bypass{Rule: b.Rule, Until: min(b.Until.Sub(start), BypassMax)})
	}
	return l, l.Check()
}

// BypassMax bounds a bypass from the start of a process on. Not longer: a shift ends, and with it who knew why.
const BypassMax = 4 * time.Hour

// restOf turns the loop's words into the safety layer's.
var restOf = map[RestState]safety.Rest{RestHold: safety.RestHold, RestSafe: safety.RestSafe, RestOff: safety.RestOff}

// Inside refuses options in which decisions might ask of a variable what the limits do not
// allow.
func (o *Options) Inside(limits *safety.Limits) error {
	for i := range o.Variables {
		v, l := &o.Variables[i], &limits.Variables[i]
		if v.Actuated && (v.Low < l.Low || v.High > l.High) {
			return fmt.Errorf("the range [%g, %g] of %s reaches outside its hard limits, [%g, %g]: only the file changes those, and a running tuner only narrows them", v.Low, v.High, v.Name, l.Low, l.High)
		}
	}
	return nil
}

// Narrowed is what an event of kind journal.EventNarrowed has.
type Narrowed struct {
	// From is the first step whose decision goes by it.
	From int `json:"from"`
	// Ranges are what decisions may ask of each variable; Limits what the safety layer keeps to.
	Ranges [][2]float64  `json:"ranges"`
	Limits safety.Limits `json:"limits"`
}

// Facts is what the event has.
func (n Narrowed) Facts() (journal.Facts, error) {
	text, err := json.Marshal(n)
	return journal.Facts{Narrowed: text}, err
}

// Within clamps a destination to a range that was narrowed during the run.
func Within(v *safety.VariableLimits, to [2]float64) safety.VariableLimits {
	b := *v
	b.Low, b.High = math.Max(v.Low, to[0]), math.Min(v.High, to[1])
	return b
}
