package outcome

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/front"
	"github.com/labtuner/tuner/loop/plan"
)

// ownObjective names the objective of a shot among sensors.
const ownObjective = "objective"

// quantity finds a sensor, or the objective, by a person's word.
func quantity(o *plan.Options, word string) (q front.Quantity, err error) {
	name, way, said := strings.Cut(strings.TrimSpace(word), ":")
	names := []string{}
	for i := range o.Sensors {
		names = append(names, o.Sensors[i].Name)
	}
	q.Sensor = slices.Index(names, name)
	switch {
	case q.Sensor < 0 && name != ownObjective:
		return q, fmt.Errorf("there is no sensor %q; there are %s, and %s", name, strings.Join(names, ", "), ownObjective)
	case said && way != "max" && way != "min":
		return q, fmt.Errorf("%q of %s is to be max or min: which is better", way, name)
	case said:
		q.Maximize = way == "max"
	case q.Sensor < 0 || q.Sensor == o.Objective.Sensor:
		q.Maximize = !o.Objective.Minimize
	default:
		return q, fmt.Errorf("say which is better: %s:max or %s:min", name, name)
	}
	return q, nil
}
