package configs

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

// Reference documents every key of the schema, in its order, from the same field
// tags and defaults that files are checked with. Drivers' keys are not part of
// it; see ReferenceOf. known is what there is.
func Reference(known *Known) []KeyDoc {
	r := reference{known: known}
	r.section(reflect.ValueOf(Default()).Elem(), "", "")
	return r.docs
}

// ReferenceOf documents the keys of a driver's options, under a section's name
// such as "[[device]]". What options holds, a pointer to a struct, are the
// defaults.
func ReferenceOf(section string, options any) []KeyDoc {
	v := reflect.ValueOf(options)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	r := reference{}
	r.section(v.Elem(), section, strings.Trim(section, "[]"))
	return r.docs
}

type reference struct {
	docs  []KeyDoc
	known *Known
}

// section documents the keys of a struct, then the sections within it.
func (r *reference) section(v reflect.Value, header, path string) {
	fields := fieldsOf(v.Type())
	for _, f := range fields {
		fv := v.FieldByIndex(f.index)
		if inner, _, _ := innerSection(fv, ""); !inner.IsValid() {
			if f.list != "" {
				f.enum = r.known.enum(f.list)
			}
			r.docs = append(r.docs, keyDoc(fv, header, f))
		}
	}
	for _, f := range fields {
		inner, open, at := innerSection(v.FieldByIndex(f.index), joinKey(path, f.key))
		if inner.IsValid() {
			r.section(inner, open+at+strings.Repeat("]", len(open)), at)
		}
	}
}

// innerSection returns the struct behind a field that is a section, with its
// defaults, and how its header opens; an invalid value where the field is a key.
func innerSection(v reflect.Value, at string) (inner reflect.Value, open, path string) {
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

func keyDoc(v reflect.Value, header string, f field) KeyDoc {
	d := KeyDoc{Section: header, Key: f.key, Type: typeWords(v.Type()), Unit: f.unit, What: f.doc, Bound: boundText(f.bounds)}
	if len(f.enum) > 0 {
		d.Bound = enumText(f.enum)
	}
	switch {
	case f.required:
		d.Default = "required"
	case v.Kind() == reflect.Pointer, isAbsent(v), v.Kind() == reflect.Map, v.Type() == typeDuration && v.IsZero() && !allows(f.bounds, 0):
	default:
		d.Default = tomlValue(v.Interface())
	}
	return d
}

// allows reports whether a value satisfies every bound.
func allows(bounds []bound, v float64) bool {
	for _, b := range bounds {
		if !b.holds(v) {
			return false
		}
	}
	return true
}
