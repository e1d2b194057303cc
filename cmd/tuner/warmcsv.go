package main

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

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
)

// readWarmCSV reads observations from a table: a column for each variable, NAME or
// x_NAME, and one for the objective, its name or "mean"; variance, shots and valid are
// taken where they are there, all else is passed over. Units stand in the header,
// "NAME [UNIT]", or in FILE.units.json, as tuner export writes them.
func (w *wiring) readWarmCSV(file string) (s journal.WarmSource, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return s, configs.NewError(configs.Problem{File: file, What: "cannot be read: " + err.Error()})
	}
	sum := sha256.Sum256(text)
	s.SHA256 = hex.EncodeToString(sum[:])
	p := warmTable{w: w, file: file, reader: csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))}
	p.reader.Comment, p.reader.TrimLeadingSpace = '#', true
	if p.units, err = unitsBeside(file); err != nil {
		return s, err
	}
	header, err := p.reader.Read()
	if err != nil {
		return s, configs.NewError(configs.Problem{File: file, What: "has no header: " + err.Error()})
	}
	if p.find(header); len(p.problems) == 0 {
		p.readRows(&s)
	}
	return s, configs.NewError(p.problems...)
}

// unitsBeside reads the units file of an export, if there is one.
func unitsBeside(file string) (map[string]string, error) {
	text, err := os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".units.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var u journal.Units
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
	w        *wiring
	file     string
	reader   *csv.Reader
	units    map[string]string // of the file beside it
	problems []configs.Problem
	// variables, mean, variance, shots and valid are places of columns, -1: none.
	variables                    []int
	mean, variance, shots, valid int
}

func (p *warmTable) bad(line int, key, what, hint string) {
	p.problems = append(p.problems, configs.Problem{File: p.file, Line: line, Key: key, What: what, Hint: hint})
}

// find places the columns by the header.
func (p *warmTable) find(header []string) {
	names, units := make([]string, len(header)), make([]string, len(header))
	for i, h := range header {
		names[i], units[i] = splitUnit(h)
		if units[i] == "" {
			units[i] = p.units[names[i]]
		}
	}
	column := func(wanted ...string) int {
		for _, name := range wanted {
			if i := slices.Index(names, name); i >= 0 {
				return i
			}
		}
		return -1
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
	for _, v := range p.w.opt.Variables {
		i := column("x_"+v.Name, v.Name)
		check(i, v.Name, v.Unit)
		p.variables = append(p.variables, i)
	}
	o := &p.w.opt.Objective
	p.mean = column("mean", o.Name)
	check(p.mean, o.Name, o.Unit)
	p.variance, p.shots, p.valid = column("variance"), column("shots"), column("valid")
}

// splitUnit parts "NAME [UNIT]".
func splitUnit(header string) (name, unit string) {
	header = strings.TrimSpace(header)
	if at := strings.LastIndex(header, "["); at > 0 && strings.HasSuffix(header, "]") {
		return strings.TrimSpace(header[:at]), header[at+1 : len(header)-1]
	}
	return header, ""
}

// readRows reads what comes below the header. A row that says it is not valid, or has no
// value, tells nothing.
func (p *warmTable) readRows(s *journal.WarmSource) {
	for len(p.problems) < maxCandidateProblems {
		record, err := p.reader.Read()
		if err == io.EOF {
			return
		}
		line := 0
		if err == nil {
			line, _ = p.reader.FieldPos(0)
		} else {
			p.bad(0, "", err.Error(), "every row has as many cells as the header")
			return
		}
		if p.valid >= 0 && slices.Contains([]string{"false", "0", "no"}, strings.ToLower(strings.TrimSpace(record[p.valid]))) {
			continue
		}
		o := journal.WarmObservation{Mean: p.number(line, record, p.mean), Variance: math.NaN(), Shots: 1}
		for _, c := range p.variables {
			o.X = append(o.X, p.number(line, record, c))
		}
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
		if !math.IsNaN(o.Mean) && !slices.ContainsFunc(o.X, math.IsNaN) {
			p.w.takeWarm(s, o)
		}
	}
}

// number reads a cell; an empty one is NaN.
func (p *warmTable) number(line int, record []string, column int) float64 {
	cell := strings.TrimSpace(record[column])
	if cell == "" {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsInf(x, 0) {
		p.bad(line, fmt.Sprintf("column %d", column+1), fmt.Sprintf("%q is not a finite number", cell), "")
		return math.NaN()
	}
	return x
}
