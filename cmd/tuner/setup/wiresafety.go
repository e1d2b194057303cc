package setup

import (
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// wireSafety fills what the safety layer keeps to beside the limits of each variable.
func (m *optionsMaker) wireSafety() []configs.Problem {
	s, o := &m.cfg.Safety, m.opt
	o.Safety.StaleFalls, o.Safety.Explore = s.OnStale == "fallback", OrZero(s.Explore)
	o.Safety.Interlocks, o.Safety.Permissives = m.conditions(s.Interlocks), m.conditions(s.Permissives)
	o.Outages.Wait, o.Outages.MinFree = s.Outage == "wait", uint64(m.cfg.Journal.MinFree*1e6)
	for _, r := range s.Responses {
		sensor := -1
		if r.Sensor != "" {
			sensor = m.sensorIndex(r.Sensor)
		}
		o.Safety.Responses = append(o.Safety.Responses, safety.ResponseLimits{Variable: m.variableIndex(r.Variable),
			Sensor: sensor, Change: r.Change, Moves: r.Moves, Within: r.Within})
	}
	for _, d := range s.Doses {
		o.Safety.Doses = append(o.Safety.Doses, safety.DoseLimits{Variable: m.variableIndex(d.Variable), PerDose: d.PerDose,
			Hour: OrZero(d.Hour), Day: OrZero(d.Day), Run: OrZero(d.Run), Reservoir: OrZero(d.Reservoir), MinInterval: OrZero(d.MinInterval)})
	}
	for i := range o.Variables {
		if d := s.Variables[o.Variables[i].Name].Duty; d != nil {
			o.Safety.Duties = append(o.Safety.Duties, safety.DutyLimits{Variable: i, Above: d.Above, Fraction: d.Fraction, Window: d.Window})
		}
	}
	for _, b := range s.Bypasses {
		o.Safety.Bypasses = append(o.Safety.Bypasses, plan.Bypass{Rule: safety.Rule(b.Rule), Until: b.Until, Who: b.Who, Why: b.Why})
	}
	for i := range o.Sensors {
		m.sensorLimits(i)
	}
	return m.tooMany()
}

// sensorLimits fills how a sensor may behave in time.
func (m *optionsMaker) sensorLimits(i int) {
	limits, ok := m.cfg.Safety.Sensors[m.opt.Sensors[i].Name]
	if !ok {
		return
	}
	out := *m.limits.sensors[m.opt.Sensors[i].Name]
	if a := limits.Agree; a != nil {
		out.With, out.Tolerance, out.AgreeTime = m.sensorIndex(a.Sensor), a.Tolerance, a.Time
	}
	m.opt.Sensors[i].Limits = out
}

// tooMany refuses more of anything than the safety layer can keep in mind.
func (m *optionsMaker) tooMany() (problems []configs.Problem) {
	for _, c := range []struct {
		key    string
		n, max int
	}{
		{"variable", len(m.cfg.Variables), safety.MaxVariables}, {"sensor", len(m.cfg.Sensors), safety.MaxSensors},
		{"device", len(m.cfg.Devices), safety.MaxLinks}, {"safety.response", len(m.cfg.Safety.Responses), safety.MaxResponses},
		{"safety.dose", len(m.cfg.Safety.Doses), safety.MaxDoses}, {"safety.interlock", len(m.cfg.Safety.Interlocks), safety.MaxSensors}, {"safety.permissive", len(m.cfg.Safety.Permissives), safety.MaxSensors}, {"safety.variable", len(m.opt.Safety.Duties), safety.MaxDuties},
	} {
		if c.n > c.max {
			problems = append(problems, m.cfg.Problem(c.key, fmt.Sprintf("%d of them, and at most %d can be watched", c.n, c.max), "leave some out"))
		}
	}
	return problems
}

func (m *optionsMaker) conditions(list []configs.Interlock) (out []safety.Condition) {
	for _, c := range list {
		out = append(out, safety.Condition{Sensor: m.sensorIndex(c.Sensor), Low: c.Range.Lo, High: c.Range.Hi})
	}
	return out
}

// sensorIndex and variableIndex find what the configuration's own check has made
// sure is there.
func (m *optionsMaker) sensorIndex(name string) int {
	return slices.IndexFunc(m.cfg.Sensors, func(s configs.Sensor) bool { return s.Name == name })
}

func (m *optionsMaker) variableIndex(name string) int {
	return slices.IndexFunc(m.cfg.Variables, func(v configs.Variable) bool { return v.Name == name })
}

// safetyVariable fills the safety layer's limits of one actuator.
func safetyVariable(own *safety.VariableLimits, s configs.SafetyVariable, resolution float64) safety.VariableLimits {
	out := *own
	out.Low, out.High, out.Safe, out.Resolution, out.Lease = s.Hard.Lo, s.Hard.Hi, s.Safe, resolution, OrZero(s.Lease)
	out.SlewUp, out.SlewDown = s.Slews()
	if e := s.Exposure; e != nil {
		out.Above, out.AboveTime = e.Above, e.Time
	}
	return out
}

// BypassDoubts tells of bypasses that have ended, or that a run would refuse.
func (w *Setup) BypassDoubts(now time.Time) (out []configs.Problem) {
	for i, b := range w.Config.Safety.Bypasses {
		key := fmt.Sprintf("safety.bypass.%d.until", i+1)
		switch left := b.Until.Sub(now); {
		case left <= 0:
			out = append(out, w.Config.Problem(key, "has passed: the rule is active again", "remove the section"))
		case left > plan.BypassMax:
			out = append(out, w.Config.Problem(key, fmt.Sprintf("is more than %s away: tuner run refuses it", show.Duration(plan.BypassMax)), "write an end within that time, when the work begins"))
		}
	}
	return out
}
