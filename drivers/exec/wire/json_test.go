package wire

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	for text, want := range map[string]any{
		`null`:                     nil,
		`true`:                     true,
		` "a\u00e9" `:              "aé",
		`-1.5e2`:                   -150.0,
		`[]`:                       []any{},
		`[1,[2,{"a":null}],"x"]`:   []any{1.0, []any{2.0, map[string]any{"a": nil}}, "x"},
		`{"a":{"a":1},"b":[true]}`: map[string]any{"a": map[string]any{"a": 1.0}, "b": []any{true}},
	} {
		if got, err := Value([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Value(%s) = %#v, %v; want %#v", text, got, err, want)
		}
	}
}

func TestValueRefuses(t *testing.T) {
	deep := strings.Repeat("[", 33) + strings.Repeat("]", 33)
	for text, why := range map[string]string{
		``:                      "it is empty",
		`hello`:                 "invalid character 'h'",
		`{"a":1} {"a":2}`:       "after top-level value",
		`{"a":NaN}`:             "NaN is not a number in JSON",
		`{"a":Infinity}`:        "Infinity is not a number in JSON",
		`{"a":-Infinity}`:       "Infinity is not a number in JSON",
		`{"a":1e400}`:           "beyond 1.8e308",
		`{"a":0x10}`:            "invalid character 'x'",
		`{"a":1_000}`:           "invalid character '_'",
		`{"a":+1}`:              "invalid character '+'",
		`{"a":1,"a":2}`:         `the key "a" comes twice`,
		`[{"b":{"a":1,"a":1}}]`: `the key "a" comes twice`,
		`{"a":1,"\u0061":2}`:    `the key "a" comes twice`,
		"{\"a\":\"\xff\"}":      "not UTF-8",
		`{"a":`:                 "unexpected end",
		deep:                    "nested deeper than 32",
	} {
		got, err := Value([]byte(text))
		if !errors.Is(err, ErrNotJSON) {
			t.Errorf("Value(%q) = %v, %v; want an error", text, got, err)
		} else if !strings.Contains(err.Error(), why) {
			t.Errorf("Value(%q): %q does not say %q", text, err, why)
		}
	}
	if _, err := Object([]byte(`[1]`)); !errors.Is(err, ErrNotJSON) {
		t.Errorf("Object of an array: %v", err)
	}
}

// FuzzValue checks that what passes is what encoding/json reads too, and finite.
func FuzzValue(f *testing.F) {
	for _, text := range []string{`{"id":1,"ok":true,"values":{"a":1.5}}`, `{"a":1,"a":2}`, `[NaN]`, `"\ud800"`, `{"":[[]]}`, `1e400`, "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Value(data)
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q passed, but encoding/json says %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v; encoding/json gives %#v", data, got, want)
		}
		finite(t, got)
	})
}

func finite(t *testing.T, v any) {
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("%v passed", x)
		}
	case []any:
		for _, e := range x {
			finite(t, e)
		}
	case map[string]any:
		for _, e := range x {
			finite(t, e)
		}
	}
}
