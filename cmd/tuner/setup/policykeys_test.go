package setup

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/labtuner/tuner/configs"
)

// TestPolicyProblemsNameKeysOfTheFile: every key that a problem of the policy carries is a
// key or a section of a configuration.
func TestPolicyProblemsNameKeysOfTheFile(t *testing.T) {
	known := map[string]bool{}
	for _, d := range configs.Reference(Known()) {
		section := strings.TrimSuffix(strings.Trim(d.Section, "[]"), ".NAME")
		for part := section; part != ""; part = part[:max(strings.LastIndexByte(part, '.'), 0)] {
			known[part] = true
		}
		known[strings.TrimPrefix(section+"."+d.Key, ".")] = true
	}
	files, err := filepath.Glob("../../../loop/policy/check*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "fail" && f.Sel.Name != "oneOf" {
				return true
			}
			arg := call.Args[0]
			if sum, ok := arg.(*ast.BinaryExpr); ok { // "variable." + v.Name
				arg = sum.X
			}
			if text, ok := arg.(*ast.BasicLit); ok {
				calls++
				key, _ := strconv.Unquote(text.Value)
				if key = strings.TrimSuffix(key, "."); !known[key] {
					t.Errorf("%s: a problem of %q, which is no key of a file", filepath.Base(name), key)
				}
			}
			return true
		})
	}
	if calls < 60 {
		t.Errorf("%d problems were found in the code of the policy", calls)
	}
}
