package setup

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// defaultBeta multiplies the standard deviation in a lower bound: two standard
// deviations, what instrument people expect of an error bar.
const defaultBeta = 2.0

// parkSpread is the width of a parked variable's distribution, as a fraction of
// its range, where the readback tolerance does not say more.
const parkSpread = 1e-3

// wirePolicy fills the policy's spec.
func (w *Setup) wirePolicy() []configs.Problem {
	cfg, p := w.Config, &w.Config.Policy
	parts := p.Parts()
	spec := &w.Spec
	spec.Kind, spec.Budget, spec.Risk, spec.Seed = p.Kind, OrZero(cfg.Stop.Cost), OrZero(p.Risk), uint64(cfg.Seed)
	spec.Acquisition, spec.Confidence, spec.ConfidenceSetting = p.Acquisition, p.Confidence, p.ConfidenceSetting
	spec.Schedule, spec.Epsilon, spec.PerCost = parts.Schedule, p.Epsilon, parts.PerCost
	spec.Design, spec.InitialSteps = p.Initial.Design, p.Initial.Steps
	spec.Beta = cmp.Or(spec.Beta, defaultBeta)
	for i := range cfg.Variables {
		w.Spec.Variables = append(w.Spec.Variables, w.policyVariable(i))
	}
	w.wireFidelity()
	for _, set := range w.Options.ControlSets {
		controlled := make([]bool, len(cfg.Variables))
		for _, i := range set.Variables {
			controlled[i] = true
		}
		cost := set.Cost + cfg.Cost.PerStep + float64(cfg.Objective.Shots)*cfg.Cost.PerShot
		w.Spec.ControlSets = append(w.Spec.ControlSets, policy.ControlSet{Controlled: controlled, Cost: cost})
	}
	if len(cfg.Cost.PerMove) > 0 {
		w.Spec.MoveCost = w.Options.Cost.PerMove
	}
	if d := p.Drift; d != nil {
		w.Spec.Drift = policy.Drift{Timescale: d.Timescale, Hold: OrZero(d.Hold), Detect: d.Detect}
	}
	w.wireConstraints()
	w.wireVerify()
	problems := w.wireFormulas()
	problems = append(problems, w.wireModel()...)
	return append(problems, w.wireCandidates()...)
}

// wireFidelity says at which value of its fidelities the maximum is sought; nothing where
// no variable is one.
func (w *Setup) wireFidelity() {
	sought := policy.NaNs(len(w.Config.Variables))
	for i, v := range w.Config.Variables {
		if v.Fidelity != nil {
			sought[i] = *v.Fidelity
			w.Spec.Fidelity = sought
		}
	}
}

// wireConstraints tells the loop what to carry to the policy, and the policy what that
// should be. A bound at an end of what the sensor is believed is none: outside there
// is no data.
func (w *Setup) wireConstraints() {
	for _, c := range w.Config.Constraints {
		i := slices.IndexFunc(w.Options.Sensors, func(s plan.Sensor) bool { return s.Name == c.Sensor })
		low, high := c.Range.Lo, c.Range.Hi
		if s := &w.Options.Sensors[i]; low <= s.Low {
			low = math.Inf(-1)
		}
		if s := &w.Options.Sensors[i]; high >= s.High {
			high = math.Inf(1)
		}
		w.Options.Constraints = append(w.Options.Constraints, plan.Constraint{Sensor: i, Low: low, High: high})
		w.Spec.Constraints = append(w.Spec.Constraints, policy.Constraint{Name: c.Sensor, Low: low, High: high, Probability: OrZero(c.Probability)})
	}
}

// wireFormulas compiles what depends on the setting.
func (w *Setup) wireFormulas() []configs.Problem {
	var problems []configs.Problem
	compile := func(key, text string) *settingFormula {
		if text == "" {
			return nil
		}
		f, err := compileSettingFormula(text, w.variableNames())
		if err != nil {
			problems = append(problems, w.Config.Problem(key, err.Error(), settingFormulaWords))
			return nil
		}
		return &f
	}
	if w.noise = compile("policy.noise_sd", w.Config.Policy.NoiseSD); w.noise != nil {
		sd := w.noise.eval
		w.Spec.NoiseVariance = func(x []float64) float64 { v := sd(x); return v * v }
	}
	if w.setting = compile("cost.formula", w.Config.Cost.Formula); w.setting != nil {
		cost := w.setting.eval
		w.Spec.SettingCost = func(_ int, x []float64) float64 { return cost(x) }
		w.Options.Cost.Setting = w.Spec.SettingCost
	}
	return problems
}

// tryFormulas looks for settings at which a formula cannot be used. The candidates
// must be known by then.
func (w *Setup) tryFormulas() []configs.Problem {
	var problems []configs.Problem
	notNegative := func(y float64) bool { return y >= 0 }
	if w.noise != nil {
		problems = append(problems, w.tryFormula("policy.noise_sd", *w.noise, notNegative, "finite and not negative")...)
	}
	if w.setting == nil {
		return problems
	}
	least := math.Inf(1)
	for _, c := range w.Spec.ControlSets {
		least = min(least, c.Cost)
	}
	if w.Spec.PerCost && least == 0 {
		positive := func(y float64) bool { return y > 0 }
		return append(problems, w.tryFormula("cost.formula", *w.setting, positive, "finite and positive, as values are divided by the cost,")...)
	}
	return append(problems, w.tryFormula("cost.formula", *w.setting, notNegative, "finite and not negative")...)
}

// tryPolicy makes the policy once, so that what does not fit together shows when
// the file is checked.
func (w *Setup) tryPolicy() []configs.Problem {
	_, err := policy.New(w.Spec)
	if err == nil {
		return nil
	}
	var problems []configs.Problem
	for _, e := range fault.Flatten(err) {
		key, what := "policy", strings.TrimPrefix(e.Error(), "policy: ")
		if p := (*policy.Problem)(nil); errors.As(e, &p) {
			key = p.Key
		}
		problems = append(problems, w.Config.Problem(key, what, ""))
	}
	return problems
}

// policyVariable is what the policy knows of variable i.
func (w *Setup) policyVariable(i int) policy.Variable {
	c, v := &w.Config.Variables[i], &w.Options.Variables[i]
	out := policy.Variable{Name: v.Name, Low: v.Low, High: v.High, Levels: c.Levels, Integer: c.Integer,
		Resolution: OrZero(c.Resolution), Start: v.Start}
	switch {
	case v.Dose:
		// Left alone it gives nothing.
		out.Random = policy.Distribution{Kind: policy.TruncatedNormal, Mean: v.Low, SD: parkSpread * (v.High - v.Low)}
	case v.Actuated && v.OnRelease == plan.Hold:
		out.Random.Kind = policy.Held
	case v.Actuated && v.OnRelease == plan.Park:
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
		return policy.Distribution{Kind: policy.TruncatedNormal, Mean: OrZero(d.Mean), SD: OrZero(d.SD)}
	case "uniform":
		return policy.Distribution{Kind: policy.Uniform}
	}
	return policy.Distribution{Kind: policy.Learnt}
}

// ownTable, as [domain] candidates, means the rows of the plant's own table.
const ownTable = "table"

// wireCandidates loads the finite domain, if the file has one; wirePlant takes
// the rows of a table plant.
func (w *Setup) wireCandidates() []configs.Problem {
	d := w.Config.Domain
	switch {
	case d == nil:
		return nil
	case d.Candidates != ownTable:
		rows, problems := readCandidates(w.Config.Path(d.Candidates), w.Config.Variables)
		w.Spec.Candidates = rows
		return problems
	case w.Config.Plant == nil || w.Config.Plant.Kind != "table":
		return []configs.Problem{w.Config.Problem("domain.candidates",
			`"table" means the rows of a table plant, and there is none`,
			`add [plant] with kind = "table", or name a CSV file`)}
	}
	return nil
}
