package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
)

// readWarmCSV reads observations from a table: a column for each variable, NAME or
// x_NAME, and one for the objective, its name or "mean"; variance, shots, valid and
// struck are taken where they are there, all else is passed over. Units stand in the header,
// "NAME [UNIT]", or in FILE.units.json, as tuner export writes them.
func (x warmReader) readWarmCSV(file string) (s journal.WarmSource, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return s, configs.NewError(configs.Problem{File: file, What: "cannot be read: " + err.Error()})
	}
	sum := sha256.Sum256(text)
	s.SHA256 = hex.EncodeToString(sum[:])
	if problem := plainTable(text); problem != nil {
		problem.File = file
		return s, configs.NewError(*problem)
	}
	p := warmTable{of: x, file: file, reader: csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))}
	p.reader.Comment, p.reader.TrimLeadingSpace = '#', true
	if p.units, err = unitsBeside(file); err != nil {
		return s, err
	}
	header, err := p.reader.Read()
	if err != nil {
		p.badRow(err)
		return s, configs.NewError(p.problems...)
	}
	if p.find(header); len(p.problems) == 0 {
		p.readRows(&s)
	}
	if len(p.problems) == 0 {
		p.problems = nothingTaken(file, s, p.empty)
	}
	return s, configs.NewError(p.problems...)
}

// plainTable refuses what no reading as a table with commas would make sense of.
func plainTable(text []byte) *configs.Problem {
	const save = "save it as UTF-8 with commas between cells and a point in numbers"
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return &configs.Problem{What: "is empty", Hint: "the first line names the columns, with their units: power [W],temp [degC]"}
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text, 0) >= 0:
		return &configs.Problem{What: "is not text in UTF-8, it looks like UTF-16", Hint: save}
	case !utf8.Valid(text):
		line := 1
		for before := range bytes.Lines(text) {
			if !utf8.Valid(before) {
				break
			}
			line++
		}
		return &configs.Problem{Line: line, What: "is not text in UTF-8", Hint: save}
	case bytes.IndexByte(first, ',') < 0 && bytes.ContainsAny(first, ";\t"):
		return &configs.Problem{Line: 1, What: "has its cells parted by semicolons or tabs", Hint: save}
	}
	return nil
}

// unitsBeside reads the units file of an export, if there is one.
func unitsBeside(file string) (map[string]string, error) {
	text, err := os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".units.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var u export.Units
	if err == nil {
		err = json.Unmarshal(text, &u)
	}
	if err != nil {
		return nil, configs.NewError(configs.Problem{File: file, What: "its units file cannot be read: " + err.Error()})
	}
	units := map[string]string{}
	for _, c := range u.Columns {
		units[c.Name] = c.Unit
	}
	return units, nil
}

// warmTable is a table of observations.
type warmTable struct {
	of       warmReader
	file     string
	reader   *csv.Reader
	units    map[string]string // of the file beside it
	problems []configs.Problem
	// variables, mean, variance, shots, valid and struck are places of columns, -1: none.
	variables                            []int
	mean, variance, shots, valid, struck int
	header                               []string
	// empty counts rows that say they are not valid or struck, or have no value.
	empty int
}

func (p *warmTable) bad(line int, key, what, hint string) {
	p.problems = append(p.problems, configs.Problem{File: p.file, Line: line, Key: key, What: what, Hint: hint})
}

// badRow tells of a line that is no row of the table.
func (p *warmTable) badRow(err error) {
	line, what, hint := 0, err.Error(), ""
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		line, what, hint = parse.StartLine, parse.Err.Error(), "a quotation mark in a cell is doubled, and one that begins a cell ends it"
		if errors.Is(err, csv.ErrFieldCount) {
			what, hint = "has another number of cells than the header", "every row has as many cells as the header; a comma in a number parts it in two"
		}
	}
	if errors.Is(err, io.EOF) {
		what, hint = "has no header", "the first line names the columns, with their units: power [W],temp [degC]"
	}
	p.bad(line, "", what, hint)
}

// find places the columns by the header.
func (p *warmTable) find(header []string) {
	p.header = header
	names, units := make([]string, len(header)), make([]string, len(header))
	for i, h := range header {
		names[i], units[i] = splitUnit(h)
		if units[i] == "" {
			units[i] = p.units[names[i]]
		}
	}
	column := func(wanted ...string) int {
		found := -1
		for i, name := range names {
			switch {
			case !slices.Contains(wanted, name):
			case found < 0:
				found = i
			default:
				p.bad(1, wanted[len(wanted)-1], fmt.Sprintf("has two columns, %d (%s) and %d (%s)", found+1, header[found], i+1, header[i]), "leave only the one that counts")
			}
		}
		return found
	}
	check := func(i int, name, unit string) {
		switch {
		case i < 0:
			p.bad(1, name, "has no column", "the header names each variable (NAME or x_NAME) and the objective (its name, or mean)")
		case units[i] == unit, units[i] == "" && unit == "1":
		case units[i] == "":
			p.bad(1, name, "has no unit", fmt.Sprintf("write %q in the header, or keep the units file of tuner export beside the table", names[i]+" ["+unit+"]"))
		default:
			p.bad(1, name, fmt.Sprintf("is in %q there, and in %q here", units[i], unit), "convert the column")
		}
	}
	for _, v := range p.of.opt.Variables {
		i := column("x_"+v.Name, v.Name)
		check(i, v.Name, v.Unit)
		p.variables = append(p.variables, i)
	}
	o := &p.of.opt.Objective
	p.mean = column("mean", o.Name)
	check(p.mean, o.Name, o.Unit)
	p.variance, p.shots, p.valid, p.struck = column("variance"), column("shots"), column("valid"), column("struck")
	if v := p.variance; v >= 0 && units[v] != "" && units[v] != export.Squared(o.Unit) {
		p.bad(1, "variance", fmt.Sprintf("is in %q there, and in %q here", units[v], export.Squared(o.Unit)), "convert the column")
	}
}

// splitUnit parts "NAME [UNIT]".
func splitUnit(header string) (name, unit string) {
	header = strings.TrimSpace(header)
	if at := strings.LastIndex(header, "["); at > 0 && strings.HasSuffix(header, "]") {
		return strings.TrimSpace(header[:at]), header[at+1 : len(header)-1]
	}
	return header, ""
}

// readRows reads what comes below the header. A row that says it is not valid or struck, or has
// no value, tells nothing.
func (p *warmTable) readRows(s *journal.WarmSource) {
	for len(p.problems) < maxCandidateProblems {
		record, err := p.reader.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			p.badRow(err)
			return
		}
		line, _ := p.reader.FieldPos(0)
		if !p.isValid(line, record) {
			continue
		}
		if p.struck >= 0 && strings.TrimSpace(record[p.struck]) != "" {
			p.empty++
			continue
		}
		o := journal.WarmObservation{Variance: math.NaN(), Shots: 1}
		for _, c := range p.variables {
			o.X = append(o.X, p.number(line, record, c))
		}
		o.Mean = p.number(line, record, p.mean)
		if p.shots >= 0 && strings.TrimSpace(record[p.shots]) != "" {
			if o.Shots, err = strconv.Atoi(strings.TrimSpace(record[p.shots])); err != nil || o.Shots < 1 {
				p.bad(line, "shots", fmt.Sprintf("%q is not a number of shots, 1 or more", record[p.shots]), "")
			}
		}
		if p.variance >= 0 && o.Shots > 1 {
			if o.Variance = p.number(line, record, p.variance); o.Variance < 0 {
				p.bad(line, "variance", "must not be negative", "")
			}
		}
		if math.IsNaN(o.Mean) || slices.ContainsFunc(o.X, math.IsNaN) {
			p.empty++
			continue
		}
		p.of.takeWarm(s, o)
	}
}

// isValid reports whether a row says of itself that it is a measurement. One that does
// not say is.
func (p *warmTable) isValid(line int, record []string) bool {
	if p.valid < 0 {
		return true
	}
	switch word := strings.ToLower(strings.TrimSpace(record[p.valid])); word {
	case "", "true", "1", "yes":
		return true
	case "false", "0", "no":
	default:
		p.bad(line, "valid", fmt.Sprintf("%q is neither true nor false", record[p.valid]), "")
	}
	p.empty++
	return false
}

// warmLimit bounds the size of numbers: the model squares them.
const warmLimit = 1e100

// number reads a cell; an empty one is NaN.
func (p *warmTable) number(line int, record []string, column int) float64 {
	cell := strings.TrimSpace(record[column])
	if cell == "" {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(cell, 64)
	what, hint := "", ""
	switch {
	case (err != nil || math.IsInf(x, 0)) && strings.Count(cell, ",") == 1:
		what, hint = "%q is not a finite number", "write a point for the decimal comma"
	case err != nil || math.IsInf(x, 0):
		what = "%q is not a finite number"
	case math.Abs(x) > warmLimit:
		what, hint = "%q is beyond 1e100, which no instrument gives", "leave the row out"
	default:
		return x
	}
	p.bad(line, fmt.Sprintf("column %d, %s", column+1, p.header[column]), fmt.Sprintf(what, cell), hint)
	return math.NaN()
}
