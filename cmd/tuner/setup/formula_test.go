package setup

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFormulaValues(t *testing.T) {
	sensors := []string{"energy", "pointing", "mean"}
	at := []float64{3, -2, 5}
	for _, c := range []struct {
		text string
		want float64
		uses []int
	}{
		{"energy - 0.2*abs(pointing)", 3 - 0.2*2, []int{0, 1}},
		{"pointing + energy", 1, []int{1, 0}},
		{"mean", 5, []int{2}},
		{"2*energy/4", 1.5, []int{0}},
		{"-energy^2", -9, []int{0}},
		{"pointing > -3 && energy >= 3 ? min(energy, mean, 9) : max(1, 2)", 3, []int{1, 0, 2}},
		{"pointing > 0 ? 1 : 0.5*mean", 2.5, []int{1, 2}},
		{"sqrt(4) + energy + exp(0) + log(1) + log10(100)", 8, []int{0}},
		{"floor(energy/2) + ceil(energy/2)", 3, []int{0}},
		{"energy > 1 ? 1 : 0", 1, []int{0}},
		{"1/4 + 0*energy", 0.25, []int{0}},
	} {
		f, err := compileFormula(c.text, sensors)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if !slices.Equal(f.uses, c.uses) {
			t.Errorf("%q uses %v, want %v", c.text, f.uses, c.uses)
		}
		// Twice: the second call must not see the first one's values.
		if _, err := f.eval([]float64{100, 100, 100}); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		// The oracle is the same arithmetic in Go; one rounding may differ.
		if y, err := f.eval(at); err != nil || math.Abs(y-c.want) > 1e-14 {
			t.Errorf("%q = %v, %v; want %v", c.text, y, err, c.want)
		}
	}
}

func TestFormulaNoNumberIsNoData(t *testing.T) {
	sensors := []string{"a", "b"}
	for text, at := range map[string][]float64{
		"a/b":             {1, 0},
		"log(a)":          {-1, 0},
		"a + 0*b":         {1, math.NaN()},
		"b > 1 ? a : 2*a": {1, math.NaN()},
		"exp(a) + b":      {1000, 0},
		"max(a, b)":       {math.NaN(), math.NaN()},
	} {
		f, err := compileFormula(text, sensors)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if y, err := f.eval(at); err == nil {
			t.Errorf("%q at %v = %v, want an error", text, at, y)
		}
	}
}

func TestFormulaRefused(t *testing.T) {
	sensors := []string{"energy", "pointing"}
	for text, want := range map[string]string{
		"energi + 1":             `"energi" is neither a sensor nor a function; the sensors are energy, pointing, at character 1`,
		"energy + sin(pointing)": `"sin" is neither a sensor nor a function; the sensors are energy, pointing, at character 10`,
		"energy +":               "unexpected token EOF, at character 8",
		"energy > 1":             "expected a number, but got bool",
		"1 + 2":                  "uses no sensor",
		"energy > 1 ? 1 : 'a'":   "formulas have no text, lists and fields, at character 18",
		"$env.energy":            "formulas have no text, lists and fields",
		"[energy][0]":            "formulas have no text, lists and fields",
		"energy in 1..3 ? 1 : 2": `formulas have no operator`,
		"let x = energy; x":      "formulas have no text, lists and fields",
		"energy ? 1 : 2":         "non-bool expression (type number) used as condition, at character 1",
		"now()":                  `"now" is neither`,
	} {
		_, err := compileFormula(text, sensors)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the message has more than one line: %q", text, err)
		}
	}
}
