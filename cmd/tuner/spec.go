package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/policy"
)

// defaultBeta multiplies the standard deviation in a lower bound: two standard
// deviations, what instrument people expect of an error bar.
const defaultBeta = 2.0

// parkSpread is the width of a parked variable's distribution, as a fraction of
// its range, where the readback tolerance does not say more.
const parkSpread = 1e-3

// wirePolicy fills the policy's spec.
func (w *wiring) wirePolicy() []configs.Problem {
	cfg, p := w.cfg, &w.cfg.Policy
	w.spec = policy.Spec{
		Kind: p.Kind, Budget: orZero(cfg.Stop.Cost), Risk: orZero(p.Risk),
		Confidence: p.Confidence, Beta: defaultBeta, VarianceModel: p.VarianceModel,
		Schedule: p.Schedule, Epsilon: p.Epsilon,
		Design: p.Initial.Design, InitialSteps: p.Initial.Steps,
		Seed: uint64(cfg.Seed),
	}
	if p.Beta != nil {
		w.spec.Beta = *p.Beta
	}
	for i := range cfg.Variables {
		w.spec.Variables = append(w.spec.Variables, w.policyVariable(i))
	}
	for _, set := range w.opt.ControlSets {
		controlled := make([]bool, len(cfg.Variables))
		for _, i := range set.Variables {
			controlled[i] = true
		}
		cost := set.Cost + cfg.Cost.PerStep + float64(cfg.Objective.Shots)*cfg.Cost.PerShot
		w.spec.ControlSets = append(w.spec.ControlSets, policy.ControlSet{Controlled: controlled, Cost: cost})
	}
	problems := w.wireKind()
	problems = append(problems, w.wireModel()...)
	return append(problems, w.wireCandidates()...)
}

// wireKind turns names that stand for one combination of parts into the parts,
// and refuses what this version does not have.
func (w *wiring) wireKind() []configs.Problem {
	s := &w.spec
	var problems []configs.Problem
	if !slices.Contains(policy.Kinds(), s.Kind) {
		problems = append(problems, w.cfg.Problem("policy.kind", fmt.Sprintf("%q is not in this version", w.cfg.Policy.Kind),
			"it has "+strings.Join(policy.Kinds(), ", ")))
	}
	if !slices.Contains(policy.Confidences(), s.Confidence) {
		problems = append(problems, w.cfg.Problem("policy.confidence", fmt.Sprintf("%q is not in this version", s.Confidence),
			"it has "+strings.Join(policy.Confidences(), ", ")))
	}
	return problems
}

// tryPolicy makes the policy once, so that what does not fit together shows when
// the file is checked.
func (w *wiring) tryPolicy() []configs.Problem {
	_, err := policy.New(w.spec)
	if err == nil {
		return nil
	}
	var problems []configs.Problem
	for _, e := range flatten(err) {
		problems = append(problems, w.cfg.Problem("policy", strings.TrimPrefix(e.Error(), "policy: "), ""))
	}
	return problems
}

// policyVariable is what the policy knows of variable i.
func (w *wiring) policyVariable(i int) policy.Variable {
	c, v := &w.cfg.Variables[i], &w.opt.Variables[i]
	out := policy.Variable{Name: v.Name, Low: v.Low, High: v.High, Levels: c.Levels, Integer: c.Integer,
		Resolution: orZero(c.Resolution), Start: v.Start}
	switch {
	case v.Actuated && v.OnRelease == loop.Hold:
		out.Random.Kind = policy.Held
	case v.Actuated && v.OnRelease == loop.Park:
		// A parked variable stands at its safe value, within the readback tolerance.
		out.Random = policy.Distribution{Kind: policy.TruncatedNormal,
			Mean: min(max(v.Limits.Safe, v.Low), v.High), SD: max(v.Tolerance, parkSpread*(v.High-v.Low))}
	default:
		out.Random = policyDistribution(c.WhenRandom)
	}
	return out
}

func policyDistribution(d configs.WhenRandom) policy.Distribution {
	switch d.Distribution {
	case "normal":
		return policy.Distribution{Kind: policy.TruncatedNormal, Mean: orZero(d.Mean), SD: orZero(d.SD)}
	case "uniform":
		return policy.Distribution{Kind: policy.Uniform}
	}
	return policy.Distribution{Kind: policy.Learnt}
}

// wireModel fills the Gaussian process's part of the spec.
func (w *wiring) wireModel() []configs.Problem {
	cfg, m := w.cfg, &w.cfg.Model
	w.spec.Model = policy.Model{Kernel: m.Kernel, Hyperparameters: m.Hyperparameters, Capacity: m.Capacity}
	var problems []configs.Problem
	if m.Kernel != "se" && m.Kernel != "matern52" {
		problems = append(problems, cfg.Problem("model.kernel",
			fmt.Sprintf("%q is not in this version", m.Kernel), `it has "se" and "matern52"`))
	}
	switch m.Hyperparameters {
	case "priors":
		w.spec.Model.Hyperparameters = "fit"
		w.replace("model.hyperparameters", `"priors" is not in this version: hyperparameters are fitted by marginal likelihood, as with "fit"`)
	case "fixed":
		problems = append(problems, w.fixedModel(&cfg.Policy.Priors[0])...)
	}
	if n := len(cfg.Policy.Priors); n > 0 && m.Hyperparameters != "fixed" {
		w.replace("policy.priors", "not used: hyperparameters are fitted by marginal likelihood")
	}
	return problems
}

// fixedModel takes the hyperparameters of the one prior.
func (w *wiring) fixedModel(prior *configs.Prior) []configs.Problem {
	m := &w.spec.Model
	if prior.Kernel != "" {
		m.Kernel = prior.Kernel
	}
	m.Lengthscale = slices.Clone([]float64(prior.Lengthscale))
	if len(m.Lengthscale) == 1 {
		m.Lengthscale = slices.Repeat(m.Lengthscale, len(w.cfg.Variables))
	}
	m.Outputscale, m.NoiseSD, m.Mean = orZero(prior.Outputscale), orZero(prior.NoiseSD), orZero(prior.Mean)
	var missing []string
	for key, p := range map[string]*float64{"outputscale": prior.Outputscale, "noise_sd": prior.NoiseSD, "mean": prior.Mean} {
		if p == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return []configs.Problem{w.cfg.Problem("model.hyperparameters",
		fmt.Sprintf(`"fixed" needs %s in the entry of policy.priors: this version estimates nothing beside fixed values`, strings.Join(missing, ", ")),
		`add them, or write hyperparameters = "fit"`)}
}

// ownTable, as [domain] candidates, means the rows of the plant's own table.
const ownTable = "table"

// wireCandidates loads the finite domain, if the file has one; wirePlant takes
// the rows of a table plant.
func (w *wiring) wireCandidates() []configs.Problem {
	d := w.cfg.Domain
	switch {
	case d == nil:
		return nil
	case d.Candidates != ownTable:
		rows, problems := readCandidates(w.cfg.Path(d.Candidates), w.cfg.Variables)
		w.spec.Candidates = rows
		return problems
	case w.cfg.Plant == nil || w.cfg.Plant.Kind != "table":
		return []configs.Problem{w.cfg.Problem("domain.candidates",
			`"table" means the rows of a table plant, and there is none`,
			`add [plant] with kind = "table", or name a CSV file`)}
	}
	return nil
}

// replace notes that this version does something else than the file asks for. A
// default that is replaced is none of the user's business: nobody wrote it.
func (w *wiring) replace(key, what string) {
	for _, s := range w.cfg.Effective() {
		if hasPrefix(s.Key, key) && s.Origin != originDefault {
			w.replaced = append(w.replaced, note{Line: w.cfg.Problem(key, "", "").Line, Key: key, What: what})
			return
		}
	}
}
