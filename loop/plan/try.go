package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/policy"
)

// TrySetting is a setting that a person has named: the values by variable, NaN where none is
// named, and the cheapest control set that holds all of those that are. Its error names each
// variable that cannot be set so, and why.
func (o *Options) TrySetting(named map[string]float64, inside func(i int) (low, high float64)) (x []float64, set int, err error) {
	x = policy.NaNs(len(o.Variables))
	var problems, names []string
	for i := range o.Variables {
		v := &o.Variables[i]
		names = append(names, v.Name)
		value, there := named[v.Name]
		if !there {
			continue
		}
		x[i] = value
		switch low, high := inside(i); {
		case !v.Actuated:
			problems = append(problems, fmt.Sprintf("%s is measured only", v.Name))
		case !(value >= low && value <= high):
			problems = append(problems, fmt.Sprintf("%s = %s is outside its range, %.10g to %s", v.Name, InUnit(value, v.Unit), low, InUnit(high, v.Unit)))
		case len(v.Levels) > 0 && !slices.Contains(v.Levels, value):
			problems = append(problems, fmt.Sprintf("%s = %s is none of its levels, %s", v.Name, InUnit(value, v.Unit), listed(v.Levels)))
		case v.Integer && value != math.Floor(value):
			problems = append(problems, fmt.Sprintf("%s = %s is no whole number", v.Name, InUnit(value, v.Unit)))
		}
	}
	for name := range named {
		if !slices.Contains(names, name) {
			problems = append(problems, fmt.Sprintf("there is no variable %q; there are %s", name, strings.Join(names, ", ")))
		}
	}
	slices.Sort(problems)
	if len(problems) > 0 {
		return nil, 0, fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	if set = o.cheapestWith(x); set < 0 {
		return nil, 0, fmt.Errorf("no control set holds %s together", strings.Join(namesOf(o, x), " and "))
	}
	return x, set, nil
}

// listed writes numbers one after the other.
func listed(x []float64) string {
	words := make([]string, len(x))
	for i, v := range x {
		words[i] = fmt.Sprintf("%.10g", v)
	}
	return strings.Join(words, ", ")
}

// Settable says that one control set holds every variable that x has a value of.
func (o *Options) Settable(x []float64) bool { return o.cheapestWith(x) >= 0 }

// cheapestWith is the cheapest control set that holds every variable that x has a value of,
// -1 where none does.
func (o *Options) cheapestWith(x []float64) int {
	best := -1
	for k, c := range o.ControlSets {
		if holdsAll(c.Variables, x) && (best < 0 || c.Cost < o.ControlSets[best].Cost) {
			best = k
		}
	}
	return best
}

func holdsAll(variables []int, x []float64) bool {
	for i := range x {
		if !math.IsNaN(x[i]) && !slices.Contains(variables, i) {
			return false
		}
	}
	return true
}

func namesOf(o *Options, x []float64) (names []string) {
	for i := range x {
		if !math.IsNaN(x[i]) {
			names = append(names, o.Variables[i].Name)
		}
	}
	return names
}

// CompleteTry gives the other variables of a control set the first value that one of rests
// knows, within the range, at the nearest level or whole number. It refuses a setting whose rest nobody knows.
func (o *Options) CompleteTry(x []float64, set int, inside func(i int) (low, high float64), rests ...func(i int) float64) error {
	for _, i := range o.ControlSets[set].Variables {
		for _, rest := range rests {
			if v := rest(i); math.IsNaN(x[i]) && !math.IsNaN(v) {
				low, high := inside(i)
				x[i] = o.Variables[i].allowed(min(max(v, low), high))
			}
		}
		if math.IsNaN(x[i]) {
			return fmt.Errorf("where %s stands is not known: name a value for it", o.Variables[i].Name)
		}
	}
	return nil
}

// allowed is the value nearest to v that may be asked for.
func (v *Variable) allowed(x float64) float64 {
	if v.Integer {
		x = math.Round(x)
	}
	if len(v.Levels) == 0 {
		return x
	}
	return slices.MinFunc(v.Levels, func(a, b float64) int { return cmp.Compare(math.Abs(a-x), math.Abs(b-x)) })
}

// Gives says that a setting gives an amount that nothing takes back.
func (o *Options) Gives(x []float64) bool {
	for i := range o.Variables {
		if o.Variables[i].Dose && i < len(x) && x[i] > 0 {
			return true
		}
	}
	return false
}

// Allowed is what may be asked of a variable: its range, within its hard limits.
func (o *Options) Allowed(i int) (low, high float64) {
	v := &o.Variables[i]
	if v.Dose || !v.Actuated {
		return v.Low, v.High
	}
	return max(v.Low, v.Limits.Low), min(v.High, v.Limits.High)
}

// SettingText is a setting for people: each value that is set, in its unit.
func (o *Options) SettingText(x []float64) string {
	var parts []string
	for i := range x {
		if !math.IsNaN(x[i]) {
			parts = append(parts, fmt.Sprintf("%s = %s", o.Variables[i].Name, InUnit(x[i], o.Variables[i].Unit)))
		}
	}
	return strings.Join(parts, ", ")
}
