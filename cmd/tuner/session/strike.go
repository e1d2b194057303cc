package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// strike says which steps of the journal at path are struck, or count again.
func strike(path string, o *plan.Options, before plan.Changes, w loop.EditRequest) (c plan.Change, err error) {
	r, err := journal.OpenReader(path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	steps, struck := w.Edit.Steps, before.Struck()
	switch {
	case w.Edit.Saturated != "":
		i := slices.IndexFunc(o.Sensors, func(v plan.Sensor) bool { return v.Name == w.Edit.Saturated })
		if i < 0 {
			return c, fmt.Errorf("there is no sensor %q; there are %s", control.Clip(w.Edit.Saturated), strings.Join(sensorNames(o), ", "))
		}
		v := &o.Sensors[i]
		if c.Strike, err = saturated(r, struck, i, v); err == nil && len(c.Strike) == 0 {
			err = fmt.Errorf("no step that counts has %s at an end of its range, %s", v.Name, rangeText(configs.Range{Lo: v.Low, Hi: v.High}, v.Unit))
		}
		c.Words = fmt.Sprintf("struck, because %s was at an end of its range: %s", v.Name, stepsText(c.Strike))
		return c, err
	case w.Command == control.CommandUnstrike:
		c.Unstrike, c.Words = steps, "no longer struck: "+stepsText(steps)
	default:
		c.Strike, c.Words = steps, "struck: "+stepsText(steps)
	}
	return c, strikable(r, struck, steps, w.Command == control.CommandUnstrike)
}

// strikable refuses steps that cannot be struck or, to count again, are not.
func strikable(r *journal.Reader, struck map[int]plan.Change, steps []int, again bool) error {
	last := 0
	var problems []string
	refuse := func(n int, why string) { problems = append(problems, fmt.Sprintf("step %d %s", n, why)) }
	for s, err := range r.Steps() {
		if err != nil {
			return err
		}
		n := s.Decision.Step
		last = n
		if _, named := slices.BinarySearch(steps, n); !named {
			continue
		}
		switch by, is := struck[n]; {
		case again && !is:
			refuse(n, "is not struck")
		case again:
		case is:
			refuse(n, "is struck already, by "+by.By())
		case !s.Concluded:
			refuse(n, "is still under way: strike it when it is over")
		case s.Decision.Compared.Comparison > 0:
			refuse(n, "is one of the comparison with the starting setting, of which the model knows nothing")
		}
	}
	for _, n := range steps {
		if n > last {
			refuse(n, fmt.Sprintf("is not there: the last one is %d", last))
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// saturated lists the steps that count of which a shot has a sensor at an end of what is
// believed of it.
func saturated(r *journal.Reader, struck map[int]plan.Change, sensor int, v *plan.Sensor) (steps []int, err error) {
	for s, err := range r.Steps() {
		if err != nil {
			return nil, err
		}
		n := s.Decision.Step
		if _, is := struck[n]; is || !s.Concluded || s.Decision.Compared.Comparison > 0 {
			continue
		}
		shots, err := r.Shots(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(shots, func(x journal.Shot) bool { return x.Sensors[sensor] <= v.Low || x.Sensors[sensor] >= v.High }) {
			steps = append(steps, n)
		}
	}
	return steps, nil
}

func sensorNames(o *plan.Options) (names []string) {
	for _, v := range o.Sensors {
		names = append(names, v.Name)
	}
	return names
}

// stepsText lists steps, of very many the first.
func stepsText(steps []int) string {
	const most = 20
	var words []string
	for _, n := range steps[:min(most, len(steps))] {
		words = append(words, strconv.Itoa(n))
	}
	text := strings.Join(words, ", ")
	if len(steps) == 1 {
		return "step " + text
	}
	if more := len(steps) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "steps " + text
}
