package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// policy checks [policy]: that the words go together, and that each has what it
// needs and nothing that it would not act on.
func (k *checker) policy() {
	p := &k.cfg.Policy
	own, named := p.known.Of(p.Kind), k.cfg.policyParts()
	k.risk(named)
	k.knownNoise(own)
	k.confidence(own, named)
	k.confidenceForm(named)
	k.schedule(own, named)
	k.undivided(own)
	k.perCost(own, named)
	k.rho(named)
	k.fidelity(named)
	k.priors(own)
	k.drift(named)
	if p.Acquisition != "" && own.Acquisition == acquireNone {
		k.bad("policy.acquisition", fmt.Sprintf("has no effect with kind %q, whose settings come from a design", p.Kind), "remove it, or choose another kind", "policy.kind")
	}
}

// risk checks what makes the variance of the objective count.
func (k *checker) risk(named Parts) {
	p, o := &k.cfg.Policy, &k.cfg.Objective
	if named.Risky && p.Risk == nil {
		k.bad("policy.risk", fmt.Sprintf("missing: %s weighs the variance of the objective with it", p.Kind), "risk is in 1/(the objective's unit); larger values prefer steadier settings", "policy.kind")
	}
	weighs := named.Risky || p.Risk != nil && *p.Risk > 0
	if weighs && o.Statistic != "mean" {
		k.bad("objective.statistic", fmt.Sprintf("%q cannot be used where risk counts: its bounds hold for the mean", o.Statistic), `write statistic = "mean", or leave risk out`, "policy.kind", "policy.risk")
	}
	learns := named.Noise == NoiseLearnt || weighs && named.Noise != NoiseKnown
	if learns && o.Shots < 2 && !(weighs && (len(k.cfg.ControlSets) > 1 || k.leavesRandom())) { // which teach by the errors of single shots
		k.bad("objective.shots", fmt.Sprintf("must be >= 2 for policy %s, got %d: one shot has no spread to learn from", p.Kind, o.Shots), "write shots = 2 or more", "policy.kind", "policy.risk")
	}
	if own := p.known.Of(p.Kind); own.Noise != NoiseConstant && !own.Subsets {
		k.holdsAll()
	}
	if k.given("policy.random_draws") {
		k.randomDraws()
	}
}

// randomDraws refuses to be told how random variables vary where nothing asks.
func (k *checker) randomDraws() {
	switch p := &k.cfg.Policy; {
	case p.Risk == nil || *p.Risk == 0:
		k.bad("policy.random_draws", "has no effect without risk, which is what it counts for", "remove it, or write risk", "policy.risk")
	case !k.told("variable") && !k.told("control_set") && !k.leavesRandom():
		k.bad("policy.random_draws", "has no effect where every control set holds every variable", "remove it, or add a control set that leaves a variable random", "control_set")
	}
}

// leavesRandom reports whether a control set leaves a variable random.
func (k *checker) leavesRandom() bool {
	return slices.ContainsFunc(k.cfg.Sets(), func(set ControlSet) bool { return k.leftRandom(set) != "" })
}

// holdsAll refuses control sets that leave variables random, for policies whose noise
// depends on the setting of all. It is silent where sets or variables are wrong in
// themselves.
func (k *checker) holdsAll() {
	if k.told("variable") || k.told("control_set") {
		return
	}
	for i, set := range k.cfg.Sets() {
		left := k.leftRandom(set)
		if left == "" {
			continue
		}
		at := "policy.kind"
		if len(k.cfg.ControlSets) > 0 {
			at = schema.Item("control_set", i) + ".variables"
		}
		k.bad(at, fmt.Sprintf("%s knows the noise of a setting of all variables, and a step leaves %s random", k.cfg.Policy.Kind, left),
			`hold every variable in every control set, or write kind = "rahbo" or "ucb-cvs"`, "policy.kind", "variable", "control_set")
	}
}

// told reports whether a problem of a section is in the list already.
func (k *checker) told(section string) bool {
	return slices.ContainsFunc(k.Problems, func(p Problem) bool {
		return p.Key == section || strings.HasPrefix(p.Key, section+".")
	})
}

// leftRandom names a variable that a control set does not hold, "" where it holds
// all.
func (k *checker) leftRandom(set ControlSet) string {
	for _, v := range k.cfg.Variables {
		if !slices.Contains(set.Variables, v.Name) {
			return v.Name
		}
	}
	return ""
}

// knownNoise checks policy.noise_sd.
func (k *checker) knownNoise(own Parts) {
	p := &k.cfg.Policy
	const at = "policy.noise_sd"
	switch {
	case own.Noise == NoiseKnown && p.NoiseSD == "":
		k.bad(at, fmt.Sprintf("missing: %s knows the standard deviation of one shot at every setting", p.Kind), `such as noise_sd = "0.1 + 0.3*x^2", a formula over variables; where it is not known, write kind = "rahbo"`, "policy.kind")
	case p.NoiseSD != "":
		k.overVariables(at, p.NoiseSD)
	}
	if k.given("policy.explore_steps") && p.Kind != "rahbo-us" {
		k.bad("policy.explore_steps", fmt.Sprintf("has no effect with kind %q, which explores no noise", p.Kind), `remove it, or write kind = "rahbo-us"`, "policy.kind")
	}
}

// overVariables checks that a formula names variables, and returns them.
func (k *checker) overVariables(at, formula string) []string {
	names, err := formulaNames(formula)
	if err != nil {
		k.bad(at, "cannot be parsed: "+err.Error(), "")
		return nil
	}
	for _, name := range names {
		if !k.refers(at, "variable", name) {
			return nil
		}
	}
	return names
}

// confidence checks the confidence parameter.
func (k *checker) confidence(own, named Parts) {
	p := &k.cfg.Policy
	switch {
	case p.Confidence != "" && own.Confidence != "" && own.Confidence != p.Confidence:
		k.bad("policy.confidence", fmt.Sprintf("%q contradicts kind %q, which is confidence %q", p.Confidence, p.Kind, own.Confidence), `remove it, or write kind = "gp-ucb"`, "policy.kind")
	case p.Confidence != "" && !p.bounded(named):
		k.bad("policy.confidence", p.noEffect(Parts{Acquisition: named.Acquisition}), `remove it, or write acquisition = "ucb"`, "policy.kind", "policy.acquisition")
	}
	switch {
	case p.Confidence == "constant" && !k.given("policy.beta") && p.bounded(named):
		k.bad("policy.beta", `missing: confidence "constant" is this constant`, "beta = 2.0 is a common choice; it multiplies the standard deviation", "policy.confidence")
	case named.Confidence == "" && k.given("policy.beta"):
		k.bad("policy.beta", p.noEffect(named), "remove it", "policy.confidence", "policy.kind", "policy.acquisition")
	case named.Confidence != "constant" && k.given("policy.beta"):
		k.bad("policy.beta", p.noEffect(named), `remove it, or write confidence = "constant"`, "policy.confidence")
	}
	theory := named.Confidence == "srinivas" && p.ConfidenceSetting != "expected" || named.Confidence == "data" || named.PriorRule == priorsElimination || p.ConfidenceSetting == "high-probability"
	if k.given("policy.delta") && !theory {
		k.bad("policy.delta", p.noEffect(named)+", where no prior is eliminated", `remove it; it belongs to confidence "srinivas" and "data" and to prior_rule "elimination"`, "policy.confidence", "policy.kind", "policy.prior_rule")
	}
}

// noEffect says that a key has none with the confidence parameter in force, or that there is no such parameter.
func (p *Policy) noEffect(named Parts) string {
	if named.Confidence == "" {
		return fmt.Sprintf("has no effect: acquisition %q of kind %q has no confidence parameter", named.Acquisition, p.Kind)
	}
	return fmt.Sprintf("has no effect with confidence %q", named.Confidence)
}

// confidenceForm checks which form of a confidence parameter is asked for.
func (k *checker) confidenceForm(named Parts) {
	p := &k.cfg.Policy
	forms := map[string][]string{"irgp": {"finite", "continuous", "theory", "wide", "high-probability"}, "rgp": {"finite", "continuous"}, "srinivas": {"finite", "continuous", "all-priors", "expected"}}[named.Confidence]
	switch {
	case p.ConfidenceSetting == "":
	case len(forms) == 0:
		k.bad("policy.confidence_setting", p.noEffect(named), `remove it; it belongs to confidence "irgp", "rgp" and "srinivas"`, "policy.confidence", "policy.kind", "policy.acquisition")
	case !slices.Contains(forms, p.ConfidenceSetting):
		k.bad("policy.confidence_setting", fmt.Sprintf("confidence %q has no form %q", named.Confidence, p.ConfidenceSetting), "it has "+strings.Join(forms, " and "), "policy.confidence", "policy.kind")
	}
	if k.given("policy.norm_bound") && named.Confidence != "data" {
		k.bad("policy.norm_bound", p.noEffect(named), `remove it, or write confidence = "data"`, "policy.confidence", "policy.kind", "policy.acquisition")
	}
}

// schedule checks how control sets get their turn.
func (k *checker) schedule(own, named Parts) {
	p := &k.cfg.Policy
	one := len(k.cfg.ControlSets) < 2
	switch {
	case p.Schedule != "" && own.Schedule != "" && p.Schedule != own.Schedule:
		k.bad("policy.schedule", fmt.Sprintf("%q contradicts kind %q, which is schedule %q", p.Schedule, p.Kind, own.Schedule), `remove it, or write kind = "ucb-cvs"`, "policy.kind")
	case own.Schedule != "" && one:
		k.bad("policy.kind", fmt.Sprintf("%q chooses among control sets, and there is one", p.Kind), `write several [[control_set]], or kind = "gp-ucb"`, "control_set")
	case p.Schedule != "" && p.Schedule != scheduleNone && one:
		k.bad("policy.schedule", fmt.Sprintf("%q chooses among control sets, and there is one", p.Schedule), "write several [[control_set]], or remove it", "control_set")
	}
	switch {
	case p.Schedule == scheduleEpsilon && len(p.Epsilon) == 0:
		k.bad("policy.epsilon", `missing: schedule "epsilon" is this list`, "epsilon = [0.5, 0.2]; the last value holds", "policy.schedule")
	case p.Schedule != scheduleEpsilon && p.Epsilon != nil:
		k.bad("policy.epsilon", fmt.Sprintf("has no effect with schedule %q", named.Schedule), `remove it, or write schedule = "epsilon"`, "policy.schedule", "policy.kind")
	}
}

// undivided checks keys that act where one control set holds all variables, nothing drifts and no constraint is learnt.
func (k *checker) undivided(own Parts) {
	for _, key := range []string{"policy.region", "policy.stalled", "policy.recommended"} {
		without := func(why string, others ...string) { k.bad(key, "has no effect "+why, "remove it", others...) }
		switch {
		case !k.given(key):
		case own.Acquisition == acquireNone:
			without(fmt.Sprintf("with kind %q, whose settings come from a design", k.cfg.Policy.Kind), "policy.kind")
		case k.cfg.Policy.Drift != nil:
			without("under drift: what was measured elsewhere and before counts less and less", "policy.drift")
		case len(k.cfg.Constraints) > 0:
			without("beside constraints, which settings that were not measured may break", "constraint")
		case len(k.cfg.ControlSets) > 1:
			without("with several control sets, which the schedule chooses among", "control_set")
		}
	}
}

// weighedTwice refuses a key that weighs costs beside an acquisition that does.
func (k *checker) weighedTwice(key string, weighs bool) {
	if weighs && k.given(key) {
		k.bad(key, fmt.Sprintf("has no place beside acquisition %q, which weighs costs itself", acquireGittins), "remove it", "policy.acquisition")
	}
}

// perCost checks what divides by the cost of a step.
func (k *checker) perCost(own, named Parts) {
	c := &k.cfg.Cost
	at := "policy.kind"
	if !own.PerCost {
		at = "policy.per_cost"
	}
	if named.PerCost && (named.Schedule == scheduleEpsilon || named.Schedule == scheduleAuto) {
		k.bad(at, fmt.Sprintf("values per cost and schedule %q both weigh costs", named.Schedule), "use one of them", "policy.schedule")
	}
	if named.Acquisition == acquireGittins {
		k.weighedTwice("policy.per_cost", named.PerCost)
		k.weighedTwice("policy.schedule", named.Schedule == scheduleEpsilon || named.Schedule == scheduleAuto)
	}
	if !named.PerCost || c.PerStep > 0 || c.PerShot > 0 || c.Formula != "" || c.Reading != "" {
		return
	}
	for i, set := range k.cfg.Sets() {
		if set.Cost == 0 {
			what := fmt.Sprintf("divides by the cost of a step, and control set %d costs nothing", i+1)
			if len(k.cfg.ControlSets) == 0 {
				what = "divides by the cost of a step, and no step costs anything"
			}
			k.bad(at, what, "give every control set a cost, or add per_step or per_shot to [cost]", "control_set", "cost", "cost.per_step", "cost.per_shot", "cost.formula")
			return
		}
	}
}

// rho checks the key of costids.
func (k *checker) rho(named Parts) {
	switch {
	case named.Acquisition == "ids" && !k.given("policy.rho"):
		k.bad("policy.rho", "missing: costids needs it", "rho = 1 ignores costs; larger values may go further from the best information ratio for a cheaper step", "policy.kind", "policy.acquisition")
	case named.Acquisition != "ids" && k.given("policy.rho"):
		k.bad("policy.rho", fmt.Sprintf("has no effect with acquisition %q", named.Acquisition), `remove it, or write kind = "costids"`, "policy.kind", "policy.acquisition")
	}
}

// fidelity checks the variables that make readings truer.
func (k *checker) fidelity(named Parts) {
	for i, v := range k.cfg.Variables {
		at := schema.Item("variable", i) + ".fidelity"
		switch {
		case v.Fidelity == nil:
		case named.Acquisition != "mf-mes":
			k.bad(at, fmt.Sprintf("has no effect with acquisition %q", named.Acquisition), `remove it, or write kind = "multi-fidelity-mes"`, "policy.kind", "policy.acquisition")
		case !(*v.Fidelity >= v.Range.Lo && *v.Fidelity <= v.Range.Hi):
			k.bad(at, fmt.Sprintf("%g lies outside the range [%g, %g]", *v.Fidelity, v.Range.Lo, v.Range.Hi), "name the value at which the best setting is wanted", schema.Item("variable", i)+".range")
		}
	}
}

// priors checks hyperparameters that compete.
func (k *checker) priors(own Parts) {
	p, how := &k.cfg.Policy, k.cfg.Model.Hyperparameters
	for i, prior := range p.Priors {
		if n := len(prior.Lengthscale); n > 1 && n != len(k.cfg.Variables) {
			k.bad(schema.Item("policy.priors", i)+".lengthscale", fmt.Sprintf("must hold one number, or one for each of the %d variables, got %d", len(k.cfg.Variables), n), "", "variable")
		}
	}
	switch {
	case p.Priors != nil && len(p.Priors) == 0:
		k.bad("policy.priors", "lists no prior", "remove it for the built-in set, or write priors = [{ lengthscale = 0.1 }, { lengthscale = 0.3 }]")
	case p.Priors != nil && how == "fit":
		k.bad("policy.priors", `has no effect with hyperparameters "fit"`, `write hyperparameters = "priors" in [model], where they compete, or "fixed" for a single one`, "model.hyperparameters")
	}
	switch {
	case p.PriorRule != "" && own.PriorRule != "" && p.PriorRule != own.PriorRule:
		k.bad("policy.prior_rule", fmt.Sprintf("%q contradicts kind %q, which is prior_rule %q", p.PriorRule, p.Kind, own.PriorRule), "remove it, or choose a kind without a rule of its own, such as ts or gp-ucb", "policy.kind")
	case p.PriorRule != "" && how != "priors":
		k.bad("policy.prior_rule", fmt.Sprintf("has no effect with hyperparameters %q: no priors compete", how), `remove it, or write hyperparameters = "priors" in [model]`, "model.hyperparameters")
	case own.PriorRule != "" && how != "priors":
		k.bad("model.hyperparameters", fmt.Sprintf("kind %q lets priors compete, got %q", p.Kind, how), `write hyperparameters = "priors", or another kind`, "policy.kind")
	}
}

// drift checks [policy.drift].
func (k *checker) drift(named Parts) {
	d := k.cfg.Policy.Drift
	if d == nil {
		return
	}
	const at = "policy.drift"
	all := []string{at, at + ".timescale", at + ".hold", at + ".detect"}
	switch {
	case named.Acquisition == acquireNone:
		k.bad(at, fmt.Sprintf("has no effect with kind %q, whose settings come from a design", named.Kind), "remove the section, or choose another kind", "policy.kind")
	case len(d.Timescale) == 0 && d.Hold == nil && !d.Detect:
		k.bad(at, "says nothing about the drift", "add timescale = 300.0 (in steps), hold = 0.1 or detect = true", all...)
	}
}
