package main

import (
	"fmt"
	"math"
	"strings"
)

// parseMLOOP reads an archive that M-LOOP has written as text: a line "key=value" for
// each member, the value as Python writes it (mloop/utilities.py, dict_to_txt_file). A
// controller's archive has out_params, in_costs and in_bads, a learner's all_params,
// all_costs and bad_run_indexs. M-LOOP minimises; its result is called cost here.
func parseMLOOP(text string) (*foreignRun, error) {
	wanted := map[string]any{"param_names": nil, "out_params": nil, "in_costs": nil, "in_bads": nil, "all_params": nil, "all_costs": nil, "bad_run_indexs": nil}
	lines := map[string]int{}
	for n, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if _, known := wanted[key]; !ok || !known {
			continue
		}
		v, err := parsePython(value)
		if err != nil {
			return nil, &foreignError{n + 1, key, err.Error()}
		}
		wanted[key], lines[key] = v, n+1
	}
	a := mloopArchive{wanted, lines}
	if wanted["in_costs"] != nil {
		return a.run("out_params", "in_costs", a.flags("in_bads"))
	}
	if wanted["all_costs"] != nil {
		return a.run("all_params", "all_costs", a.indexes("bad_run_indexs"))
	}
	return nil, &foreignError{what: "it has neither in_costs (a controller's archive) nor all_costs (a learner's)"}
}

// mloopArchive is what is used of an archive, with the lines where it stands.
type mloopArchive struct {
	values map[string]any
	lines  map[string]int
}

// run makes columns of the parameters and costs; bad says which runs were bad. A run
// under way has parameters and no cost yet.
func (a mloopArchive) run(params, costs string, bad func(i int) bool) (*foreignRun, error) {
	rows, ok := a.values[params].([]any)
	if !ok {
		return nil, &foreignError{a.lines[params], params, "it is not a list of settings"}
	}
	results, ok := a.values[costs].([]any)
	if !ok {
		return nil, &foreignError{a.lines[costs], costs, "it is not a list of numbers"}
	}
	names, _ := a.values["param_names"].([]any)
	r := &foreignRun{program: "M-LOOP", objective: "cost", minimize: true}
	for i := range min(len(rows), len(results)) {
		setting, ok := rows[i].([]any)
		if !ok {
			return nil, &foreignError{a.lines[params], params, fmt.Sprintf("entry %d is not a list of numbers", i)}
		}
		if i == 0 {
			r.names, r.columns = mloopNames(names, len(setting)), make([][]float64, len(setting)+1)
		}
		if len(setting) != len(r.columns)-1 {
			return nil, &foreignError{a.lines[params], params, fmt.Sprintf("entry %d has %d values, the first has %d", i, len(setting), len(r.columns)-1)}
		}
		for j, v := range append(setting, results[i]) {
			x, ok := v.(float64)
			if !ok {
				x = math.NaN()
			}
			r.columns[j] = append(r.columns[j], x)
		}
		r.failed = append(r.failed, bad(i))
	}
	if len(r.failed) == 0 {
		return nil, &foreignError{a.lines[costs], costs, "it holds no run"}
	}
	return r, nil
}

// mloopNames names the parameters as M-LOOP does, and its result.
func mloopNames(given []any, n int) (names []string) {
	for i := range n {
		name := fmt.Sprintf("param_%d", i)
		if i < len(given) {
			if text, ok := given[i].(string); ok && text != "" {
				name = text
			}
		}
		names = append(names, name)
	}
	return append(names, "cost")
}

// flags reads a list of truth values, one for each run.
func (a mloopArchive) flags(key string) func(int) bool {
	list, _ := a.values[key].([]any)
	return func(i int) bool { return i < len(list) && list[i] == true }
}

// indexes reads a list of the runs that were bad; early versions wrote lists in it.
func (a mloopArchive) indexes(key string) func(int) bool {
	bad := map[float64]bool{}
	var take func(v any)
	take = func(v any) {
		switch v := v.(type) {
		case float64:
			bad[v] = true
		case []any:
			for _, inner := range v {
				take(inner)
			}
		}
	}
	take(a.values[key])
	return func(i int) bool { return bad[float64(i)] }
}
