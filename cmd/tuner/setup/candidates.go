package setup

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/configs"
)

// maxCandidates bounds a candidate file. A decision looks at every candidate, so
// a longer list would be a slow one.
const maxCandidates = 100_000

// maxCandidateProblems bounds the problems reported of one file: a wrong column
// makes one in every row.
const maxCandidateProblems = 10

// readCandidates loads the finite set of settings that [domain] candidates
// names: one row per candidate, one value per variable in the configuration's
// order. The file is CSV headed by the variables' names, in any order; lines that
// begin with # are comments.
func readCandidates(path string, variables []configs.Variable) ([][]float64, []configs.Problem) {
	text, err := os.ReadFile(path)
	if err != nil {
		reason := err
		if pathErr, ok := errors.AsType[*os.PathError](err); ok {
			reason = pathErr.Err
		}
		return nil, []configs.Problem{{File: path, What: "cannot be read: " + reason.Error()}}
	}
	p := candidateParser{path: path, variables: variables, reader: csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))}
	p.reader.Comment = '#'
	p.reader.TrimLeadingSpace = true
	p.reader.ReuseRecord = true
	rows := p.parse()
	if n := len(p.problems); n > maxCandidateProblems {
		p.problems = append(p.problems[:maxCandidateProblems:maxCandidateProblems], configs.Problem{
			File: path, Line: p.problems[n-1].Line,
			What: fmt.Sprintf("and %d more problems up to here", n-maxCandidateProblems),
		})
	}
	return rows, p.problems
}

// candidateParser reads one file.
type candidateParser struct {
	path      string
	variables []configs.Variable
	reader    *csv.Reader
	problems  []configs.Problem
	// order gives the variable of each column.
	order []int
}

// parse reads header and rows. Rows with a problem are not returned.
func (p *candidateParser) parse() [][]float64 {
	header, err := p.reader.Read()
	if err != nil {
		p.readError(err)
		return nil
	}
	if !p.header(header) {
		return nil
	}
	var rows [][]float64
	seen := map[string]int{}
	for {
		record, err := p.reader.Read()
		if err != nil {
			p.readError(err)
			break
		}
		if len(rows) == maxCandidates {
			p.report(0, "", fmt.Sprintf("has more than %d candidates", maxCandidates), "leave the range continuous instead of listing settings")
			break
		}
		row, ok := p.row(record)
		if !ok {
			continue
		}
		key := fmt.Sprint(row)
		if first, twice := seen[key]; twice {
			p.report(0, "", fmt.Sprintf("repeats the candidate of line %d", first), "list every candidate once")
			continue
		}
		seen[key], _ = p.reader.FieldPos(0)
		rows = append(rows, row)
	}
	if len(rows) == 0 && len(p.problems) == 0 {
		p.problems = append(p.problems, configs.Problem{File: p.path, What: "has no candidate", Hint: "below the header, write one setting per line"})
	}
	return rows
}

// header maps columns to variables.
func (p *candidateParser) header(names []string) bool {
	p.order = make([]int, len(names))
	seen := map[string]bool{}
	for c, name := range names {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(p.variables, func(v configs.Variable) bool { return v.Name == name })
		switch {
		case i < 0:
			p.report(c, name, "is not a variable of the configuration", "the header names the variables: "+p.names())
		case seen[name]:
			p.report(c, name, "is the name of two columns", "")
		default:
			seen[name] = true
			p.order[c] = i
		}
	}
	for _, v := range p.variables {
		if !seen[v.Name] && len(p.problems) == 0 {
			p.report(0, v.Name, "has no column", "the header names every variable: "+p.names())
		}
	}
	return len(p.problems) == 0
}

// row turns one record into values in the variables' order.
func (p *candidateParser) row(record []string) ([]float64, bool) {
	row, ok := make([]float64, len(p.variables)), true
	for c, text := range record {
		v := &p.variables[p.order[c]]
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		what, hint := "", ""
		switch {
		case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
			what = fmt.Sprintf("%q is not a finite number", text)
		case !v.Range.Contains(x):
			what = fmt.Sprintf("%v %s lies outside the range [%v, %v]", x, v.Unit, v.Range.Lo, v.Range.Hi)
			hint = "remove the candidate, or widen the variable's range"
		case v.Integer && x != math.Trunc(x):
			what = fmt.Sprintf("%v is not a whole number, which integer = true asks for", x)
		case len(v.Levels) > 0 && !slices.Contains(v.Levels, x):
			what = fmt.Sprintf("%v is none of the levels %v", x, v.Levels)
		}
		if what != "" {
			p.report(c, v.Name, what, hint)
			ok = false
		}
		row[p.order[c]] = x
	}
	return row, ok
}

// readError reports what the CSV reader could not read; the end of the file is
// no problem.
func (p *candidateParser) readError(err error) {
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		p.problems = append(p.problems, configs.Problem{File: p.path, Line: at.Line,
			What: fmt.Sprintf("column %d: %v", at.Column, at.Err)})
	} else if p.order == nil {
		p.problems = append(p.problems, configs.Problem{File: p.path, What: "is empty",
			Hint: "the first line names the variables: " + p.names()})
	}
}

// report adds a problem at the field with the given index of the current record.
func (p *candidateParser) report(field int, key, what, hint string) {
	line, column := p.reader.FieldPos(field)
	p.problems = append(p.problems, configs.Problem{File: p.path, Line: line, Key: key,
		What: fmt.Sprintf("column %d: %s", column, what), Hint: hint})
}

func (p *candidateParser) names() string {
	names := make([]string, len(p.variables))
	for i, v := range p.variables {
		names[i] = v.Name
	}
	return strings.Join(names, ",")
}
