package schema

import (
	"fmt"
	"reflect"
)

// OwnKeys are the keys of a section that only another package understands, such as a driver.
type OwnKeys struct {
	Raw map[string]any
	At  string
	Loc *Locator
	// others are keys of the same section that belong to the schema.
	others []string
	// settings are the values with their defaults, once decoded.
	settings *[]Setting
}

// NewOwnKeys takes the keys of a section at a key; others belong to the schema.
func NewOwnKeys(raw map[string]any, at string, loc *Locator, others ...string) OwnKeys {
	return OwnKeys{Raw: raw, At: at, Loc: loc, others: others, settings: new([]Setting)}
}

// Has says that a key is among them.
func (o *OwnKeys) Has(key string) bool {
	_, given := o.Raw[key]
	return given
}

// Problem makes a Problem of one of the keys, or where it is "" of the section.
func (o *OwnKeys) Problem(key, what, hint string) Problem {
	at := o.At
	if key != "" {
		at += "." + key
	}
	return o.Loc.Problem(at, what, hint)
}

// Decode lays the keys over dst, a pointer to a struct.
func (o *OwnKeys) Decode(dst any) []Problem {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return []Problem{o.Problem("", fmt.Sprintf("cannot be decoded into %T: it wants a pointer to a struct", dst), "")}
	}
	w := NewWalker(o.Loc, nil, nil)
	w.Section(v.Elem(), o.Raw, o.At, o.others...)
	if o.settings != nil {
		*o.settings = effective(v.Elem(), o.At, nil, o.Loc)
	}
	return Sorted(w.Problems)
}
