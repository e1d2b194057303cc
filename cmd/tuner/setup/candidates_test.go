package setup

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/labtuner/tuner/configs"
)

func TestReadCandidates(t *testing.T) {
	variables := []configs.Variable{
		{Name: "a", Unit: "mm", Range: configs.Range{Lo: 0, Hi: 10}},
		{Name: "n", Unit: "1", Range: configs.Range{Lo: 1, Hi: 5}, Integer: true},
		{Name: "l", Unit: "1", Range: configs.Range{Lo: 0, Hi: 1}, Levels: []float64{0, 0.5, 1}},
	}
	for name, c := range map[string]struct {
		text string
		want [][]float64
		// problems are the messages, without the file's name.
		problems []string
	}{
		"in order": {"a,n,l\n1.5,2,0.5\n2,3,1\n", [][]float64{{1.5, 2, 0.5}, {2, 3, 1}}, nil},
		"columns in another order, comments, blanks, a byte order mark": {
			"\ufeff# made by hand\nl, a ,n\n0.5, 1.5, 2\n\n# end\n",
			[][]float64{{1.5, 2, 0.5}}, nil},
		"unknown and missing": {"a,b,l\n1,2,0\n", nil,
			[]string{":1: b: column 3: is not a variable of the configuration"}},
		"missing column": {"a,n\n1,2\n", nil, []string{":1: l: column 1: has no column"}},
		"column twice":   {"a,n,l,a\n1,2,0,1\n", nil, []string{":1: a: column 7: is the name of two columns"}},
		"values": {"a,n,l\n11,2,0\n1,2.5,0.2\nx,1,1\n1,NaN,1\n", nil, []string{
			":2: a: column 1: 11 mm lies outside the range [0, 10]",
			":3: n: column 3: 2.5 is not a whole number, which integer = true asks for",
			":3: l: column 7: 0.2 is none of the levels [0 0.5 1]",
			`:4: a: column 1: "x" is not a finite number`,
			`:5: n: column 3: "NaN" is not a finite number`,
		}},
		"twice":           {"a,n,l\n1,2,0\n3,2,0\n1.0,2,0\n", [][]float64{{1, 2, 0}, {3, 2, 0}}, []string{":4: column 1: repeats the candidate of line 2"}},
		"too few fields":  {"a,n,l\n1,2\n", nil, []string{":2: column 1: wrong number of fields"}},
		"no row":          {"a,n,l\n", nil, []string{": has no candidate"}},
		"empty":           {"", nil, []string{": is empty"}},
		"an open quote":   {"a,n,l\n\"1,2,0\n", nil, []string{`:2: column 8: extraneous or missing " in quoted-field`}},
		"many, shortened": {"a,n,l\n" + strings.Repeat("x,1,1\n", 12), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "points.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			rows, problems := readCandidates(path, variables)
			if name == "many, shortened" {
				if n := len(problems); n != maxCandidateProblems+1 || !strings.Contains(problems[n-1].What, "2 more") {
					t.Errorf("got %d problems, the last %v", n, problems[n-1])
				}
				return
			}
			var got []string
			for _, p := range problems {
				got = append(got, strings.TrimPrefix(p.String(), path))
			}
			if !reflect.DeepEqual(rows, c.want) || !reflect.DeepEqual(got, c.problems) {
				t.Errorf("rows %v, problems %q\nwant %v, %q", rows, got, c.want, c.problems)
			}
		})
	}
	_, problems := readCandidates(filepath.Join(t.TempDir(), "none.csv"), variables)
	if len(problems) != 1 || !strings.HasSuffix(problems[0].String(), "none.csv: cannot be read: no such file or directory") {
		t.Errorf("a file that is not there: %v", problems)
	}
}
