package main

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParsePython(t *testing.T) {
	for text, want := range map[string]any{
		"1":                          1.0,
		" -2.5e-3 # a remark":        -2.5e-3,
		"inf":                        math.Inf(1),
		"-inf":                       math.Inf(-1),
		"True":                       true,
		"None":                       nil,
		"'it\\'s'":                   "it's",
		`"a\\b"`:                     `a\b`,
		"[]":                         []any{},
		"(1, 2,)":                    []any{1.0, 2.0},
		"[array([ 1., 2. ]), [3]]":   []any{[]any{1.0, 2.0}, []any{3.0}},
		"array([1, 2], dtype=int64)": []any{1.0, 2.0},
		"np.float64(0.5)":            0.5,
		"{'a': [1, {'b': 2}], }":     nil,
	} {
		if got, err := parsePython(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := parsePython("nan"); err != nil || !math.IsNaN(got.(float64)) {
		t.Errorf("nan: %v, %v", got, err)
	}
	for _, text := range []string{"", "[1 2]", "[1", "'open", "1 2", "{1}", "f(", "f", "1e", "--1", strings.Repeat("[", 100), "array([1]", "$"} {
		if got, err := parsePython(text); err == nil {
			t.Errorf("%q: %v and no error", text, got)
		}
	}
}

// Whatever the text, reading it ends, and what comes out is one of the kinds that are
// told of.
func FuzzParsePython(f *testing.F) {
	for _, text := range []string{"[array([1., -2.]), np.float64(inf)]", "{'a': (True, None)}", `"\`, "((((", "array([1], dtype=x", "-inf"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parsePython(text)
		if err != nil {
			return
		}
		switch v.(type) {
		case nil, bool, float64, string, []any:
		default:
			t.Errorf("%q gives a %T", text, v)
		}
	})
}
