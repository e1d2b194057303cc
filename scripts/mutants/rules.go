package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// The rules by which mutants are made.
const (
	ruleNegate = "negate" // a condition: its opposite
	ruleDrop   = "drop"   // a part of a condition with && or ||: left out
	ruleShift  = "shift"  // a comparison: < for <=, and so on
	ruleOmit   = "omit"   // a statement: left out
	ruleReturn = "return" // a function: returns zeros at once
	ruleSwap   = "swap"   // two arguments of one type: one for the other
)

// change is a mutant made by rule. All of a package stand in one text, each behind a
// switch: a package is compiled once for all of them.
type change struct {
	ID   int    `json:"-"`
	File string `json:"file"`
	Func string `json:"func"`
	Rule string `json:"rule"`
	// Text is what is changed, Nth counts the like of it in the function, from 1.
	Text string `json:"text"`
	Nth  int    `json:"nth"`
	Line int    `json:"line"`
	room string
}

// key names a mutant for as long as the text around it stands.
func (c *change) key() string {
	return fmt.Sprintf("%s %s %s %d %s", c.File, c.Func, c.Rule, c.Nth, c.Text)
}

// insertion is text that is put in before a byte of the file.
type insertion struct {
	at    int
	text  string
	after bool // ends what begins elsewhere
}

// mutator makes the mutants of one file.
type mutator struct {
	room, file string
	src        []byte
	fset       *token.FileSet
	info       *types.Info
	next       int
	changes    []*change
	insertions []insertion
	barred     map[ast.Node]bool // what is no value
	negated    map[ast.Node]bool // what has a not before it, which is negated
	part       map[ast.Node]bool // what stands beside && or ||, and is left out
	fn         string
	seen       map[string]int
	unfit      int // what would not have compiled
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) text(n ast.Node) string { return string(m.src[m.offset(n.Pos()):m.offset(n.End())]) }

// squeeze makes one line of a text.
func squeeze(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 100 {
		s = s[:100]
	}
	return s
}

// add notes a mutant and returns its number.
func (m *mutator) add(rule string, n ast.Node, text string) int {
	c := &change{ID: m.next, File: m.file, Func: m.fn, Rule: rule, Text: squeeze(text), Line: m.fset.Position(n.Pos()).Line, room: m.room}
	m.next++
	m.seen[c.Func+"\x00"+c.Rule+"\x00"+c.Text]++
	c.Nth = m.seen[c.Func+"\x00"+c.Rule+"\x00"+c.Text]
	m.changes = append(m.changes, c)
	return c.ID
}

// wrap puts text around a node.
func (m *mutator) wrap(n ast.Node, before, after string) {
	m.insertions = append(m.insertions, insertion{m.offset(n.Pos()), before, false}, insertion{m.offset(n.End()), after, true})
}

// rewrite is the text with all that was put in. Of what begins at one byte the first is
// outside, of what ends at one the last is inside.
func (m *mutator) rewrite() []byte {
	var out []byte
	for i := 0; i <= len(m.src); i++ {
		for k := len(m.insertions) - 1; k >= 0; k-- {
			if x := m.insertions[k]; x.at == i && x.after {
				out = append(out, x.text...)
			}
		}
		for _, x := range m.insertions {
			if x.at == i && !x.after {
				out = append(out, x.text...)
			}
		}
		if i < len(m.src) {
			out = append(out, m.src[i])
		}
	}
	return out
}

// mutate makes the mutants of a file's functions.
func (m *mutator) mutate(f *ast.File) {
	m.barred, m.negated, m.part, m.seen = map[ast.Node]bool{}, map[ast.Node]bool{}, map[ast.Node]bool{}, map[string]int{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		m.fn = name(fn)
		if fn.Name.Name != "init" && fn.Name.Name != "main" {
			m.early(fn)
		}
		m.ends(fn.Type, fn.Body)
		m.walk(fn.Body)
	}
}

// name is a function's, with its receiver's.
func name(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if x, ok := t.(*ast.Ident); ok {
		return x.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// zeros returns zeros of a function's results.
func (m *mutator) zeros(t *ast.FuncType) string {
	if t.Results == nil || len(t.Results.List) == 0 || len(t.Results.List[0].Names) > 0 {
		return "return"
	}
	var out []string
	for _, r := range t.Results.List {
		out = append(out, "*new("+m.text(r.Type)+")")
	}
	return "return " + strings.Join(out, ", ")
}

// early returns at once. A function of one statement without results is left to omit.
func (m *mutator) early(fn *ast.FuncDecl) {
	bare := fn.Type.Results == nil || len(fn.Type.Results.List) == 0
	if len(fn.Body.List) == 0 || bare && len(fn.Body.List) == 1 {
		return
	}
	id := m.add(ruleReturn, fn, string(m.src[m.offset(fn.Pos()):m.offset(fn.Body.Lbrace)]))
	m.insertions = append(m.insertions, insertion{m.offset(fn.Body.Lbrace) + 1, fmt.Sprintf(" if mutant(%d) { %s }; ", id, m.zeros(fn.Type)), false})
}

// ends has a function that a left out statement would have left without an end return zeros.
func (m *mutator) ends(t *ast.FuncType, body *ast.BlockStmt) {
	if t.Results != nil && len(t.Results.List) > 0 {
		m.insertions = append(m.insertions, insertion{m.offset(body.Rbrace), "; " + m.zeros(t), true})
	}
}

// walk goes through a body, what is outside first.
func (m *mutator) walk(body *ast.BlockStmt) {
	tails := map[ast.Stmt]bool{last(body): true} // the end of a function is the business of return
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			m.ends(n.Type, n.Body)
			tails[last(n.Body)] = true
		case *ast.AssignStmt:
			m.bar(n.Lhs)
		case *ast.IncDecStmt:
			m.barred[n.X] = true
		case *ast.RangeStmt:
			m.bar([]ast.Expr{n.Key, n.Value})
		case *ast.ExprStmt:
			m.barred[n.X] = true
		case *ast.DeferStmt:
			m.barred[n.Call] = true
		case *ast.GoStmt:
			m.barred[n.Call] = true
		case *ast.SelectorExpr:
			m.barred[n.Sel] = true
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				m.barred[n.X] = true
			}
		case *ast.KeyValueExpr:
			if x, ok := n.Key.(*ast.Ident); ok {
				m.barred[x] = true
			}
		case *ast.CompositeLit:
			if m.tells(n) {
				return false
			}
		}
		if s, ok := n.(ast.Stmt); ok {
			if m.onlyTells(s) {
				return false
			}
			if !tails[s] {
				m.omit(s)
			}
		}
		if x, ok := n.(ast.Expr); ok && !m.barred[x] {
			m.condition(x)
		}
		if call, ok := n.(*ast.CallExpr); ok {
			m.swap(call)
		}
		return true
	})
}

// last is the return at the end of a function, nil where there is none.
func last(body *ast.BlockStmt) ast.Stmt {
	if n := len(body.List); n > 0 {
		if s, ok := body.List[n-1].(*ast.ReturnStmt); ok {
			return s
		}
	}
	return nil
}

func (m *mutator) bar(list []ast.Expr) {
	for _, x := range list {
		if x != nil {
			m.barred[x] = true
		}
	}
}

// omit leaves a statement out. What declares, and what holds others, is not left out.
func (m *mutator) omit(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return
		}
		if m.simple(s) { // the first part of an if, for or switch
			return
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt:
		if m.simple(s) {
			return
		}
	case *ast.GoStmt, *ast.DeferStmt, *ast.ReturnStmt:
	case *ast.BranchStmt:
		if s.Tok == token.FALLTHROUGH || s.Tok == token.GOTO {
			return
		}
	default:
		m.heads(s)
		return
	}
	id := m.add(ruleOmit, s, m.text(s))
	m.wrap(s, fmt.Sprintf("if !mutant(%d) { ", id), " }")
}

// heads bars the simple statements in the head of another one, which no if may replace.
func (m *mutator) heads(s ast.Stmt) {
	for _, part := range heads(s) {
		m.barred[part] = true
	}
}

func heads(s ast.Stmt) (out []ast.Node) {
	var parts []ast.Stmt
	switch s := s.(type) {
	case *ast.IfStmt:
		parts = []ast.Stmt{s.Init}
	case *ast.ForStmt:
		parts = []ast.Stmt{s.Init, s.Post}
	case *ast.SwitchStmt:
		parts = []ast.Stmt{s.Init}
	case *ast.TypeSwitchStmt:
		parts = []ast.Stmt{s.Init, s.Assign}
	case *ast.CommClause:
		parts = []ast.Stmt{s.Comm}
	case *ast.LabeledStmt:
		parts = []ast.Stmt{s.Stmt}
	}
	for _, p := range parts {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

func (m *mutator) simple(s ast.Stmt) bool { return m.barred[s] }

// condition negates a boolean value, leaves out its parts, and shifts comparisons.
func (m *mutator) condition(x ast.Expr) {
	if _, ok := x.(*ast.ParenExpr); ok { // its inside is one
		return
	}
	tv := m.info.Types[x]
	if basic, ok := tv.Type.(*types.Basic); !ok || basic.Info()&types.IsBoolean == 0 || tv.Value != nil || !tv.IsValue() {
		return
	}
	if not, ok := x.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		m.negated[ast.Unparen(not.X)] = true
	}
	if !m.negated[x] && !m.part[x] {
		id := m.add(ruleNegate, x, m.text(x))
		m.wrap(x, fmt.Sprintf("(mutant(%d) != (", id), "))")
	}
	b, ok := x.(*ast.BinaryExpr)
	if !ok {
		return
	}
	switch b.Op {
	case token.LAND, token.LOR:
		m.drop(b)
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		m.shift(b)
	}
}

// drop leaves out the parts of a condition.
func (m *mutator) drop(b *ast.BinaryExpr) {
	for _, part := range []ast.Expr{b.X, b.Y} {
		m.part[ast.Unparen(part)] = true
		if inner, ok := part.(*ast.BinaryExpr); ok && inner.Op == b.Op {
			continue // of a && b && c each is left out by itself
		}
		id := m.add(ruleDrop, part, m.text(part))
		if b.Op == token.LAND {
			m.wrap(part, fmt.Sprintf("(mutant(%d) || (", id), "))")
		} else {
			m.wrap(part, fmt.Sprintf("(!mutant(%d) && (", id), "))")
		}
	}
}

// shift makes a comparison strict, or not. Its sides are evaluated again only then.
func (m *mutator) shift(b *ast.BinaryExpr) {
	x, y := m.text(b.X), m.text(b.Y)
	id := m.add(ruleShift, b, m.text(b))
	if b.Op == token.LSS || b.Op == token.GTR {
		m.wrap(b, "(", fmt.Sprintf(" || mutant(%d) && (%s) == (%s))", id, x, y))
	} else {
		m.wrap(b, "(", fmt.Sprintf(" && !(mutant(%d) && (%s) == (%s)))", id, x, y))
	}
}

// swap puts one argument in place of another where both are of one type and are values
// that nothing happens for.
func (m *mutator) swap(call *ast.CallExpr) {
	if m.info.Types[call.Fun].IsType() || call.Ellipsis.IsValid() || m.formats(call) {
		return
	}
	for i := 0; i+1 < len(call.Args); i++ {
		a, b := call.Args[i], call.Args[i+1]
		ta, tb := m.info.TypeOf(a), m.info.TypeOf(b)
		if ta == nil || tb == nil || m.text(a) == m.text(b) || m.acts(a) || m.acts(b) {
			continue
		}
		if !types.Identical(ta, tb) || isUntypedNil(ta) {
			m.unfit++
			continue
		}
		if constant(m.info, a) && constant(m.info, b) {
			continue
		}
		id := m.add(ruleSwap, a, m.text(a)+", "+m.text(b))
		m.wrap(a, fmt.Sprintf("mutantPick(%d, ", id), ", "+m.text(b)+")")
		m.wrap(b, fmt.Sprintf("mutantPick(%d, ", id), ", "+m.text(a)+")")
		i++
	}
}

func isUntypedNil(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

func constant(info *types.Info, x ast.Expr) bool { return info.Types[x].Value != nil }

// symmetric are functions of which the order of arguments makes no difference.
var symmetric = []string{"max", "min", "errors.Join", "math.Max", "math.Min", "errors.Is", "within", "reflect.DeepEqual"}

// formats reports whether a call only makes text, or has no order.
func (m *mutator) formats(call *ast.CallExpr) bool {
	f := m.text(call.Fun)
	return strings.HasPrefix(f, "fmt.") || slices.Contains(symmetric, f)
}

// acts reports whether the evaluation of a value may do something.
func (m *mutator) acts(x ast.Expr) (does bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			does = does || !m.info.Types[n.Fun].IsType()
		case *ast.FuncLit, *ast.CompositeLit:
			does = true
		case *ast.UnaryExpr:
			does = does || n.Op == token.ARROW
		}
		return !does
	})
	return does
}

// telling are the calls that only tell a person, or a test, what goes on.
var telling = []string{"tell", "tellTrouble", "failpoint", "report", "remark", "warn"}

// onlyTells reports whether a statement only tells.
func (m *mutator) onlyTells(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			return slices.Contains(telling, sel.Sel.Name)
		}
	case *ast.AssignStmt:
		tells := false
		ast.Inspect(s, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			tells = tells || ok && m.tells(lit)
			return !tells
		})
		return tells
	}
	return false
}

// tells reports whether a value is a line for a person.
func (m *mutator) tells(lit *ast.CompositeLit) bool {
	x, ok := lit.Type.(*ast.Ident)
	return ok && (x.Name == "Said" || x.Name == "Alarm" || x.Name == "Fallen")
}
