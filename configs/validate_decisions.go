package configs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// objective checks [objective].
func (k *checker) objective() {
	o := &k.cfg.Objective
	either := []string{"objective.sensor", "objective.formula"}
	switch {
	case o.Sensor != "" && o.Formula != "":
		k.bad("objective.formula", "an objective is a sensor or a formula, not both", "remove one of them", either...)
	case o.Sensor == "" && o.Formula == "":
		k.bad("objective", "neither sensor nor formula says what is to be improved", "add sensor = NAME", append(either, "objective")...)
	case o.Sensor != "":
		k.refers("objective.sensor", "sensor", o.Sensor)
	default:
		k.formula("objective.formula", o.Formula, "write a formula over sensors, such as energy - 0.2*abs(pointing)")
	}
	if wait := k.cfg.shotTimeout(); o.Every > 0 && wait > 0 && o.Every >= wait {
		k.bad("objective.every", fmt.Sprintf("%s is no less than %s, the longest wait for a shot: every step would end without its second one", schema.FormatDuration(o.Every), schema.FormatDuration(wait)), "raise timeout in [objective]", "objective.timeout")
	}
	if !isStatistic(o.Statistic) {
		k.bad("objective.statistic", fmt.Sprintf(`must be "mean", "median", "trimmed" or a percentile "p1" to "p99", got %q`, o.Statistic), schema.DidYouMean(o.Statistic, []string{"mean", "median", "trimmed"}))
	}
}

// formula checks a formula over sensors.
func (k *checker) formula(at, formula, hint string) {
	names, err := formulaNames(formula)
	if err != nil {
		k.bad(at, "cannot be parsed: "+err.Error(), "")
		return
	}
	if len(names) == 0 {
		k.bad(at, "names no sensor", hint)
	}
	for _, name := range names {
		if !k.refers(at, "sensor", name) {
			return
		}
	}
}

// isStatistic knows what a step can make of its shots.
func isStatistic(word string) bool {
	switch word {
	case "mean", "median", "trimmed":
		return true
	}
	percent, found := strings.CutPrefix(word, "p")
	n, err := strconv.Atoi(percent)
	return found && err == nil && n >= 1 && n <= 99 && strconv.Itoa(n) == percent
}

// cost checks [cost].
func (k *checker) cost() {
	c := &k.cfg.Cost
	for _, name := range slices.Sorted(maps.Keys(c.PerMove)) {
		k.refers(schema.Join("cost.per_move", name), "variable", name)
	}
	if c.Formula != "" {
		k.settingCost()
	}
	if c.Reading != "" {
		k.readCost()
	}
	if c.Unit == "" && (k.costs() || k.cfg.Stop.Cost != nil) {
		k.bad("cost.unit", "missing unit: what costs are counted in", `such as unit = "EUR", "shots" or "min"`)
	}
}

// settingCost checks the formula for the cost of a setting: a step must know every
// variable in it beforehand.
func (k *checker) settingCost() {
	const at = "cost.formula"
	names := k.overVariables(at, k.cfg.Cost.Formula)
	for i, set := range k.cfg.Sets() {
		for _, name := range names {
			if slices.Contains(set.Variables, name) {
				continue
			}
			k.bad(at, fmt.Sprintf("names %s, which control set %d leaves random: what the step will cost is not known before it", name, i+1),
				"leave it out of the formula, or let every control set hold it", "variable", "control_set", schema.Item("control_set", i)+".variables")
			return
		}
	}
}

// readCost checks the formula for what a control set has cost.
func (k *checker) readCost() {
	const at = "cost.reading"
	reading := k.cfg.Cost.Reading
	k.formula(at, reading, "name the sensor that reads what a step has cost, or write a formula such as 0.3*energy")
	if s, alone := k.cfg.Sensor(strings.TrimSpace(reading)); alone && s.Unit != k.cfg.Cost.Unit && k.cfg.Cost.Unit != "" {
		k.bad(at, fmt.Sprintf("sensor %q reads %s, and costs are counted in %s", s.Name, s.Unit, k.cfg.Cost.Unit),
			fmt.Sprintf("write a formula that converts it, such as %q, or unit = %q", "0.3*"+s.Name, s.Unit), "cost.unit", "sensor")
	}
}

// constraints checks every [[constraint]].
func (k *checker) constraints() {
	first := map[string]int{}
	for i, c := range k.cfg.Constraints {
		at := schema.Item("constraint", i)
		k.sensorRange(at, c.Sensor, c.Range)
		if j, twice := first[c.Sensor]; twice {
			k.bad(at+".sensor", fmt.Sprintf("sensor %q is bounded already on line %d", c.Sensor, k.Loc.Line(schema.Item("constraint", j)+".sensor")), "write one range")
			continue
		}
		first[c.Sensor] = i
	}
}

// costs reports whether any step costs anything.
func (k *checker) costs() bool {
	c := &k.cfg.Cost
	if c.PerStep > 0 || c.PerShot > 0 || c.Formula != "" || c.Reading != "" || slices.ContainsFunc(k.cfg.ControlSets, func(s ControlSet) bool { return s.Cost > 0 }) {
		return true
	}
	for _, v := range c.PerMove {
		if v > 0 {
			return true
		}
	}
	return false
}

// minVerify is the least number of pairs for which the sign-flip test has 95 %
// confidence limits: five have 2^5 choices of signs, and one of them is more than 2.5 %.
const minVerify = 6

// stop checks that something ends the run.
func (k *checker) stop() {
	s := &k.cfg.Stop
	if s.Cost == nil && s.Steps == nil && s.Time == nil {
		k.bad("stop", "nothing would end the run", "add steps, cost or time", "stop.cost", "stop.steps", "stop.time")
	}
	if s.Verify != nil && *s.Verify > 0 && *s.Verify < minVerify {
		k.bad("stop.verify", fmt.Sprintf("%d pairs are too few: 95 %% confidence limits take %d at least", *s.Verify, minVerify), "write 8, or 0 for none")
	}
	if s.VerifyCost != nil && !k.costs() {
		k.bad("stop.verify_cost", "bounds nothing: no step costs anything", "leave it out")
	}
	if n := s.NoImprovement; n != nil {
		switch {
		case n.Steps == nil && n.Cost == nil:
			k.bad("stop.no_improvement", "says nothing: after how much without a better bound?", "add steps or cost, as in no_improvement = { steps = 30 }", "stop.no_improvement.steps", "stop.no_improvement.cost")
		case n.Cost != nil && !k.costs():
			k.bad("stop.no_improvement.cost", "would never be reached: no step costs anything", "write steps instead")
		}
	}
	if s.Cost != nil && !k.costs() {
		k.bad("stop.cost", "would never be reached: no step costs anything", "give control sets a cost, or add per_step or per_shot to [cost]", "cost", "cost.per_step", "cost.per_shot", "cost.per_move", "cost.formula", "control_set")
	}
}

// model checks [model].
func (k *checker) model() {
	if n := len(k.cfg.Policy.Priors); k.cfg.Model.Hyperparameters == "fixed" && n != 1 {
		k.bad("model.hyperparameters", fmt.Sprintf(`"fixed" takes the values of exactly one entry of policy.priors, got %d`, n), `add priors = [{ lengthscale = 0.3 }] to [policy]`, "policy.priors")
	}
	if k.cfg.Model.LengthscalePrior != "range" && k.cfg.Model.Hyperparameters == "fixed" && len(k.cfg.Constraints) == 0 {
		k.bad("model.lengthscale_prior", `has no effect with hyperparameters "fixed": every lengthscale is given`, `remove it, or write hyperparameters = "fit" or "priors"`, "model.hyperparameters")
	}
	if m := &k.cfg.Model; m.Lengthscales != "each" && len(k.cfg.Constraints) == 0 && (m.Hyperparameters != "priors" || len(k.cfg.Policy.Priors) > 0) {
		k.bad("model.lengthscales", "has no effect: no built-in set of priors competes", `remove it, or leave hyperparameters "priors" and remove policy.priors`, "model.hyperparameters", "policy.priors")
	}
}

// plant checks [plant].
func (k *checker) plant() {
	p := k.cfg.Plant
	if p == nil {
		return
	}
	if p.Kind == "table" && p.Data == "" {
		k.bad("plant.data", `missing: the table of kind "table"`, `such as data = "perovskite"`, "plant.kind")
	}
	if p.Kind != "table" && p.Data != "" {
		k.bad("plant.data", fmt.Sprintf("has no effect with kind %q", p.Kind), `remove it, or write kind = "table"`, "plant.kind")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Random)) {
		at := schema.Join("plant.random", name)
		w := p.Random[name]
		if k.refers(at, "variable", name) {
			k.whenRandom(&w, at)
		}
	}
}

// CandidatesTable is the word of [domain] candidates that means the rows of the
// plant's own table.
const CandidatesTable = "table"

// domain checks [domain].
func (k *checker) domain() {
	d := k.cfg.Domain
	if d == nil || d.Candidates != CandidatesTable {
		return
	}
	if k.cfg.Plant == nil || k.cfg.Plant.Kind != "table" {
		k.bad("domain.candidates", `"table" means the rows of a plant of kind "table", and there is none`, "name a CSV file headed by the variables' names; a file called table is written ./table", "plant", "plant.kind")
	}
}
