package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		k.formula(o.Formula)
	}
	if !isStatistic(o.Statistic) {
		k.bad("objective.statistic", fmt.Sprintf(`must be "mean", "median", "trimmed" or a percentile "p1" to "p99", got %q`, o.Statistic), didYouMean(o.Statistic, []string{"mean", "median", "trimmed"}))
	}
}

func (k *checker) formula(formula string) {
	const at = "objective.formula"
	names, err := formulaNames(formula)
	if err != nil {
		k.bad(at, "cannot be parsed: "+err.Error(), "")
		return
	}
	if len(names) == 0 {
		k.bad(at, "names no sensor", "write a formula over sensors, such as energy - 0.2*abs(pointing)")
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
	for _, name := range slices.Sorted(mapKeys(c.PerMove)) {
		k.refers(joinKey("cost.per_move", name), "variable", name)
	}
	if c.Unit == "" && (k.costs() || k.cfg.Stop.Cost != nil) {
		k.bad("cost.unit", "missing unit: what costs are counted in", `such as unit = "EUR", "shots" or "min"`)
	}
}

// costs reports whether any step costs anything.
func (k *checker) costs() bool {
	c := &k.cfg.Cost
	if c.PerStep > 0 || c.PerShot > 0 || slices.ContainsFunc(k.cfg.ControlSets, func(s ControlSet) bool { return s.Cost > 0 }) {
		return true
	}
	for _, v := range c.PerMove {
		if v > 0 {
			return true
		}
	}
	return false
}

// policy checks [policy].
func (k *checker) policy() {
	p, o := &k.cfg.Policy, &k.cfg.Objective
	risky := slices.Contains(riskPolicies, p.Kind)
	if risky && p.Risk == nil {
		k.bad("policy.risk", fmt.Sprintf("missing: %s weighs the variance of the objective with it", p.Kind), "risk is in 1/(the objective's unit); larger values prefer steadier settings", "policy.kind")
	}
	weighs := risky || p.Risk != nil && *p.Risk > 0
	if weighs && o.Statistic != "mean" {
		k.bad("objective.statistic", fmt.Sprintf("%q cannot be used where risk counts: its bounds hold for the mean", o.Statistic), `write statistic = "mean", or leave risk out`, "policy.kind", "policy.risk")
	}
	learns := slices.Contains(variancePolicies, p.Kind) || weighs && p.Kind != "rahbo-known-variance"
	if learns && o.Shots < 2 {
		k.bad("objective.shots", fmt.Sprintf("must be >= 2 for policy %s, got %d: one shot has no spread to learn from", p.Kind, o.Shots), "write shots = 2 or more", "policy.kind", "policy.risk")
	}
	switch {
	case p.Confidence == "constant" && p.Beta == nil:
		k.bad("policy.beta", `missing: confidence "constant" is this constant`, "beta = 2.0 is a common choice; it multiplies the standard deviation", "policy.confidence")
	case p.Confidence != "constant" && p.Beta != nil:
		k.bad("policy.beta", fmt.Sprintf("has no effect with confidence %q", p.Confidence), `remove it, or write confidence = "constant"`, "policy.confidence")
	}
	switch {
	case p.Schedule == "epsilon" && len(p.Epsilon) == 0:
		k.bad("policy.epsilon", `missing: schedule "epsilon" is this list`, "epsilon = [0.5, 0.2]; the last value holds", "policy.schedule")
	case p.Schedule != "epsilon" && p.Epsilon != nil:
		k.bad("policy.epsilon", fmt.Sprintf("has no effect with schedule %q", p.Schedule), `remove it, or write schedule = "epsilon"`, "policy.schedule")
	}
	if p.Kind == "costids" && p.Rho == nil {
		k.bad("policy.rho", "missing: costids needs it", "rho = 1 ignores costs; larger values may go further from the best information ratio for a cheaper step", "policy.kind")
	}
	for i, prior := range p.Priors {
		if n := len(prior.Lengthscale); n > 1 && n != len(k.cfg.Variables) {
			k.bad(itemKey("policy.priors", i)+".lengthscale", fmt.Sprintf("must hold one number, or one for each of the %d variables, got %d", len(k.cfg.Variables), n), "", "variable")
		}
	}
}

// stop checks that something ends the run.
func (k *checker) stop() {
	s := &k.cfg.Stop
	if s.Cost == nil && s.Steps == nil && s.Time == nil {
		k.bad("stop", "nothing would end the run", "add steps, cost or time", "stop.cost", "stop.steps", "stop.time")
	}
	if s.Cost != nil && !k.costs() {
		k.bad("stop.cost", "would never be reached: no step costs anything", "give control sets a cost, or add per_step or per_shot to [cost]", "cost", "cost.per_step", "cost.per_shot", "cost.per_move", "control_set")
	}
}

// model checks [model].
func (k *checker) model() {
	if n := len(k.cfg.Policy.Priors); k.cfg.Model.Hyperparameters == "fixed" && n != 1 {
		k.bad("model.hyperparameters", fmt.Sprintf(`"fixed" takes the values of exactly one entry of policy.priors, got %d`, n), `add priors = [{ lengthscale = 0.3 }] to [policy]`, "policy.priors")
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
	for _, name := range slices.Sorted(mapKeys(p.Random)) {
		at := joinKey("plant.random", name)
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
