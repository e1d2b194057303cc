package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Keeper is a section that keeps the keys which the schema does not know,
// because somebody else knows them.
type Keeper interface {
	// Keep takes the unknown keys of the section at a key.
	Keep(unknown map[string]any, at string, w *Walker)
	// Kept are those keys, with what has become of them.
	Kept() []OwnKeys
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
}

func NewWalker(loc *Locator, words func(list string) []string) *Walker {
	return &Walker{Loc: loc, words: words, Suspects: map[string]bool{}}
}

func (w *Walker) Report(at, what, hint string) {
	w.Suspects[at] = true
	w.Problems = append(w.Problems, w.Loc.Problem(at, what, hint))
}

// Section fills a struct from a table. The keys in others are known to somebody
// else and left alone; they serve the did-you-mean.
func (w *Walker) Section(dst reflect.Value, raw map[string]any, at string, others ...string) {
	fields := FieldsOf(dst.Type())
	known := slices.Clone(others)
	for _, f := range fields {
		known = append(known, f.Key)
	}
	unknown := maps.Clone(raw)
	for _, key := range known {
		delete(unknown, key)
	}
	if k, ok := dst.Addr().Interface().(Keeper); ok {
		w.misspelt(unknown, fields, raw, at)
		k.Keep(unknown, at, w)
	} else {
		w.unknown(unknown, known, raw, at)
	}
	for _, f := range fields {
		key := Join(at, f.Key)
		value, present := raw[f.Key]
		switch {
		case present:
			w.value(dst.FieldByIndex(f.Index), value, key, f)
		case f.Required && !w.Suspects[key]:
			w.missing(dst.FieldByIndex(f.Index).Type(), key, f)
		}
	}
}

// misspelt looks, in a section that keeps unknown keys for somebody else, for
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
