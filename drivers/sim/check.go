package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxVariables bounds the number of variables: a policy takes no more.
const maxVariables = 200

// widestRatio bounds how many times apart the ends of a logarithmic scale are.
const widestRatio = 1e100

// check returns everything that is wrong with the options, one error a problem.
func (o *Options) check() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !(o.Noise >= 0) || math.IsInf(o.Noise, 1) {
		add("noise is %v; it scales a standard deviation, so give 0 or more", o.Noise)
	}
	if !(o.Drift >= 0) || math.IsInf(o.Drift, 1) {
		add("drift is %v; give 0 or more knob ranges per hour", o.Drift)
	}
	if !(o.Saturation >= 0 && o.Saturation <= 1) {
		add("saturation is %v; give a share of the sensor's range, above 0 and at most 1", o.Saturation)
	}
	if o.Batch < 0 {
		add("batch is %v; give a time, or 0 for the plant's own", o.Batch)
	}
	if o.Kind != "table" && o.Data != "" {
		add("plant %q takes no data, got %q; only plant \"table\" does", o.Kind, o.Data)
	}
	if n := len(o.Variables); n == 0 || n > maxVariables {
		add("the plant has %d variables; it takes one to %d", n, maxVariables)
	}
	if len(o.Sensors) == 0 {
		add("the plant has no sensor; it needs one for its objective")
	}
	for i := range o.Variables {
		if err := o.Variables[i].check(); err != nil {
			add("variable %q: %w", o.Variables[i].Name, err)
		}
	}
	for i := range o.Sensors {
		if err := o.Sensors[i].check(); err != nil {
			add("sensor %q: %w", o.Sensors[i].Name, err)
		}
	}
	if err := o.checkNames(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// checkNames reports two variables or two sensors that share a name or a channel.
func (o *Options) checkNames() error {
	names, places := map[string]bool{}, map[[2]string]string{}
	for _, v := range o.Variables {
		if names[v.Name] {
			return fmt.Errorf("two variables are called %q", v.Name)
		}
		names[v.Name] = true
		place := [2]string{v.Device, v.Channel}
		if other, taken := places[place]; taken {
			return fmt.Errorf("variables %q and %q are both channel %q of device %q", other, v.Name, v.Channel, v.Device)
		}
		places[place] = v.Name
	}
	names, places = map[string]bool{}, map[[2]string]string{}
	for _, s := range o.Sensors {
		if names[s.Name] {
			return fmt.Errorf("two sensors are called %q", s.Name)
		}
		names[s.Name] = true
		place := [2]string{s.Device, s.Channel}
		if other, taken := places[place]; taken {
			return fmt.Errorf("sensors %q and %q are both channel %q of device %q", other, s.Name, s.Channel, s.Device)
		}
		places[place] = s.Name
	}
	return nil
}

func (v *Variable) check() error {
	low, high := v.limits()
	switch {
	case v.Channel == "":
		return errors.New("it names no channel")
	case v.Dose && !(v.Low >= 0):
		return fmt.Errorf("it is a dose from %v on; a dose is not negative", v.Low)
	case !(v.Low < v.High) || math.IsInf(v.Low, 0) || math.IsInf(v.High, 0):
		return fmt.Errorf("its range [%v, %v] is empty or endless", v.Low, v.High)
	case !(low <= v.Low) || !(high >= v.High):
		return fmt.Errorf("its device limits [%v, %v] do not hold its range [%v, %v]", low, high, v.Low, v.High)
	case v.Log && !(v.Low > 0 && v.High/v.Low <= widestRatio):
		return fmt.Errorf("its scale is logarithmic and its range is [%v, %v]: it must be above 0, and its ends at most %g times apart", v.Low, v.High, widestRatio)
	case v.Start < low || v.Start > high:
		return fmt.Errorf("it starts at %v, outside its device limits [%v, %v]", v.Start, low, high)
	case v.Safe < low || v.Safe > high:
		return fmt.Errorf("its safe value %v is outside its device limits [%v, %v]", v.Safe, low, high)
	case !(v.Resolution >= 0) || math.IsInf(v.Resolution, 1):
		return fmt.Errorf("its resolution is %v; give 0 or more", v.Resolution)
	case v.Random.Kind > Normal:
		return fmt.Errorf("it has distribution number %d; take Held, Uniform or Normal", v.Random.Kind)
	case v.Random.Kind == Normal && (!(v.Random.SD > 0) || math.IsInf(v.Random.SD, 1) ||
		math.IsNaN(v.Random.Mean) || math.IsInf(v.Random.Mean, 0)):
		return fmt.Errorf("its normal distribution has mean %v and sd %v; give a number and a positive number",
			v.Random.Mean, v.Random.SD)
	case !slices.IsSorted(v.Levels) || slices.ContainsFunc(v.Levels, math.IsNaN):
		return fmt.Errorf("its levels %v do not grow", v.Levels)
	}
	if len(v.Levels) > 0 && (v.Levels[0] < v.Low || v.Levels[len(v.Levels)-1] > v.High) {
		return fmt.Errorf("its levels %v leave its range [%v, %v]", v.Levels, v.Low, v.High)
	}
	switch v.OnRelease {
	case "", "release", "park", "hold":
		return nil
	}
	return fmt.Errorf("on_release is %q; take one of %s", v.OnRelease, strings.Join([]string{"release", "park", "hold"}, ", "))
}

func (s *Sensor) check() error {
	if s.Channel == "" {
		return errors.New("it names no channel")
	}
	if s.Low > s.High {
		return fmt.Errorf("its range [%v, %v] is upside down", s.Low, s.High)
	}
	if k := s.Interlock; k != nil && !(k[0] <= k[1]) {
		return fmt.Errorf("its interlock [%v, %v] is upside down", k[0], k[1])
	}
	return nil
}

// limits returns the device's own limits.
func (v *Variable) limits() (low, high float64) {
	if v.Min == 0 && v.Max == 0 {
		span := v.High - v.Low
		if v.Log {
			return 0, v.High + 2*span
		}
		return v.Low - 2*span, v.High + 2*span
	}
	return v.Min, v.Max
}

// boot returns where the variable is when the plant is switched on, and whether
// it is released then.
func (v *Variable) boot() (value float64, released bool) {
	if v.Dose {
		return 0, false
	}
	if !math.IsNaN(v.Start) {
		return v.nearest(v.Start), !v.Actuated
	}
	return v.nearest(v.Low + (v.High-v.Low)/2), !v.Actuated || v.OnRelease == "release"
}

// safe returns what Halt drives to.
func (v *Variable) safe() float64 {
	if !math.IsNaN(v.Safe) {
		return v.nearest(v.Safe)
	}
	value, _ := v.boot()
	return value
}

// atRandom returns what the variable does when a control set leaves it random,
// on the unit cube.
func (v *Variable) atRandom() dist {
	span := v.High - v.Low
	if v.Dose {
		return dist{point: -v.Low / span}
	}
	if v.OnRelease == "park" {
		return dist{point: (v.safe() - v.Low) / span}
	}
	return v.released()
}

// released returns what the variable does when its device lets go, on the unit
// cube.
func (v *Variable) released() dist {
	span := v.High - v.Low
	if v.Random.Kind != Held && (v.OnRelease == "release" || !v.Actuated) {
		return dist{kind: v.Random.Kind, mean: (v.Random.Mean - v.Low) / span, sd: v.Random.SD / span}
	}
	start, _ := v.boot()
	return dist{point: (start - v.Low) / span}
}

// nearest returns the value that the device takes when it is asked for x: a
// level, a whole number, or a multiple of the resolution.
func (v *Variable) nearest(x float64) float64 {
	if len(v.Levels) > 0 {
		best := v.Levels[0]
		for _, level := range v.Levels {
			if math.Abs(level-x) < math.Abs(best-x) {
				best = level
			}
		}
		return best
	}
	if v.Integer {
		return math.Round(x)
	}
	if v.Resolution == 0 {
		return x
	}
	// Most resolutions are the inverse of a whole number; dividing by that gives
	// the decimal that a person would write.
	if inverse := math.Round(1 / v.Resolution); math.Abs(inverse*v.Resolution-1) < 1e-9 {
		return math.Round(x*inverse) / inverse
	}
	return math.Round(x/v.Resolution) * v.Resolution
}

// stepped reports whether the variable has no values between its levels.
func (v *Variable) stepped() bool { return v.Integer || len(v.Levels) > 0 }
