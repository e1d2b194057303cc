package safety

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Check refuses limits that Step could not keep.
func (l *Limits) Check() error {
	for _, c := range []struct {
		what   string
		n, max int
	}{{"variables", len(l.Variables), MaxVariables}, {"sensors", len(l.Sensors), MaxSensors},
		{"links", len(l.Links), MaxLinks}, {"responses", len(l.Responses), MaxResponses}, {"doses", len(l.Doses), MaxDoses}, {"duties", len(l.Duties), MaxDuties},
		{"interlocks", len(l.Interlocks), maxSubjects}, {"permissives", len(l.Permissives), maxSubjects}} {
		if c.n > c.max {
			return fmt.Errorf("%w: %d %s, at most %d", ErrLimits, c.n, c.what, c.max)
		}
	}
	if l.Tick <= 0 {
		return fmt.Errorf("%w: tick %v must be positive", ErrLimits, l.Tick)
	}
	for i := range l.Variables {
		if err := l.Variables[i].check(l.Tick); err != nil {
			return fmt.Errorf("%w: variable %d: %w", ErrLimits, i, err)
		}
	}
	return l.checkReferences()
}

func (v *VariableLimits) check(tick time.Duration) error {
	switch {
	case v.OnFault == RestNone:
		return nil
	case v.Dose:
		return v.checkDose()
	}
	switch {
	case !(finite(v.Low) && finite(v.High) && v.Low < v.High) || !finite(v.High-v.Low):
		return fmt.Errorf("hard bounds [%g, %g] must be finite and in order", v.Low, v.High)
	case !(v.Safe >= v.Low && v.Safe <= v.High):
		return fmt.Errorf("safe value %g lies outside [%g, %g]", v.Safe, v.Low, v.High)
	case !(v.SlewUp > 0 && v.SlewDown > 0) || math.IsInf(v.SlewUp, 0) || math.IsInf(v.SlewDown, 0):
		return fmt.Errorf("slew %g up and %g down must be positive", v.SlewUp, v.SlewDown)
	case v.Lease != 0 && v.Lease < 3*tick:
		return fmt.Errorf("lease %v is shorter than three ticks of %v", v.Lease, tick)
	case !(v.Tolerance >= 0) || !(v.Resolution >= 0):
		return fmt.Errorf("tolerance %g and resolution %g must not be negative", v.Tolerance, v.Resolution)
	}
	return nil
}

// checkReferences refuses an index of something that there is not.
func (l *Limits) checkReferences() error {
	sensor := func(what string, i int) error {
		if i < 0 || i >= len(l.Sensors) {
			return fmt.Errorf("%w: %s on sensor %d of %d", ErrLimits, what, i, len(l.Sensors))
		}
		return nil
	}
	var errs []error
	for _, c := range l.Interlocks {
		errs = append(errs, sensor("interlock", c.Sensor))
	}
	for _, c := range l.Permissives {
		errs = append(errs, sensor("permissive", c.Sensor))
	}
	for _, s := range l.Sensors {
		if s.Tolerance > 0 {
			errs = append(errs, sensor("agreement", s.With))
		}
	}
	variable := func(what string, i int) error {
		if i < 0 || i >= len(l.Variables) || l.Variables[i].OnFault == RestNone {
			return fmt.Errorf("%w: %s of variable %d, which is no actuator", ErrLimits, what, i)
		}
		return nil
	}
	for _, r := range l.Responses {
		errs = append(errs, variable("response", r.Variable))
		if r.Sensor >= 0 {
			errs = append(errs, sensor("response", r.Sensor))
		}
		if !finite(r.Moves) || r.Moves == 0 {
			errs = append(errs, fmt.Errorf("%w: response that moves by %g", ErrLimits, r.Moves))
		}
	}
	for _, d := range l.Duties {
		errs = append(errs, variable("duty", d.Variable))
		if !(d.Fraction > 0 && d.Fraction < 1) || d.Window < dutyParts*l.Tick {
			errs = append(errs, fmt.Errorf("%w: duty of %g within %v: a fraction of 1, and of %d ticks at least", ErrLimits, d.Fraction, d.Window, dutyParts))
		}
	}
	errs = append(errs, l.checkDoses(variable)...)
	for _, b := range l.Bypasses {
		if !b.Rule.bypassable() {
			errs = append(errs, fmt.Errorf("%w: rule %d cannot be bypassed", ErrLimits, b.Rule))
		}
	}
	return errors.Join(errs...)
}

// checkDose refuses what an amount cannot have.
func (v *VariableLimits) checkDose() error {
	switch {
	case v.Low != 0 || !finite(v.High) || !(v.High > 0):
		return fmt.Errorf("a dose lies in [0, high], got [%g, %g]", v.Low, v.High)
	case !(v.Resolution >= 0) || v.Resolution > v.High:
		return fmt.Errorf("a dose of at most %g cannot have the resolution %g", v.High, v.Resolution)
	case v.OnFault == RestSafe || v.Shutdown == RestSafe || v.OnStop == RestSafe:
		return fmt.Errorf("a dose has no safe value to go to: it is stopped, or left")
	case v.Lease != 0 || v.Tolerance != 0 || v.AboveTime != 0:
		return fmt.Errorf("a dose has no lease, no readback and no exposure")
	}
	return nil
}

// checkDoses refuses budgets that bound nothing, and doses without a budget.
func (l *Limits) checkDoses(variable func(string, int) error) (errs []error) {
	budgets := map[int]int{}
	for _, d := range l.Doses {
		errs = append(errs, variable("dose", d.Variable))
		if !(d.PerDose > 0) {
			errs = append(errs, fmt.Errorf("%w: dose of at most %g", ErrLimits, d.PerDose))
		}
		budgets[d.Variable]++
	}
	for i := range l.Variables {
		if n := budgets[i]; n > 1 || n == 0 && l.Variables[i].Dose {
			errs = append(errs, fmt.Errorf("%w: variable %d has %d budgets, need one", ErrLimits, i, n))
		}
	}
	return errs
}
