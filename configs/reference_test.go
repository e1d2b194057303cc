package configs

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// schemaField is one field of the schema's structs, found by walking types.
type schemaField struct {
	path  string
	field schema.Field
	value reflect.Value
}

func schemaFields(v reflect.Value, path string) []schemaField {
	var all []schemaField
	for _, f := range schema.FieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.Index)
		at := schema.Join(path, f.Key)
		all = append(all, schemaField{at, f, fv})
		if inner, _, _ := schema.InnerSection(fv, at); inner.IsValid() {
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
		if f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: doc %q", s.path, f.Doc)
		}
		typ := s.value.Type()
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if (typ.Kind() == reflect.Float64 || typ == schema.TypeRange) && f.Unit == "" {
			t.Errorf("%s: a number without a unit", s.path)
		}
		for _, b := range f.Bounds {
			if math.IsNaN(b.Limit) || !slices.Contains([]string{"<", "<=", ">", ">="}, b.Op) {
				t.Errorf("%s: bound %q cannot be read", s.path, b.Text)
			}
		}
		if f.Required || s.value.Kind() == reflect.Pointer {
			continue
		}
		switch {
		case s.value.Kind() == reflect.String && len(f.Enum) > 0:
			if word := s.value.String(); word != "" && !slices.Contains(f.Enum, word) {
				t.Errorf("%s: default %q is none of its words", s.path, word)
			}
		case s.value.Kind() == reflect.Float64 && !schema.Allows(f.Bounds, s.value.Float()):
			t.Errorf("%s: default %v breaks %s", s.path, s.value, schema.BoundText(f.Bounds))
		case s.value.CanInt() && s.value.Type() != schema.TypeDuration && !schema.Allows(f.Bounds, float64(s.value.Int())):
			t.Errorf("%s: default %v breaks %s", s.path, s.value, schema.BoundText(f.Bounds))
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
		{Section: "[[device]]", Key: "reply_timeout", Type: schema.TypeWords(schema.TypeDuration), Bound: "> 0s", What: "wait for an answer"},
		{Section: "[[device]]", Key: "parity", Type: "text in quotes", Default: `"none"`, Bound: `"none", "even" or "odd"`, What: "parity bit"},
	}
	if !slices.Equal(docs[:4], want) {
		t.Errorf("got  %+v\nwant %+v", docs[:4], want)
	}
	if i := slices.IndexFunc(docs, func(d KeyDoc) bool { return d.Section == "[[device.init]]" && d.Key == "match" }); i < 0 {
		t.Errorf("no [[device.init]] match in %+v", docs)
	}
	// Every heading is a table's, and says which driver's.
	heading := regexp.MustCompile(`^(\[device(\.[A-Za-z_]+)*\]|\[\[device(\.[A-Za-z_]+)*\]\]) with driver = "x"$`)
	for _, d := range ReferenceOf(`[[device]] with driver = "x"`, &driverOptions{}) {
		if !heading.MatchString(d.Section) {
			t.Errorf("%s is under %s", d.Key, d.Section)
		}
	}
	if ReferenceOf("[[device]]", driverOptions{}) != nil {
		t.Error("a struct that is not a pointer has a reference")
	}
}

// TestPoliciesAreDistinct: the families name no policy twice.
func TestPoliciesAreDistinct(t *testing.T) {
	words := slices.Sorted(slices.Values(known().KindNames()))
	if n := len(slices.Compact(slices.Clone(words))); n != len(words) {
		t.Errorf("%d distinct words of %d", n, len(words))
	}
	for _, p := range known().Kinds {
		if p.Acquisition != acquireNone && !slices.Contains(known().Acquisitions, p.Acquisition) {
			t.Errorf("%s: acquisition %q is not among the words", p.Kind, p.Acquisition)
		}
	}
}
