package setup

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

func TestSettingFormulaValues(t *testing.T) {
	names := []string{"x", "y", "max_power"}
	at := []float64{3, -2, 0.5}
	for _, c := range []struct {
		text string
		want float64
		uses []int
	}{
		{"0.1 + 0.3*x^2", 0.1 + 0.3*9, []int{0}},
		{"exp(max_power)*abs(y)", math.Exp(0.5) * 2, []int{2, 1}},
		{"0.25", 0.25, nil},
		{"y > 0 ? 1 : x", 3, []int{1, 0}},
		{"log(y)", math.NaN(), []int{1}},
		{"x/(y + 2)", math.NaN(), []int{0, 1}},
	} {
		f, err := compileSettingFormula(c.text, names)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if !slices.Equal(f.uses, c.uses) {
			t.Errorf("%q uses %v, want %v", c.text, f.uses, c.uses)
		}
		// The oracle is the same arithmetic in Go; one rounding may differ.
		if y := f.eval(at); math.Abs(y-c.want) > 1e-14 || math.IsNaN(y) != math.IsNaN(c.want) {
			t.Errorf("%q = %v, want %v", c.text, y, c.want)
		}
	}
	f, err := compileSettingFormula("x + 0*y", names)
	if err != nil {
		t.Fatal(err)
	}
	if y := f.eval([]float64{1, math.NaN(), 1}); !math.IsNaN(y) {
		t.Errorf("a variable without a value gives %v", y)
	}
	_, err = compileSettingFormula("x + z", names)
	if want := `"z" is neither a variable nor a function; the variables are x, y, max_power, at character 5`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestSettingFormulaFromManyGoroutines: policies ask from several at once; the race
// detector watches, and a shared machine would mix the settings up.
func TestSettingFormulaFromManyGoroutines(t *testing.T) {
	f, err := compileSettingFormula("x - y", []string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 500 {
				a, b := float64(g), float64(i)
				if got := f.eval([]float64{a, b}); got != a-b {
					t.Errorf("%v - %v = %v", a, b, got)
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestProbesFindWhatIsWrong: a formula that fails in one corner, in the middle or on
// one candidate only is refused, with the setting.
func TestProbesFindWhatIsWrong(t *testing.T) {
	w := &policyMaker{spec: &policy.Spec{}, cfg: &configs.Config{Variables: []configs.Variable{
		{Name: "x", Unit: "mm", Range: configs.Range{Lo: -1, Hi: 3}}, {Name: "y", Unit: "1", Range: configs.Range{Lo: 0, Hi: 2}}}}}
	notNegative := func(y float64) bool { return y >= 0 }
	try := func(text string) string {
		f, err := compileSettingFormula(text, w.variableNames())
		if err != nil {
			t.Fatal(err)
		}
		problems := w.tryFormula("cost.formula", f, notNegative, "finite and not negative")
		if len(problems) == 0 {
			return ""
		}
		return problems[0].What
	}
	for text, want := range map[string]string{
		"4.9 - x - y":                       "gives -0.1 at x = 3 mm, y = 2, and must be finite and not negative at every setting",
		"1/(x - 1)":                         "gives no finite number at x = 1 mm",
		"x > 0.2 and x < 0.5 ? -1 : 1":      "gives -1 at x = 0.",
		"5 - x - y":                         "",
		"exp(-x)":                           "",
		"-2":                                "gives -2 at every setting",
		"x >= 3 and y <= 0 ? sqrt(-1) : 1 ": "gives no finite number at x = 3 mm, y = 0",
	} {
		if got := try(text); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	w.spec.Candidates = [][]float64{{0, 0}, {1.5, 1}}
	if got := try("5 - 4*x"); !strings.HasPrefix(got, "gives -1 at x = 1.5 mm") {
		t.Errorf("candidates: %q", got)
	}
	if got := try("4.9 - x - y"); got != "" {
		t.Errorf("settings that are no candidates count: %q", got)
	}
}
