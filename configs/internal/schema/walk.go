package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// OpenSection is a section that may have keys which the schema does not know, because another
// package knows them.
type OpenSection interface {
	// TakeUnknown takes the unknown keys of the section at a key.
	TakeUnknown(unknown map[string]any, at string, w *Walker)
	// OwnKeys are those keys, with what has become of them.
	OwnKeys() []OwnKeys
}

// Walker lays a generic tree over structs and collects every problem on the way.
type Walker struct {
	Loc      *Locator
	Problems []Problem
	// Suspects are keys that are missing, misspelt or unreadable: whatever
	// depends on their value is not worth a second message.
	Suspects map[string]bool
	// words gives the words of a list that a tag names, none where there are none; nil: no
	// tag names one.
	words func(list string) []string
	// own gives the structs that have keys of a section beside its own, and owned what it
	// gave, by the section's key.
	own   Owner
	owned map[string][]any
}

// Owner gives the structs, as pointers, which have further keys of a section: those of the
// packages that act on them. name is the last part of the section's key; in a repeated
// section the element's. nil: no section has any.
type Owner func(section any, name string) []any

// NewWalker makes a walker of one file.
func NewWalker(loc *Locator, words func(list string) []string, own Owner) *Walker {
	return &Walker{Loc: loc, words: words, own: own, Suspects: map[string]bool{}, owned: map[string][]any{}}
}

// of lists the owners of a section's keys.
func (own Owner) of(section reflect.Value, at string) []any {
	if own == nil || !section.CanAddr() {
		return nil
	}
	name := at[strings.LastIndexByte(at, '.')+1:]
	if plain, err := strconv.Unquote(name); err == nil {
		name = plain
	}
	return own(section.Addr().Interface(), name)
}

// Snapshot gives copies of the owners' structs as the file has filled them, by the key of
// the section.
func (w *Walker) Snapshot() map[string][]any {
	out := map[string][]any{}
	for at, all := range w.owned {
		for _, o := range all {
			c := reflect.New(reflect.TypeOf(o).Elem())
			c.Elem().Set(reflect.ValueOf(o).Elem())
			out[at] = append(out[at], c.Interface())
		}
	}
	return out
}

// claim gives the keys of a section to their owners, with their defaults, and returns the
// structs that have its keys.
func (w *Walker) claim(section reflect.Value, at string) []reflect.Value {
	parts := []reflect.Value{section}
	if all := w.own.of(section, at); len(all) > 0 {
		w.owned[at] = all
		for _, o := range all {
			setDefaults(reflect.ValueOf(o))
			parts = append(parts, reflect.ValueOf(o).Elem())
		}
	}
	return parts
}

func (w *Walker) Report(at, what, hint string) {
	w.Suspects[at] = true
	w.Problems = append(w.Problems, w.Loc.Problem(at, what, hint))
}

// Section fills a struct from a table. The keys in others are known to another
// package and left alone; they serve the did-you-mean.
func (w *Walker) Section(dst reflect.Value, raw map[string]any, at string, others ...string) {
	parts := w.claim(dst, at)
	var fields []Field
	known := slices.Clone(others)
	for _, part := range parts {
		for _, f := range FieldsOf(part.Type()) {
			fields, known = append(fields, f), append(known, f.Key)
		}
	}
	unknown := maps.Clone(raw)
	for _, key := range known {
		delete(unknown, key)
	}
	if k, ok := dst.Addr().Interface().(OpenSection); ok {
		w.misspelt(unknown, fields, raw, at)
		k.TakeUnknown(unknown, at, w)
	} else {
		w.unknown(unknown, known, raw, at)
	}
	for _, part := range parts {
		for _, f := range FieldsOf(part.Type()) {
			key := Join(at, f.Key)
			fv := part.FieldByIndex(f.Index)
			value, present := raw[f.Key]
			switch {
			case present:
				w.value(fv, value, key, f)
			case f.Required && !w.Suspects[key]:
				w.missing(fv.Type(), key, f)
			case isSection(fv.Type()):
				w.claim(fv, key)
			}
		}
	}
}

// misspelt looks, in a section that keeps unknown keys for another package, for
// required keys that are missing because they are misspelt, and takes those out.
func (w *Walker) misspelt(unknown map[string]any, fields []Field, raw map[string]any, at string) {
	var missing []string
	for _, f := range fields {
		if _, present := raw[f.Key]; f.Required && !present {
			missing = append(missing, f.Key)
		}
	}
	for key, value := range unknown {
		if Nearest(key, missing) != "" {
			w.unknown(map[string]any{key: value}, missing, raw, at)
			delete(unknown, key)
		}
	}
}

// unknown reports keys that nobody knows. What such a key was probably meant to
// be counts as present, so that a typing error makes one message, not two.
func (w *Walker) unknown(unknown map[string]any, known []string, raw map[string]any, at string) {
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		if IsSecret(key, unknown[key]) {
			continue // reported by refuseSecrets
		}
		hint := DidYouMean(key, known)
		if n := Nearest(key, known); n != "" {
			if _, present := raw[n]; !present {
				w.Suspects[Join(at, n)] = true
			}
		} else {
			hint = "keys known here: " + strings.Join(known, ", ")
		}
		what := "unknown key"
		switch unknown[key].(type) {
		case map[string]any, []map[string]any:
			what = "unknown section"
		}
		w.Report(Join(at, key), what, hint)
	}
}

func (w *Walker) missing(t reflect.Type, at string, f Field) {
	switch {
	case f.Key == "unit":
		w.Report(at, "missing unit", `a quantity without a unit has unit = "1"`)
	case isSection(t):
		w.Report(at, "missing section ["+at+"]", f.Doc)
	case t.Kind() == reflect.Slice && isSection(t.Elem()):
		w.Report(at, "missing section [["+at+"]]", f.Doc)
	case f.Doc == "":
		w.Report(at, "missing: must be "+TypeWords(t), "")
	default:
		w.Report(at, "missing: must be "+TypeWords(t), f.Key+": "+f.Doc)
	}
}

// value fills one field, element or map entry from a value of the generic tree.
func (w *Walker) value(dst reflect.Value, raw any, at string, f Field) {
	t := dst.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		elem := reflect.New(t.Elem())
		setDefaults(elem)
		w.value(elem.Elem(), raw, at, f)
		if !w.Suspects[at] || isSection(t.Elem()) {
			dst.Set(elem)
		}
	case t == typeNumbers:
		w.numbers(dst, raw, at, f)
	case t == TypeRange:
		w.interval(dst, raw, at, f)
	case isSection(t):
		w.table(dst, raw, at)
	case t.Kind() == reflect.Slice:
		w.slice(dst, raw, at, f)
	case t.Kind() == reflect.Map:
		w.mapping(dst, raw, at, f)
	default:
		w.scalar(dst, raw, at, f)
	}
}

func (w *Walker) table(dst reflect.Value, raw any, at string) {
	switch v := raw.(type) {
	case map[string]any:
		w.Section(dst, v, at)
	case []map[string]any:
		w.Report(at, "is written [["+at+"]], but there can only be one", "write ["+at+"]")
	default:
		w.wrongType(dst.Type(), raw, at)
	}
}

func (w *Walker) slice(dst reflect.Value, raw any, at string, f Field) {
	var items []any
	switch v := raw.(type) {
	case []any:
		items = v
	case []map[string]any:
		for _, table := range v {
			items = append(items, table)
		}
	case map[string]any:
		if isSection(dst.Type().Elem()) {
			w.Report(at, "is written ["+at+"], but it is a repeated section", "write [["+at+"]]")
			return
		}
		w.wrongType(dst.Type(), raw, at)
		return
	default:
		w.wrongType(dst.Type(), raw, at)
		return
	}
	out := reflect.MakeSlice(dst.Type(), len(items), len(items))
	for i, item := range items {
		elem := out.Index(i)
		setDefaults(elem.Addr())
		w.value(elem, item, Item(at, i), f)
		if w.Suspects[Item(at, i)] {
			w.Suspects[at] = true
		}
	}
	dst.Set(out)
}

func (w *Walker) mapping(dst reflect.Value, raw any, at string, f Field) {
	table, ok := raw.(map[string]any)
	if !ok {
		w.wrongType(dst.Type(), raw, at)
		return
	}
	out := reflect.MakeMap(dst.Type())
	for _, key := range slices.Sorted(maps.Keys(table)) {
		elem := reflect.New(dst.Type().Elem())
		setDefaults(elem)
		w.value(elem.Elem(), table[key], Join(at, key), f)
		out.SetMapIndex(reflect.ValueOf(key), elem.Elem())
	}
	dst.Set(out)
}

// numbers takes one number or a list of them.
func (w *Walker) numbers(dst reflect.Value, raw any, at string, f Field) {
	list, ok := raw.([]any)
	if !ok {
		var one float64
		w.scalar(reflect.ValueOf(&one).Elem(), raw, at, f)
		dst.Set(reflect.ValueOf(Numbers{one}))
		return
	}
	if len(list) == 0 {
		w.Report(at, "must hold at least one number, got an empty list", "")
		return
	}
	w.slice(dst, list, at, f)
}

// interval takes [lowest, highest].
func (w *Walker) interval(dst reflect.Value, raw any, at string, f Field) {
	list, ok := raw.([]any)
	if !ok {
		w.wrongType(TypeRange, raw, at)
		return
	}
	if len(list) != 2 {
		w.Report(at, fmt.Sprintf("must be a list of two numbers, [lowest, highest], got %d", len(list)), "")
		return
	}
	var ends [2]float64
	for i, end := range list {
		w.scalar(reflect.ValueOf(&ends[i]).Elem(), end, Item(at, i), f)
		if w.Suspects[Item(at, i)] {
			w.Suspects[at] = true
		}
	}
	if w.Suspects[at] {
		return
	}
	lo, hi := ends[0], ends[1]
	if lo >= hi {
		hint := ""
		if lo > hi {
			hint = fmt.Sprintf("write [%s, %s]", FormatNumber(hi), FormatNumber(lo))
		}
		w.Report(at, fmt.Sprintf("range is upside down or empty: lowest %s is not below highest %s", FormatNumber(lo), FormatNumber(hi)), hint)
		return
	}
	dst.Set(reflect.ValueOf(Range{Lo: lo, Hi: hi}))
}
