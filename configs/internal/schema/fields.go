package schema

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Field is one key of the schema: a struct field and what its tags say.
type Field struct {
	Key      string
	Index    []int
	Doc      string
	Unit     string
	Enum     []string
	list     string // of words that are handed in: see Known
	Required bool
	Bounds   []bound
	preset   string // the default, "" where there is none
	// absent: the zero value stands for a key that the file does not have.
	absent bool
	// Tag is all of the field's.
	Tag reflect.StructTag
}

// FieldsOf gives the schema of a struct type, which nobody changes. Embedded structs are flattened;
// fields without a toml tag, or with "-", are not keys.
func FieldsOf(t reflect.Type) []Field {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]Field)
	}
	fields := readFields(t)
	fieldsOf.Store(t, fields)
	return fields
}

// fieldsOf keeps what is read of a type: a file with hundreds of variables asks thousands of times.
var fieldsOf sync.Map

// readFields reads the tags of a struct type.
func readFields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
			for _, f := range FieldsOf(sf.Type) {
				f.Index = append([]int{i}, f.Index...)
				fields = append(fields, f)
			}
			continue
		}
		key := sf.Tag.Get("toml")
		if key == "" || key == "-" {
			continue
		}
		f := Field{
			Key:      key,
			Index:    []int{i},
			Doc:      sf.Tag.Get("doc"),
			Unit:     sf.Tag.Get("unit"),
			Required: sf.Tag.Get("required") == "true",
			Bounds:   ParseBounds(sf.Tag.Get("bound")),
			preset:   sf.Tag.Get("default"),
			absent:   sf.Tag.Get("zero") == "absent",
			Tag:      sf.Tag,
		}
		switch words := sf.Tag.Get("enum"); words {
		case "":
		case "@policies", "@acquisitions", "@drivers":
			f.list = words
		default:
			f.Enum = strings.Split(words, ",")
		}
		fields = append(fields, f)
	}
	return fields
}

// bound is one comparison of a bound tag, such as >= 1. Durations are compared
// in seconds.
type bound struct {
	Op    string
	Limit float64
	Text  string
}

// ParseBounds reads a tag such as "> 0, <= 1h". A part that it cannot read
// becomes a bound that nothing satisfies, so that any use of it shows.
func ParseBounds(tag string) []bound {
	if tag == "" {
		return nil
	}
	var bounds []bound
	for _, part := range strings.Split(tag, ",") {
		part = strings.TrimSpace(part)
		op, number, _ := strings.Cut(part, " ")
		limit, err := strconv.ParseFloat(number, 64)
		if err != nil {
			d, derr := time.ParseDuration(number)
			limit = d.Seconds()
			if derr != nil {
				limit = math.NaN()
			}
		}
		bounds = append(bounds, bound{Op: op, Limit: limit, Text: part})
	}
	return bounds
}

func (b bound) holds(v float64) bool {
	switch b.Op {
	case ">":
		return v > b.Limit
	case ">=":
		return v >= b.Limit
	case "<":
		return v < b.Limit
	case "<=":
		return v <= b.Limit
	}
	return false
}

// BoundText joins the bounds for a person: ">= 1 and <= 4096".
func BoundText(bounds []bound) string {
	parts := make([]string, len(bounds))
	for i, b := range bounds {
		parts[i] = b.Text
	}
	return strings.Join(parts, " and ")
}

// enumText lists words for a person: "hold", "release" or "park".
func enumText(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// Types that a file writes as one value though they are not of a basic kind.
var (
	TypeDuration = reflect.TypeFor[time.Duration]()
	typeTime     = reflect.TypeFor[time.Time]()
	TypeRange    = reflect.TypeFor[Range]()
	typeNumbers  = reflect.TypeFor[Numbers]()
)

// isSection reports whether a value of the type is written as a table of keys
// that the schema knows.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != typeTime && t != TypeRange
}

// TypeWords names what a key of the type wants, for a person.
func TypeWords(t reflect.Type) string {
	switch t {
	case TypeDuration:
		return `a duration in quotes, such as "250ms"`
	case typeTime:
		return "a date and time with its offset, such as 2026-03-01T18:00:00Z"
	case TypeRange:
		return "a list of two numbers, [lowest, highest]"
	case typeNumbers:
		return "a number or a list of numbers"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return TypeWords(t.Elem())
	case reflect.String:
		return "text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		if isSection(t.Elem()) {
			return "a repeated section"
		}
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a table"
	}
	return t.String()
}

// Describe names a value of the generic tree, for a person.
func Describe(raw any) string {
	switch v := raw.(type) {
	case string:
		return fmt.Sprintf("the text %q", shorten(v))
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return FormatNumber(v)
	case time.Time:
		if isLocalTime(v) {
			return "a date or time without an offset"
		}
		return "a date and time"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a repeated section"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return fmt.Sprintf("a %T", raw)
}

// shorten keeps messages on one line of a terminal.
func shorten(s string) string {
	const most = 60
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "..."
}

// FormatNumber writes a number as a person would: shortest form that reads back
// the same, without an exponent where it is of a common size.
func FormatNumber(v float64) string {
	if a := math.Abs(v); v == 0 || a >= 1e-4 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// FormatDuration writes a duration without the zero parts that Go prints: 336h,
// not 336h0m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
