package safety

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRuleTableIsComplete: every number from 1 to 31 is there once (2 and 12 have
// two parts), and every entry says everything.
func TestRuleTableIsComplete(t *testing.T) {
	numbers, seen := map[int]int{}, map[string]bool{}
	for r := range RuleCount {
		i := About(r)
		numbers[i.Number]++
		if seen[i.Name] || i.Name == "" {
			t.Errorf("rule %d: name %q", r, i.Name)
		}
		seen[i.Name] = true
		if i.Does == "" || i.Home == "" || i.Default == "" || i.Why == "" || i.Precedent == "" {
			t.Errorf("%s: something is missing in %+v", i.Name, i)
		}
		if i.Reaction == ReactNot && i.Clear != ClearAuto {
			t.Errorf("%s clears by %v and asks for nothing", i.Name, i.Clear)
		}
		if i.Reaction >= ReactTrip && i.Clear < ClearReset {
			t.Errorf("%s trips and clears by %v", i.Name, i.Clear)
		}
	}
	for n := 1; n <= 31; n++ {
		want := 1
		if n == 2 || n == 12 || n == 18 {
			want = 2
		}
		if numbers[n] != want {
			t.Errorf("rule %d stands %d times in the table, want %d", n, numbers[n], want)
		}
	}
}

// TestRuleTableNamesTests: every test that the table names exists, and every rule
// that has a home has one.
func TestRuleTableNamesTests(t *testing.T) {
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for r := range RuleCount {
		i := About(r)
		if i.Home == "" {
			t.Errorf("%s has no home", i.Name)
		}
		for name := range strings.SplitSeq(i.Test, ", ") {
			if !tests[name] {
				t.Errorf("%s names %s, which there is not", i.Name, name)
			}
		}
	}
}
