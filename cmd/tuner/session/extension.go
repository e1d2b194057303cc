package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/replay"
)

// extension says in words why a finished run may go on, "" where the run is not finished and
// goes on anyway. Where nothing of [stop] leaves it a step to make, that is an error which names
// the key, and nothing is changed.
func (s *session) extension() (words string, err error) {
	r, err := journal.OpenReader(s.Path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	ended, finished, err := r.Result()
	if err != nil || !finished {
		return "", err
	}
	if err := s.fits(r.Run()); err != nil {
		return "", err
	}
	past, err := replay.Recall(&s.Setup.Options, r)
	if err != nil {
		return "", err
	}
	last, err := newest(r)
	if err != nil {
		return "", err
	}
	before := map[string]string{}
	for _, k := range last.Effective {
		before[k.Key] = k.Value
	}
	for key, value := range past.Changes.Settings() {
		before[key] = value
	}
	s.overruled(last, &past)
	now, err := s.base.Anew(s.Env, past.Changes)
	if err != nil {
		return "", plainly(err)
	}
	g := growth{before: before, now: now, ended: ended, past: &past}
	if key, what := g.lacks(); key != "" {
		return "", configs.NewError(s.base.Config.Problem(key, what, "let the key say more, or leave it out where another condition ends the run; then tuner run --extend again"))
	}
	return fmt.Sprintf("goes on after its end (%s): %s", control.Endings()[ended.Reason], cmp.Or(strings.Join(g.grown(), ", "), "[stop] leaves it more to do")), nil
}

// growth compares what ended a run with what ends it now.
type growth struct {
	// before has the effective keys by which it was ended.
	before map[string]string
	now    *setup.Setup
	ended  journal.Result
	past   *replay.Past
}

// stopKeys are the keys that hold a stop condition, by the reason of a run's end.
var stopKeys = map[string][]string{
	plan.StopSteps: {"stop.steps"}, plan.StopCost: {"stop.cost"}, plan.StopTime: {"stop.time"}, plan.StopTarget: {"stop.target"},
	plan.StopNoImprovement: {"stop.no_improvement.steps", "stop.no_improvement.cost", "stop.no_improvement.by"},
}

// lacks names the key that leaves the run no step to make, and says why; "" where it has one.
func (g *growth) lacks() (key, what string) {
	reason := g.now.Options.StopReason(g.far())
	if reason == "" && g.ended.Reason == plan.StopCost && !g.costGrew() { // what is left does not pay for a step
		reason = plan.StopCost
	}
	if reason == "" {
		return "", ""
	}
	key, was, is := g.bound(reason)
	if was == is {
		what = fmt.Sprintf("has not grown: it was %s when the run ended (%s), and is %s", was, control.Endings()[g.ended.Reason], is)
	} else {
		what = fmt.Sprintf("has not grown enough: it was %s and is %s, and %s", was, is, g.came(reason))
	}
	return key, what
}

// bound is the key of a reason that bounds the run now, with what it was and is.
func (g *growth) bound(reason string) (key, was, is string) {
	for _, key = range stopKeys[reason] {
		if is = g.now.Config.ValueOf(key); is != "" {
			break
		}
	}
	return key, cmp.Or(g.before[key], "left out"), is
}

// came says how far the run has come.
func (g *growth) came(reason string) string {
	f, o := g.far(), &g.now.Options
	switch reason {
	case plan.StopSteps:
		return fmt.Sprintf("%s are done", show.Count(f.Steps, "step"))
	case plan.StopCost:
		return o.Sum(f.Spent.Float()) + " are spent"
	case plan.StopTime:
		return fmt.Sprintf("it has run for %s", show.Duration(f.Ran.Round(time.Second)))
	case plan.StopTarget:
		return fmt.Sprintf("the bound of the recommended setting is %s", plan.InUnit(f.Bound, o.Objective.Unit))
	}
	return fmt.Sprintf("no better bound has come in all of the last %s", show.Count(f.Steps-f.Marked.Steps(), "step"))
}

// far is how far the run has come.
func (g *growth) far() plan.Far {
	f := plan.Far{Ran: max(g.past.Elapsed, g.timeOver()), Steps: g.past.Searched, Marked: plan.MarkedAt(g.past.Mark)}
	for _, c := range g.past.Charges {
		f.Spent = f.Spent.Plus(c.Cost)
	}
	var found control.Result
	if json.Unmarshal(g.ended.Document, &found) == nil && len(found.Recommended) > 0 {
		f.Bound, f.Bounded = float64(found.LowerBound), found.Constraints == nil || found.Constraints.Feasible
	}
	return f
}

// timeOver is the time that was over, 0 where another condition has ended the run: the record of
// its last step is older.
func (g *growth) timeOver() time.Duration {
	if g.ended.Reason != plan.StopTime {
		return 0
	}
	text, err := strconv.Unquote(g.before["stop.time"])
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// costGrew reports whether the budget is larger than it was, or there is none any more.
func (g *growth) costGrew() bool {
	was, err := strconv.ParseFloat(g.before["stop.cost"], 64)
	return g.now.Options.Stop.Cost == 0 || err == nil && g.now.Options.Stop.Cost > was
}

// grown lists the stop conditions that are others than they were.
func (g *growth) grown() (words []string) {
	for _, reason := range []string{plan.StopSteps, plan.StopCost, plan.StopTime, plan.StopTarget, plan.StopNoImprovement} {
		for _, key := range stopKeys[reason] {
			if was, is := g.before[key], g.now.Config.ValueOf(key); was != is {
				words = append(words, fmt.Sprintf("%s = %s (was %s)", key, cmp.Or(is, "left out"), cmp.Or(was, "left out")))
			}
		}
	}
	return words
}
