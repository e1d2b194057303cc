package configs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// formulaNames parses a formula and lists the names in it that are neither
// functions nor its own let-variables, in order of first use.
func formulaNames(formula string) ([]string, error) {
	tree, err := parser.Parse(formula)
	if err != nil {
		if at := (*file.Error)(nil); errors.As(err, &at) {
			return nil, fmt.Errorf("%s, at character %d", schema.LowerFirst(at.Message), at.Column+1)
		}
		return nil, err
	}
	v := &nameVisitor{own: map[string]bool{}, called: map[*ast.IdentifierNode]bool{}}
	ast.Walk(&tree.Node, v)
	var names []string
	for _, id := range v.ids {
		if !v.own[id.Value] && !v.called[id] && !slices.Contains(names, id.Value) {
			names = append(names, id.Value)
		}
	}
	return names, nil
}

// nameVisitor collects identifiers, what the formula itself declares, and what
// it calls.
type nameVisitor struct {
	ids    []*ast.IdentifierNode
	own    map[string]bool
	called map[*ast.IdentifierNode]bool
}

// Visit implements ast.Visitor.
func (v *nameVisitor) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		v.ids = append(v.ids, n)
	case *ast.VariableDeclaratorNode:
		v.own[n.Name] = true
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			v.called[id] = true
		}
	}
}

// objectiveSensors lists the sensors that the objective is made of: its sensor,
// or the names in its formula in order of first use. A formula that cannot be
// parsed, which Parse refuses, has none.
func (c *Config) objectiveSensors() []string {
	if c.Objective.Formula == "" {
		if c.Objective.Sensor == "" {
			return nil
		}
		return []string{c.Objective.Sensor}
	}
	names, err := formulaNames(c.Objective.Formula)
	if err != nil {
		return nil
	}
	return names
}
