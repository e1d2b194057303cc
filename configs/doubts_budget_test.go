package configs

import (
	"slices"
	"strings"
	"testing"
)

// TestDoubtsOfBudgets: what a run can never come to is told at its line: decisions behind the design, sets that cannot be paid.
func TestDoubtsOfBudgets(t *testing.T) {
	sample := string(Samples()[slices.IndexFunc(Samples(), func(s Sample) bool { return s.Name == "quiet-and-cheap" })].Text)
	change := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("%q is not in the file", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	for name, c := range map[string]struct{ text, at, want string }{
		"all steps are initial ones": {change(safeBench, "steps = 20", "steps = 10"), "steps = 10", "the run ends after 10 steps, and the first 10 are initial ones: the model decides none"},
		"a run that starts warm":     {change(safeBench, "steps = 20", "steps = 10") + "\n[model]\nwarm_start = [\"earlier.csv\"]\n", "", ""},
		"one is decided":             {change(safeBench, "steps = 20", "steps = 11"), "", ""},
		"a set is too dear":          {change(sample, "cost = 4.0", "cost = 4000.0"), "cost = 4000.0", "a step of this set costs 4000, more than the whole run may"},
	} {
		list := doubtsOf(t, c.text)
		switch {
		case c.want == "" && len(list) == 0:
		case len(list) != 1 || list[0].Line != lineOf(c.text, c.at) || !strings.Contains(list[0].String(), c.want):
			t.Errorf("%s: %v, want line %d and %q", name, list, lineOf(c.text, c.at), c.want)
		}
	}
}
