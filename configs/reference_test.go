package configs

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// schemaField is one field of the schema's structs, found by walking types.
type schemaField struct {
	path  string
	field field
	value reflect.Value
}

func schemaFields(v reflect.Value, path string) []schemaField {
	var all []schemaField
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.index)
		at := joinKey(path, f.key)
		all = append(all, schemaField{at, f, fv})
		if inner, _, _ := innerSection(fv, at); inner.IsValid() {
			all = append(all, schemaFields(inner, at)...)
		}
	}
	return all
}

// TestSchemaTags: every key is explained, every number has a unit, every bound
// can be read, and every default keeps its own bounds.
func TestSchemaTags(t *testing.T) {
	for _, s := range schemaFields(reflect.ValueOf(Default()).Elem(), "") {
		f := s.field
		if f.doc == "" || strings.HasSuffix(f.doc, ".") {
			t.Errorf("%s: doc %q", s.path, f.doc)
		}
		typ := s.value.Type()
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if (typ.Kind() == reflect.Float64 || typ == typeRange) && f.unit == "" {
			t.Errorf("%s: a number without a unit", s.path)
		}
		for _, b := range f.bounds {
			if math.IsNaN(b.limit) || !slices.Contains([]string{"<", "<=", ">", ">="}, b.op) {
				t.Errorf("%s: bound %q cannot be read", s.path, b.text)
			}
		}
		if f.required || s.value.Kind() == reflect.Pointer {
			continue
		}
		switch {
		case s.value.Kind() == reflect.String && len(f.enum) > 0:
			if word := s.value.String(); word != "" && !slices.Contains(f.enum, word) {
				t.Errorf("%s: default %q is none of its words", s.path, word)
			}
		case s.value.Kind() == reflect.Float64 && !allows(f.bounds, s.value.Float()):
			t.Errorf("%s: default %v breaks %s", s.path, s.value, boundText(f.bounds))
		case s.value.CanInt() && s.value.Type() != typeDuration && !allows(f.bounds, float64(s.value.Int())):
			t.Errorf("%s: default %v breaks %s", s.path, s.value, boundText(f.bounds))
		}
	}
}

// TestReferenceCoversTheSamples: every key of a sample is documented, in the
// section where the sample has it.
func TestReferenceCoversTheSamples(t *testing.T) {
	documented := map[string]bool{}
	for _, d := range Reference(known()) {
		if d.What == "" || d.Type == "" {
			t.Errorf("%s %s is not explained", d.Section, d.Key)
		}
		if d.Default != "" && d.Default != "required" {
			if _, err := toml.Decode("v = "+d.Default, &map[string]any{}); err != nil {
				t.Errorf("%s %s: default %s is not TOML", d.Section, d.Key, d.Default)
			}
		}
		documented[strings.Trim(d.Section, "[]")+"/"+d.Key] = true
	}
	name := regexp.MustCompile(`^(safety\.(?:variable|sensor))\.[a-z_]+`)
	key := regexp.MustCompile(`^([a-z_]+) = `)
	for _, s := range Samples() {
		section := ""
		for i, line := range strings.Split(string(s.Text), "\n") {
			if strings.HasPrefix(line, "[") {
				section = name.ReplaceAllString(strings.Trim(line, "[]"), "$1.NAME")
				continue
			}
			m := key.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(section, "device") {
				continue // a driver's key, or no key
			}
			inline := documented[section+"/"+m[1]] || documented[section+"."+m[1]+"/tolerance"] ||
				documented[section+"."+m[1]+"/distribution"] || documented[section+"."+m[1]+"/design"]
			if !inline {
				t.Errorf("%s.toml:%d: %s in [%s] is not in the reference", s.Name, i+1, m[1], section)
			}
		}
	}
}

func TestReferenceOfDriver(t *testing.T) {
	docs := ReferenceOf("[[device]]", &driverOptions{Baud: 9600, Parity: "none"})
	want := []KeyDoc{
		{Section: "[[device]]", Key: "port", Type: "text in quotes", Default: "required", What: "the port"},
		{Section: "[[device]]", Key: "baud", Type: "a whole number", Default: "9600", Bound: ">= 1", What: "speed"},
		{Section: "[[device]]", Key: "reply_timeout", Type: typeWords(typeDuration), Bound: "> 0s", What: "wait for an answer"},
		{Section: "[[device]]", Key: "parity", Type: "text in quotes", Default: `"none"`, Bound: `"none", "even" or "odd"`, What: "parity bit"},
	}
	if !slices.Equal(docs[:4], want) {
		t.Errorf("got  %+v\nwant %+v", docs[:4], want)
	}
	if i := slices.IndexFunc(docs, func(d KeyDoc) bool { return d.Section == "[[device.init]]" && d.Key == "match" }); i < 0 {
		t.Errorf("no [[device.init]] match in %+v", docs)
	}
	if ReferenceOf("[[device]]", driverOptions{}) != nil {
		t.Error("a struct that is not a pointer has a reference")
	}
}

// TestPoliciesAreDistinct: the families name no policy twice.
func TestPoliciesAreDistinct(t *testing.T) {
	words := slices.Sorted(slices.Values(known().Words()))
	if n := len(slices.Compact(slices.Clone(words))); n != len(words) {
		t.Errorf("%d distinct words of %d", n, len(words))
	}
	for _, p := range known().Kinds {
		if p.Acquisition != acquireNone && !slices.Contains(known().Acquisitions, p.Acquisition) {
			t.Errorf("%s: acquisition %q is not among the words", p.Kind, p.Acquisition)
		}
	}
}
