package setup

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// formula is an objective computed from the sensors of one shot.
type formula struct {
	// uses indexes the sensors that the formula reads, in the order in which the
	// text names them first.
	uses []int
	eval func(sensors []float64) (float64, error)
}

// formulaWords is what a formula may be made of, for messages.
const formulaWords = "a formula is made of sensors, numbers, + - * / ^, comparisons, and/or/not, a ? b : c, and " +
	"abs, min, max, sqrt, exp, log, log10, floor, ceil"

// compileFormula compiles text over the named sensors. The language is expr's,
// narrowed to arithmetic on numbers, so that every formula that loads can be
// evaluated and its errors are about the user's own words.
func compileFormula(text string, sensors []string) (formula, error) {
	program, uses, err := compileOver(text, sensors, "sensor")
	if err != nil {
		return formula{}, err
	}
	if len(uses) == 0 {
		return formula{}, errors.New("uses no sensor; it would be the same at every setting")
	}
	return formula{uses: uses, eval: evaluator(program, sensors, uses)}, nil
}

// compileOver compiles text over names of a kind of thing, such as sensors, and lists
// those that it reads.
func compileOver(text string, names []string, thing string) (*vm.Program, []int, error) {
	world := make(map[string]any, len(names))
	for _, name := range names {
		world[name] = 0.0
	}
	seen := &formulaVisitor{names: names}
	options := append([]expr.Option{
		expr.Env(world), expr.AsFloat64(), expr.DisableAllBuiltins(), expr.Patch(seen),
	}, formulaFunctions()...)
	program, err := expr.Compile(text, options...)
	if seen.problem != "" {
		return nil, nil, errors.New(seen.problem)
	}
	if err != nil {
		return nil, nil, explainFormula(err, names, thing)
	}
	return program, seen.uses(), nil
}

// evaluator returns a function that is used from one goroutine: it keeps the
// formula's surroundings between calls. A name without data (NaN) gives an error
// whatever the formula would make of it: a comparison would turn it into a number.
func evaluator(program *vm.Program, names []string, uses []int) func([]float64) (float64, error) {
	var machine vm.VM
	world := make(map[string]any, len(names))
	return func(values []float64) (float64, error) {
		for _, i := range uses {
			if math.IsNaN(values[i]) {
				return math.NaN(), fmt.Errorf("formula: no data from %q", names[i])
			}
			world[names[i]] = values[i]
		}
		out, err := machine.Run(program, world)
		if err != nil {
			return math.NaN(), fmt.Errorf("formula: %w", err)
		}
		y, ok := out.(float64)
		if !ok || math.IsNaN(y) || math.IsInf(y, 0) {
			return math.NaN(), fmt.Errorf("formula gives %v, which is not a finite number", out)
		}
		return y, nil
	}
}

// formulaFunctions are the functions of a formula.
func formulaFunctions() []expr.Option {
	one := map[string]func(float64) float64{
		"sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "log10": math.Log10,
	}
	options := []expr.Option{
		expr.EnableBuiltin("abs"), expr.EnableBuiltin("min"), expr.EnableBuiltin("max"),
		expr.EnableBuiltin("floor"), expr.EnableBuiltin("ceil"),
	}
	for name, f := range one {
		options = append(options, expr.Function(name, func(args ...any) (any, error) {
			x, ok := args[0].(float64)
			if !ok {
				return nil, fmt.Errorf("%s of %v, which is not a number", name, args[0])
			}
			return f(x), nil
		}, f))
	}
	return options
}

// formulaVisitor notes which names a formula reads, and the first thing in it
// that formulas do not have.
type formulaVisitor struct {
	names   []string
	found   []nameUse
	problem string
}

// nameUse is a place in the formula's text where a name is read.
type nameUse struct{ name, at int }

// Visit implements ast.Visitor.
func (v *formulaVisitor) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if i := slices.Index(v.names, n.Value); i >= 0 {
			v.found = append(v.found, nameUse{i, n.Location().From})
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.UnaryNode, *ast.ConditionalNode,
		*ast.BuiltinNode, *ast.CallNode, *ast.ConstantNode:
	case *ast.BinaryNode:
		if !slices.Contains(strings.Fields("+ - * / ^ ** < <= > >= == != and or && ||"), n.Operator) {
			v.refuse(n, fmt.Sprintf("operator %q", n.Operator))
		}
	default:
		v.refuse(n, "text, lists and fields")
	}
}

func (v *formulaVisitor) refuse(n ast.Node, what string) {
	if v.problem == "" {
		v.problem = fmt.Sprintf("formulas have no %s, at character %d", what, n.Location().From+1)
	}
}

// uses lists each name once, by its first place in the text.
func (v *formulaVisitor) uses() []int {
	slices.SortStableFunc(v.found, func(a, b nameUse) int { return a.at - b.at })
	var list []int
	for _, u := range v.found {
		if !slices.Contains(list, u.name) {
			list = append(list, u.name)
		}
	}
	return list
}

// explainFormula puts the compiler's error into one line.
func explainFormula(err error, names []string, thing string) error {
	at, ok := errors.AsType[*file.Error](err)
	if !ok {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "float64", "a number"))
	}
	what := strings.ReplaceAll(at.Message, "float64", "number")
	if name, ok := strings.CutPrefix(what, "unknown name "); ok {
		what = fmt.Sprintf("%q is neither a %s nor a function; the %ss are %s", name, thing, thing, strings.Join(names, ", "))
	}
	return fmt.Errorf("%s, at character %d", what, at.Column+1)
}
