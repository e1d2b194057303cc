package schema

import (
	"reflect"
	"strings"
)

// KeyDoc documents one key of the schema.
type KeyDoc struct {
	// Section as it is written in a file: "", "[objective]", "[[sensor]]",
	// "[safety.variable.NAME]". A table within a section, which may also be written
	// inline, is a section of its own.
	Section string
	Key     string
	// Type in words.
	Type string
	// Unit of a number, "" where the value carries its own or has none.
	Unit string
	// Default as TOML; "required" where the key must be written, "" where it is
	// absent by default.
	Default string
	// Bound on a number, or the words allowed.
	Bound string
	// What the key says.
	What string
}

// ReferenceOf documents the keys of a struct, in its order, under a section's name such as
// "[[device]]", after which may stand what every section within it bears as well, such as
// ` with driver = "exec"`. What options holds, a pointer to a struct, are the defaults; words gives
// those of a list that a tag names, and own the structs with further keys of a section.
func ReferenceOf(section string, options any, words func(list string) []string, own Owner) []KeyDoc {
	v := reflect.ValueOf(options)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	r := reference{words: words, own: own}
	header, rest, _ := strings.Cut(section, " ")
	r.section(v.Elem(), header, strings.Trim(header, "[]"))
	if rest != "" {
		for i := range r.docs {
			r.docs[i].Section += " " + rest
		}
	}
	return r.docs
}

type reference struct {
	docs  []KeyDoc
	words func(list string) []string
	own   Owner
}

// section documents the keys of a struct, then the sections within it.
func (r *reference) section(v reflect.Value, header, path string) {
	parts := []reflect.Value{v}
	for _, o := range r.own.of(v, path) {
		setDefaults(reflect.ValueOf(o))
		parts = append(parts, reflect.ValueOf(o).Elem())
	}
	for _, part := range parts {
		for _, f := range FieldsOf(part.Type()) {
			fv := part.FieldByIndex(f.Index)
			if inner, _, _ := InnerSection(fv, ""); !inner.IsValid() {
				if f.list != "" {
					f.Enum = r.words(f.list)
				}
				r.docs = append(r.docs, keyDoc(fv, header, f))
			}
		}
	}
	for _, part := range parts {
		for _, f := range FieldsOf(part.Type()) {
			inner, open, at := InnerSection(part.FieldByIndex(f.Index), Join(path, f.Key))
			if inner.IsValid() {
				r.section(inner, open+at+strings.Repeat("]", len(open)), at)
			}
		}
	}
}

// InnerSection returns the struct behind a field that is a section, with its
// defaults, and how its header opens; an invalid value where the field is a key.
func InnerSection(v reflect.Value, at string) (inner reflect.Value, open, path string) {
	t := v.Type()
	switch {
	case isSection(t):
		return v, "[", at
	case t.Kind() == reflect.Pointer && isSection(t.Elem()):
		return fresh(t.Elem()), "[", at
	case t.Kind() == reflect.Slice && isSection(t.Elem()):
		return fresh(t.Elem()), "[[", at
	case t.Kind() == reflect.Map && isSection(t.Elem()):
		return fresh(t.Elem()), "[", at + ".NAME"
	}
	return reflect.Value{}, "", ""
}

func fresh(t reflect.Type) reflect.Value {
	ptr := reflect.New(t)
	setDefaults(ptr)
	return ptr.Elem()
}

func keyDoc(v reflect.Value, header string, f Field) KeyDoc {
	d := KeyDoc{Section: header, Key: f.Key, Type: TypeWords(v.Type()), Unit: f.Unit, What: f.Doc, Bound: BoundText(f.Bounds)}
	if len(f.Enum) > 0 {
		d.Bound = enumText(f.Enum)
	}
	switch {
	case f.Required:
		d.Default = "required"
	case v.Kind() == reflect.Pointer, f.absent && v.IsZero(), isAbsent(v), v.Kind() == reflect.Map, v.Type() == TypeDuration && v.IsZero() && !Allows(f.Bounds, 0):
	default:
		d.Default = tomlValue(v.Interface())
	}
	return d
}

// Allows reports whether a value satisfies every bound.
func Allows(bounds []bound, v float64) bool {
	for _, b := range bounds {
		if !b.holds(v) {
			return false
		}
	}
	return true
}
