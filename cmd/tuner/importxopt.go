package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// xoptFile is what is used of a file that Xopt or Badger has dumped (xopt/base.py, dump):
// the data frame by columns, and the vocabulary, which stands at the top or, from Xopt 3
// on, with the generator.
type xoptFile struct {
	Data      map[string]any `yaml:"data"`
	VOCS      xoptVOCS       `yaml:"vocs"`
	Generator struct {
		VOCS xoptVOCS `yaml:"vocs"`
	} `yaml:"generator"`
	Environment any `yaml:"environment"`
}

// xoptVOCS names variables and objectives. An objective is "MINIMIZE" or "MAXIMIZE", or
// has a type, MinimizeObjective or MaximizeObjective.
type xoptVOCS struct {
	Variables  map[string]any `yaml:"variables"`
	Objectives map[string]any `yaml:"objectives"`
}

// xoptError is the column that says which evaluations failed.
const xoptError = "xopt_error"

// parseXopt reads a file of Xopt or Badger.
func parseXopt(text []byte) (*foreignRun, error) {
	var f xoptFile
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, &foreignError{what: strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	vocs := f.VOCS
	if len(vocs.Objectives) == 0 {
		vocs = f.Generator.VOCS
	}
	switch {
	case len(f.Data) == 0:
		return nil, &foreignError{key: "data", what: "it holds no data"}
	case len(vocs.Objectives) != 1:
		return nil, &foreignError{key: "vocs.objectives", what: fmt.Sprintf("it has %d objectives, and one is needed", len(vocs.Objectives))}
	}
	r := &foreignRun{program: "Xopt"}
	if f.Environment != nil {
		r.program = "Badger"
	}
	for name, sense := range vocs.Objectives {
		r.objective, r.minimize = name, strings.Contains(strings.ToLower(fmt.Sprint(sense)), "minimize")
	}
	rows := 0
	for _, name := range slices.Sorted(maps.Keys(f.Data)) {
		column, err := xoptColumn(f.Data[name])
		if err != nil {
			return nil, &foreignError{key: "data." + name, what: err.Error()}
		}
		if r.names == nil {
			rows = len(column)
		}
		if len(column) != rows {
			return nil, &foreignError{key: "data." + name, what: fmt.Sprintf("it has %d rows, the others have %d", len(column), rows)}
		}
		if name == xoptError {
			for _, v := range column {
				r.failed = append(r.failed, v == true)
			}
			continue
		}
		r.names, r.columns = append(r.names, name), append(r.columns, xoptNumbers(column))
	}
	if r.failed == nil {
		r.failed = make([]bool, rows)
	}
	return r, nil
}

// xoptColumn is a column in the order of its rows: a list, or a table by row number.
func xoptColumn(v any) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case map[string]any:
		return byRow(v)
	case map[any]any:
		return byRow(v)
	}
	return nil, fmt.Errorf("it is a %T, and not a column", v)
}

// byRow orders a table by row number.
func byRow[K comparable](table map[K]any) (out []any, err error) {
	rows := map[int]any{}
	for key, value := range table {
		n, err := strconv.Atoi(fmt.Sprint(key))
		if err != nil {
			return nil, fmt.Errorf("%q is no row number", fmt.Sprint(key))
		}
		rows[n] = value
	}
	for _, n := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, rows[n])
	}
	return out, nil
}

// xoptNumbers are a column's numbers, NaN where there is none.
func xoptNumbers(column []any) []float64 {
	out := make([]float64, len(column))
	for i, v := range column {
		switch v := v.(type) {
		case float64:
			out[i] = v
		case int:
			out[i] = float64(v)
		case int64:
			out[i] = float64(v)
		default:
			out[i] = math.NaN()
		}
	}
	return out
}
