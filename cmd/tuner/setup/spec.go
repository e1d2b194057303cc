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

// policyMaker fills what the policy is made of, and what the loop is to do for it:
// constraints, formulas of the cost, the comparison at the end.
type policyMaker struct {
	cfg  *configs.Config
	opt  *plan.Options
	spec *policy.Spec
	// noise and setting are the formulas of policy.noise_sd and cost.formula, nil where
	// there is none.
	noise, setting *settingFormula
}

// wirePolicy fills the policy's spec.
func (m *policyMaker) wirePolicy() []configs.Problem {
	cfg, p := m.cfg, &m.cfg.Policy
	parts := p.Parts()
	spec := m.spec
	spec.Kind, spec.Budget, spec.Steps, spec.Risk, spec.Seed = p.Kind, OrZero(cfg.Stop.Cost), OrZero(cfg.Stop.Steps), OrZero(p.Risk), uint64(cfg.Seed)
	spec.Acquisition, spec.Confidence, spec.ConfidenceSetting = p.Acquisition, p.Confidence, p.ConfidenceSetting
	spec.Schedule, spec.Epsilon, spec.PerCost = parts.Schedule, p.Epsilon, parts.PerCost
	spec.Design, spec.InitialSteps = p.Initial.Design, p.Initial.Steps
	spec.Beta = cmp.Or(spec.Beta, defaultBeta)
	for i := range cfg.Variables {
		m.spec.Variables = append(m.spec.Variables, m.policyVariable(i))
	}
	m.wireFidelity()
	for _, set := range m.opt.ControlSets {
		controlled := make([]bool, len(cfg.Variables))
		for _, i := range set.Variables {
			controlled[i] = true
		}
		m.spec.ControlSets = append(m.spec.ControlSets, policy.ControlSet{Controlled: controlled, Cost: m.opt.PerStep(set.Cost)})
	}
	m.spec.CostsRead = m.opt.Cost.Reading != nil
	if len(cfg.Cost.PerMove) > 0 {
		m.spec.MoveCost = m.opt.Cost.PerMove
	}
	if d := p.Drift; d != nil {
		m.spec.Drift = policy.Drift{Timescale: d.Timescale, Hold: OrZero(d.Hold), Detect: d.Detect}
	}
	m.wireSearch()
	m.wireConstraints()
	m.wireVerify()
	problems := m.wireFormulas()
	problems = append(problems, m.wireModel()...)
	return append(problems, m.wireCandidates()...)
}

// wireSearch leaves settings that nobody measured alone, unless the file asks for them, where a variable is a dose:
// what one gave stays where it is.
func (m *policyMaker) wireSearch() {
	if slices.ContainsFunc(m.opt.Variables, func(v plan.Variable) bool { return v.Dose }) {
		m.spec.Stalled, m.spec.Recommended = cmp.Or(m.spec.Stalled, "repeat"), cmp.Or(m.spec.Recommended, "measured")
	}
}

// wireFidelity says at which value of its fidelities the maximum is sought; nothing where
// no variable is one.
func (m *policyMaker) wireFidelity() {
	sought := policy.NaNs(len(m.cfg.Variables))
	for i, v := range m.cfg.Variables {
		if v.Fidelity != nil {
			sought[i] = *v.Fidelity
			m.spec.Fidelity = sought
		}
	}
}

// wireConstraints tells the loop what to carry to the policy, and the policy what that
// should be. A bound at an end of what the sensor is believed is none: outside there
// is no data.
func (m *policyMaker) wireConstraints() {
	for _, c := range m.cfg.Constraints {
		i := slices.IndexFunc(m.opt.Sensors, func(s plan.Sensor) bool { return s.Name == c.Sensor })
		low, high := c.Range.Lo, c.Range.Hi
		if s := &m.opt.Sensors[i]; low <= s.Low {
			low = math.Inf(-1)
		}
		if s := &m.opt.Sensors[i]; high >= s.High {
			high = math.Inf(1)
		}
		m.opt.Constraints = append(m.opt.Constraints, plan.Constraint{Sensor: i, Low: low, High: high})
		m.spec.Constraints = append(m.spec.Constraints, policy.Constraint{Name: c.Sensor, Low: low, High: high, Probability: OrZero(c.Probability)})
	}
}

// wireFormulas compiles what depends on the setting.
func (m *policyMaker) wireFormulas() []configs.Problem {
	var problems []configs.Problem
	compile := func(key, text string) *settingFormula {
		if text == "" {
			return nil
		}
		f, err := compileSettingFormula(text, m.variableNames())
		if err != nil {
			problems = append(problems, m.cfg.Problem(key, err.Error(), settingFormulaWords))
			return nil
		}
		return &f
	}
	if m.noise = compile("policy.noise_sd", m.cfg.Policy.NoiseSD); m.noise != nil {
		sd := m.noise.eval
		m.spec.NoiseVariance = func(x []float64) float64 { v := sd(x); return v * v }
	}
	if m.setting = compile("cost.formula", m.cfg.Cost.Formula); m.setting != nil {
		cost := m.setting.eval
		m.spec.SettingCost = func(_ int, x []float64) float64 { return cost(x) }
		m.opt.Cost.Setting = m.spec.SettingCost
	}
	return problems
}

// tryFormulas looks for settings at which a formula cannot be used. The candidates
// must be known by then.
func (m *policyMaker) tryFormulas() []configs.Problem {
	var problems []configs.Problem
	notNegative := func(y float64) bool { return y >= 0 }
	if m.noise != nil {
		problems = append(problems, m.tryFormula("policy.noise_sd", *m.noise, notNegative, "finite and not negative")...)
	}
	if m.setting == nil {
		return problems
	}
	least := math.Inf(1)
	for _, c := range m.spec.ControlSets {
		least = min(least, c.Cost)
	}
	if m.spec.PerCost && least == 0 {
		positive := func(y float64) bool { return y > 0 }
		return append(problems, m.tryFormula("cost.formula", *m.setting, positive, "finite and positive, as values are divided by the cost,")...)
	}
	return append(problems, m.tryFormula("cost.formula", *m.setting, notNegative, "finite and not negative")...)
}

// tryPolicy makes the policy once, so that what does not fit together shows when
// the file is checked.
func (m *policyMaker) tryPolicy() []configs.Problem {
	_, err := policy.New(*m.spec)
	if err == nil {
		return nil
	}
	var problems []configs.Problem
	for _, e := range fault.Flatten(err) {
		key, what := "policy", strings.TrimPrefix(e.Error(), "policy: ")
		if p := (*policy.Problem)(nil); errors.As(e, &p) {
			key = p.Key
		}
		problems = append(problems, m.cfg.Problem(key, what, ""))
	}
	return problems
}

// policyVariable is what the policy knows of variable i.
func (m *policyMaker) policyVariable(i int) policy.Variable {
	c, v := &m.cfg.Variables[i], &m.opt.Variables[i]
	out := policy.Variable{Name: v.Name, Low: v.Low, High: v.High, Levels: c.Levels, Integer: c.Integer,
		Resolution: OrZero(c.Resolution), Start: v.Start, Log: c.Scale == "log"}
	if v.Frozen != nil {
		out.Levels, out.Integer, out.Resolution = []float64{*v.Frozen}, false, 0
	}
	switch {
	case v.Dose:
		// Left alone it gives nothing.
		out.Random = policy.Distribution{Kind: policy.TruncatedNormal, Mean: v.Low, SD: parkSpread * (v.High - v.Low)}
	case v.Frozen != nil: // it stands there, as a parked one does at its safe value
		out.Random = policy.Distribution{Kind: policy.TruncatedNormal, Mean: *v.Frozen, SD: max(v.Tolerance, parkSpread*(v.High-v.Low))}
	case v.Actuated && v.OnRelease == plan.Hold:
		out.Random.Kind = policy.Held
	case v.Actuated && v.OnRelease == plan.Park:
		// A parked variable stands at its safe value, within the readback tolerance.
		out.Random = policy.Distribution{Kind: policy.TruncatedNormal,
			Mean: min(max(v.Limits.Safe, v.Low), v.High), SD: max(v.Tolerance, parkSpread*(v.High-v.Low))}
	default:
		out.Random, _ = distributions(c.WhenRandom)
	}
	return out
}

// ownTable, as [domain] candidates, means the rows of the plant's own table.
const ownTable = "table"

// wireCandidates loads the finite domain, if the file has one; wirePlant takes
// the rows of a table plant.
func (m *policyMaker) wireCandidates() []configs.Problem {
	d := m.cfg.Domain
	switch {
	case d == nil:
		return nil
	case d.Candidates != ownTable:
		rows, problems := readCandidates(m.cfg.Path(d.Candidates), m.cfg.Variables)
		m.spec.Candidates = rows
		return problems
	case m.cfg.Plant == nil || m.cfg.Plant.Kind != "table":
		return []configs.Problem{m.cfg.Problem("domain.candidates",
			`"table" means the rows of a table plant, and there is none`,
			`add [plant] with kind = "table", or name a CSV file`)}
	}
	return nil
}
