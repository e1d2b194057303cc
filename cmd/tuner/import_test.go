package main

import (
	"bytes"
	"testing"
)

// Archives as M-LOOP, Xopt and Badger write them (scripts/foreign_archives.py) all hold
// the same three good runs and one that failed.
func TestReadForeign(t *testing.T) {
	for _, c := range []struct {
		file, program, objective string
		minimize                 bool
		means                    []float64 // of the good rows
	}{
		{"controller_archive.txt", "M-LOOP", "cost", true, []float64{0.25, 0.125, -0.5}},
		{"learner_archive.txt", "M-LOOP", "cost", true, []float64{0.25, 0.125, -0.5}},
		{"xopt3.yaml", "Xopt", "atoms", false, []float64{0.75, 0.875, 1.5}},
		{"badger.yaml", "Badger", "atoms", false, []float64{0.75, 0.875, 1.5}},
	} {
		run, err := readForeign("testdata/import/" + c.file)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if run.program != c.program || run.objective != c.objective || run.minimize != c.minimize || len(run.failed) != 4 {
			t.Errorf("%s: %+v", c.file, run)
		}
		good := 0
		for k, failed := range run.failed {
			if failed != (k == 2) {
				t.Errorf("%s: row %d failed: %v", c.file, k, failed)
			}
			if failed {
				continue
			}
			for j, want := range map[string]float64{"current": []float64{1.5, 2, 0.5, 1}[k], "detuning": []float64{-20.5, -18.25, -30, -25}[k], c.objective: c.means[good]} {
				if got := run.columns[indexOf(t, run.names, j)][k]; got != want {
					t.Errorf("%s: %s of row %d is %v, want %v", c.file, j, k, got, want)
				}
			}
			good++
		}
	}
}

func indexOf(t *testing.T, names []string, name string) int {
	t.Helper()
	for i, n := range names {
		if n == name {
			return i
		}
	}
	t.Fatalf("there is no %q among %q", name, names)
	return -1
}

// Names that an archive does not have are M-LOOP's own, and a run under way counts for
// nothing.
func TestMLOOPWithoutNames(t *testing.T) {
	run, err := parseMLOOP("out_params=[array([1., 2.]), array([3., 4.])]\nin_costs=[0.5]\n")
	if err != nil || len(run.failed) != 1 || run.names[0] != "param_0" || run.names[1] != "param_1" {
		t.Errorf("%+v, %v", run, err)
	}
}

func FuzzForeign(f *testing.F) {
	f.Add([]byte("out_params=[array([1., 2.])]\nin_costs=[0.5]\nin_bads=[False]\n"), true)
	f.Add([]byte("data: {a: [1, 2], b: {0: 1, '1': 2}}\nvocs: {objectives: {b: MINIMIZE}}\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, mloop bool) {
		parse := parseXopt
		if mloop {
			parse = func(b []byte) (*foreignRun, error) { return parseMLOOP(string(b)) }
		}
		run, err := parse(bytes.Clone(text))
		if err != nil {
			return
		}
		if len(run.names) != len(run.columns) {
			t.Fatalf("%d names for %d columns", len(run.names), len(run.columns))
		}
		for i, c := range run.columns {
			if len(c) != len(run.failed) {
				t.Fatalf("column %q has %d rows of %d", run.names[i], len(c), len(run.failed))
			}
		}
	})
}
