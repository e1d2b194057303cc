package setup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
)

// settingFormula is a number computed from a setting: a cost, a noise.
type settingFormula struct {
	// uses indexes the variables that it reads.
	uses []int
	// eval is safe for concurrent use; it is NaN where the formula has no finite
	// value, or a variable that it reads has none.
	eval func(x []float64) float64
}

// compileSettingFormula compiles text over the named variables, in the language of
// objectives' formulas.
func compileSettingFormula(text string, variables []string) (settingFormula, error) {
	program, uses, err := compileOver(text, variables, "variable")
	if err != nil {
		return settingFormula{}, err
	}
	pool := sync.Pool{New: func() any { return evaluator(program, variables, uses) }}
	return settingFormula{uses: uses, eval: func(x []float64) float64 {
		run := pool.Get().(func([]float64) (float64, error))
		defer pool.Put(run)
		y, err := run(x)
		if err != nil {
			return math.NaN()
		}
		return y
	}}, nil
}

// settingFormulaWords is what such a formula may be made of, for messages.
var settingFormulaWords = strings.Replace(formulaWords, "sensors", "variables", 1)

// probes are settings at which a formula is tried before a run: all candidates where
// there are any, else corners of the ranges, their middle, and settings spread over
// them.
func (m *policyMaker) probes() [][]float64 {
	if len(m.spec.Candidates) > 0 {
		return m.spec.Candidates
	}
	const corners, spread = 1 << 10, 1000
	n := len(m.cfg.Variables)
	at := func(fraction func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			r := m.cfg.Variables[i].Range
			x[i] = r.Lo + fraction(i)*r.Width()
		}
		return x
	}
	out := [][]float64{at(func(int) float64 { return 0.5 })}
	for k := range min(corners, 1<<min(n, 20)) {
		out = append(out, at(func(i int) float64 { return float64(k >> min(i, 62) & 1) }))
	}
	rng := rand.New(rand.NewPCG(1, 2)) // any settings do; the same ones in every run
	for range spread {
		out = append(out, at(func(int) float64 { return rng.Float64() }))
	}
	return out
}

// tryFormula looks for a setting at which a formula's value cannot be used.
func (m *policyMaker) tryFormula(key string, f settingFormula, usable func(float64) bool, want string) []configs.Problem {
	for _, x := range m.probes() {
		y := f.eval(x)
		if usable(y) {
			continue
		}
		what := "gives " + show.Number(y)
		if math.IsNaN(y) {
			what = "gives no finite number"
		}
		return []configs.Problem{m.cfg.Problem(key, fmt.Sprintf("%s at %s, and must be %s at every setting", what, m.settingWords(f.uses, x), want),
			"correct the formula, or the variables' ranges")}
	}
	return nil
}

// settingWords names a setting of some variables.
func (m *policyMaker) settingWords(uses []int, x []float64) string {
	uses = slices.Clone(uses)
	slices.Sort(uses)
	var parts []string
	for _, i := range uses {
		parts = append(parts, m.cfg.Variables[i].Name+" = "+show.Quantity(x[i], m.cfg.Variables[i].Unit))
	}
	if len(parts) == 0 {
		return "every setting"
	}
	return strings.Join(parts, ", ")
}

// variableNames lists the variables in file order.
func (m *policyMaker) variableNames() []string {
	names := make([]string, len(m.cfg.Variables))
	for i, v := range m.cfg.Variables {
		names[i] = v.Name
	}
	return names
}
