package plan

import (
	"math"
	"slices"
)

// Played is the control set that a step of this mode plays: none where nothing is
// driven.
func (o *Options) Played(set int) int {
	if o.Mode == Shadow {
		return -1
	}
	return set
}

// PerShot says whether a step with these destinations leaves a variable random, so
// that each of its shots is a separate observation.
func (o *Options) PerShot(applied []float64) bool {
	return o.Mode == Shadow || slices.ContainsFunc(o.randomIn(applied), func(random bool) bool { return random })
}

// randomIn says of each variable whether a step with these destinations leaves it
// random.
func (o *Options) randomIn(applied []float64) []bool {
	random := make([]bool, len(o.Variables))
	for i := range random {
		v := &o.Variables[i]
		_, kept := v.Kept()
		driven := kept || !math.IsNaN(applied[i])
		random[i] = o.Mode == Shadow || !v.Actuated || !driven && v.OnRelease == Release
	}
	return random
}

// SetNames lists the variables of a control set.
func (o *Options) SetNames(set int) []string {
	names := []string{}
	if set >= 0 && set < len(o.ControlSets) {
		for _, i := range o.ControlSets[set].Variables {
			names = append(names, o.Variables[i].Name)
		}
	}
	return names
}
