package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const sample = `package sample

func limit(x, low, high int, on bool) (int, bool) {
	if !on || x > low && x <= high {
		return x, true
	}
	x = clamp(x, low)
	return x, false
}

func clamp(a, b int) int { return max(a, b) }
`

// mutated makes the mutants of a text.
func mutated(t *testing.T, text string) *mutator {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "sample.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("sample", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	m := &mutator{file: "sample.go", src: []byte(text), fset: fset, info: info, next: 1}
	m.mutate(f)
	return m
}

// TestRules lists what the rules make of a text, and no more.
func TestRules(t *testing.T) {
	var got []string
	for _, c := range mutated(t, sample).changes {
		got = append(got, c.Func+" "+c.Rule+" "+c.Text)
	}
	want := []string{
		"limit return func limit(x, low, high int, on bool) (int, bool)",
		"limit negate !on || x > low && x <= high", "limit drop !on", "limit drop x > low && x <= high", "limit drop x > low", "limit drop x <= high",
		"limit shift x > low", "limit shift x <= high", "limit omit return x, true", "limit omit x = clamp(x, low)", "limit swap x, low",
		"clamp return func clamp(a, b int) int",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("made:\n%s\nwant:\n%s", a, b)
	}
}

// TestSwitchedOn runs a text with each of its mutants on: without one it does what it did, and
// each changes what it says.
func TestSwitchedOn(t *testing.T) {
	m := mutated(t, sample)
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "sample.go": strings.Replace(string(m.rewrite()), "package sample", "package main", 1),
		"switch.go": strings.Replace(switches, "PACKAGE", "main", 1), "main.go": "package main\n\nfunc main() {\n\tfor x := range 6 {\n\t\tfor _, on := range []bool{true, false} {\n\t\t\tprintln(limit(x, 1, 3, on))\n\t\t}\n\t}\n}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "sample", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(on string) string {
		cmd := exec.Command(filepath.Join(dir, "sample"))
		cmd.Env = append(os.Environ(), "TUNER_MUTANT="+on)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	plain, said := run("0"), map[string]bool{}
	for _, c := range m.changes {
		text := run(strconv.Itoa(c.ID))
		if text == plain && c.Rule != ruleSwap { // max is the same both ways
			t.Errorf("%s: nothing changes", c.key())
		}
		said[text] = true
	}
	if len(said) < 8 || !strings.Contains(plain, "2 true") {
		t.Errorf("%d outcomes; without a mutant:\n%s", len(said), plain)
	}
}

// TestListedFilesAreThere: a file that was moved must not leave the list in silence, here and
// in one that is made by hand.
func TestListedFilesAreThere(t *testing.T) {
	t.Chdir("../..")
	for _, r := range rooms {
		if _, err := r.present(); err != nil {
			t.Error(err)
		}
	}
	moved := room{"safety", []string{"step.go", "moved.go"}, nil}
	if err := new(catalogue).room(moved, nil); err == nil || !strings.Contains(err.Error(), "safety has no file moved.go") {
		t.Errorf("a listed file that is not there: error %v", err)
	}
	for _, m := range slices.Concat(mutants, attacks, behaviours) {
		text, err := os.ReadFile(m.file)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		} else if n := strings.Count(string(text), m.old); n != 1 {
			t.Errorf("%s: %q stands %d times in %s, want once", m.name, m.old, n, m.file)
		}
	}
}

// TestKeptSurvivors: every entry of the file is of a mutant of the program as it stands, with its
// reason, and none is left open.
func TestKeptSurvivors(t *testing.T) {
	t.Chdir("../..")
	c, err := gather(rooms)
	if err != nil {
		t.Fatal(err)
	}
	list, err := loadSurvivors(c)
	if err != nil {
		t.Fatal(err)
	}
	for key, why := range list {
		if strings.HasPrefix(why, open) {
			t.Errorf("%s => %s: write its test, or say why nothing can notice it", key, why)
		}
	}
}

// TestSurvivorsAreOfThisText: an entry needs a mutant and a reason.
func TestSurvivorsAreOfThisText(t *testing.T) {
	c := &catalogue{changes: mutated(t, sample).changes}
	key := c.changes[1].key()
	for text, good := range map[string]bool{
		"": true, "# a remark\n\n" + key + " => equivalent: so it is\n": true, key + " => telemetry: x": true, key + " => open: x": true, key + " => because: x": false, key: false,
		key + " => equivalent: x\n" + key + " => equivalent: y": false, "sample.go gone negate 1 x => equivalent: x": false, "safety/x.go y negate 1 z => open: x": false,
	} {
		if _, err := readSurvivors(text, c); (err == nil) != good {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if list, err := readSurvivors(key+" => equivalent: so it is", c); err != nil || list[key] != "equivalent: so it is" {
		t.Errorf("%v, %v", list, err)
	}
}
