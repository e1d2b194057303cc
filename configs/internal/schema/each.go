package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// visitor is called for what a struct holds.
type visitor struct {
	// key gets each key that has a value, without pointers.
	key func(at string, f Field, v reflect.Value)
	// kept, if not nil, gets the keys that a section keeps for another package.
	kept func(OwnKeys)
}

// Each calls visit for every key of a struct that has a value, in its order; owned are the
// further structs of a section, by its key.
func Each(of any, owned map[string][]any, visit func(at string, f Field, v reflect.Value)) {
	each(reflect.ValueOf(of).Elem(), "", owned, visitor{key: visit})
}

// each visits one section.
func each(section reflect.Value, at string, owned map[string][]any, to visitor) {
	all := owned[at]
	theirs := func() { // before the first section within this one
		for _, o := range all {
			part := reflect.ValueOf(o).Elem()
			for _, f := range FieldsOf(part.Type()) {
				eachValue(part.FieldByIndex(f.Index), f, Join(at, f.Key), owned, to)
			}
		}
		all = nil
	}
	for _, f := range FieldsOf(section.Type()) {
		v := section.FieldByIndex(f.Index)
		if inner, _, _ := InnerSection(v, ""); inner.IsValid() {
			theirs()
		}
		eachValue(v, f, Join(at, f.Key), owned, to)
	}
	theirs()
	if to.kept == nil || !section.CanAddr() {
		return
	}
	if k, ok := section.Addr().Interface().(OpenSection); ok {
		for _, own := range k.OwnKeys() {
			to.kept(own)
		}
	}
}

// eachValue visits one value, and what it is made of.
func eachValue(v reflect.Value, f Field, at string, owned map[string][]any, to visitor) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		if !v.IsNil() {
			eachValue(v.Elem(), f, at, owned, to)
		}
	case isSection(t):
		each(v, at, owned, to)
	case t.Kind() == reflect.Slice && isSection(t.Elem()):
		for i := range v.Len() {
			each(v.Index(i), Item(at, i), owned, to)
		}
	case t.Kind() == reflect.Map:
		for _, key := range slices.SortedFunc(maps.Keys(stringKeys(v)), strings.Compare) {
			eachValue(v.MapIndex(reflect.ValueOf(key)), f, Join(at, key), owned, to)
		}
	default:
		to.key(at, f, v)
	}
}
