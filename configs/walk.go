package configs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// defaulter is a section that fills itself with its defaults before the file's
// keys are laid over them. A driver's options may implement it too.
type defaulter interface{ SetDefaults() }

// keeper is a section that keeps the keys which the schema does not know,
// because somebody else knows them.
type keeper interface {
	// keep takes the unknown keys of the section at a key.
	keep(unknown map[string]any, at string, w *walker)
}

// walker lays a generic tree over structs and collects every problem on the way.
type walker struct {
	loc      *locator
	problems []Problem
	// suspects are keys that are missing, misspelt or unreadable: whatever
	// depends on their value is not worth a second message.
	suspects map[string]bool
	known    *Known // nil in sections that name nothing of it
}

func newWalker(loc *locator, known *Known) *walker {
	return &walker{loc: loc, known: known, suspects: map[string]bool{}}
}

func (w *walker) report(at, what, hint string) {
	w.suspects[at] = true
	w.problems = append(w.problems, w.loc.problem(at, what, hint))
}

// section fills a struct from a table. The keys in others are known to somebody
// else and left alone; they serve the did-you-mean.
func (w *walker) section(dst reflect.Value, raw map[string]any, at string, others ...string) {
	fields := fieldsOf(dst.Type())
	known := slices.Clone(others)
	for _, f := range fields {
		known = append(known, f.key)
	}
	unknown := maps.Clone(raw)
	for _, key := range known {
		delete(unknown, key)
	}
	if k, ok := dst.Addr().Interface().(keeper); ok {
		w.misspelt(unknown, fields, raw, at)
		k.keep(unknown, at, w)
	} else {
		w.unknown(unknown, known, raw, at)
	}
	for _, f := range fields {
		key := joinKey(at, f.key)
		value, present := raw[f.key]
		switch {
		case present:
			w.value(dst.FieldByIndex(f.index), value, key, f)
		case f.required && !w.suspects[key]:
			w.missing(dst.FieldByIndex(f.index).Type(), key, f)
		}
	}
}

// misspelt looks, in a section that keeps unknown keys for somebody else, for
// required keys that are missing because they are misspelt, and takes those out.
func (w *walker) misspelt(unknown map[string]any, fields []field, raw map[string]any, at string) {
	var missing []string
	for _, f := range fields {
		if _, present := raw[f.key]; f.required && !present {
			missing = append(missing, f.key)
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
func (w *walker) unknown(unknown map[string]any, known []string, raw map[string]any, at string) {
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		if isSecret(key, unknown[key]) {
			continue // reported by refuseSecrets
		}
		hint := didYouMean(key, known)
		if n := Nearest(key, known); n != "" {
			if _, present := raw[n]; !present {
				w.suspects[joinKey(at, n)] = true
			}
		} else {
			hint = "keys known here: " + strings.Join(known, ", ")
		}
		what := "unknown key"
		switch unknown[key].(type) {
		case map[string]any, []map[string]any:
			what = "unknown section"
		}
		w.report(joinKey(at, key), what, hint)
	}
}

func (w *walker) missing(t reflect.Type, at string, f field) {
	switch {
	case f.key == "unit":
		w.report(at, "missing unit", `a quantity without a unit has unit = "1"`)
	case isSection(t):
		w.report(at, "missing section ["+at+"]", f.doc)
	case t.Kind() == reflect.Slice && isSection(t.Elem()):
		w.report(at, "missing section [["+at+"]]", f.doc)
	case f.doc == "":
		w.report(at, "missing: must be "+typeWords(t), "")
	default:
		w.report(at, "missing: must be "+typeWords(t), f.key+": "+f.doc)
	}
}

// value fills one field, element or map entry from a value of the generic tree.
func (w *walker) value(dst reflect.Value, raw any, at string, f field) {
	t := dst.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		elem := reflect.New(t.Elem())
		setDefaults(elem)
		w.value(elem.Elem(), raw, at, f)
		if !w.suspects[at] || isSection(t.Elem()) {
			dst.Set(elem)
		}
	case t == typeNumbers:
		w.numbers(dst, raw, at, f)
	case t == typeRange:
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

func (w *walker) table(dst reflect.Value, raw any, at string) {
	switch v := raw.(type) {
	case map[string]any:
		w.section(dst, v, at)
	case []map[string]any:
		w.report(at, "is written [["+at+"]], but there can only be one", "write ["+at+"]")
	default:
		w.wrongType(dst.Type(), raw, at)
	}
}

func (w *walker) slice(dst reflect.Value, raw any, at string, f field) {
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
			w.report(at, "is written ["+at+"], but it is a repeated section", "write [["+at+"]]")
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
		w.value(elem, item, itemKey(at, i), f)
		if w.suspects[itemKey(at, i)] {
			w.suspects[at] = true
		}
	}
	dst.Set(out)
}

func (w *walker) mapping(dst reflect.Value, raw any, at string, f field) {
	table, ok := raw.(map[string]any)
	if !ok {
		w.wrongType(dst.Type(), raw, at)
		return
	}
	out := reflect.MakeMap(dst.Type())
	for _, key := range slices.Sorted(maps.Keys(table)) {
		elem := reflect.New(dst.Type().Elem())
		setDefaults(elem)
		w.value(elem.Elem(), table[key], joinKey(at, key), f)
		out.SetMapIndex(reflect.ValueOf(key), elem.Elem())
	}
	dst.Set(out)
}

// numbers takes one number or a list of them.
func (w *walker) numbers(dst reflect.Value, raw any, at string, f field) {
	list, ok := raw.([]any)
	if !ok {
		var one float64
		w.scalar(reflect.ValueOf(&one).Elem(), raw, at, f)
		dst.Set(reflect.ValueOf(Numbers{one}))
		return
	}
	if len(list) == 0 {
		w.report(at, "must hold at least one number, got an empty list", "")
		return
	}
	w.slice(dst, list, at, f)
}

// interval takes [lowest, highest].
func (w *walker) interval(dst reflect.Value, raw any, at string, f field) {
	list, ok := raw.([]any)
	if !ok {
		w.wrongType(typeRange, raw, at)
		return
	}
	if len(list) != 2 {
		w.report(at, fmt.Sprintf("must be a list of two numbers, [lowest, highest], got %d", len(list)), "")
		return
	}
	var ends [2]float64
	for i, end := range list {
		w.scalar(reflect.ValueOf(&ends[i]).Elem(), end, itemKey(at, i), f)
		if w.suspects[itemKey(at, i)] {
			w.suspects[at] = true
		}
	}
	if w.suspects[at] {
		return
	}
	lo, hi := ends[0], ends[1]
	if lo >= hi {
		hint := ""
		if lo > hi {
			hint = fmt.Sprintf("write [%s, %s]", formatNumber(hi), formatNumber(lo))
		}
		w.report(at, fmt.Sprintf("range is upside down or empty: lowest %s is not below highest %s", formatNumber(lo), formatNumber(hi)), hint)
		return
	}
	dst.Set(reflect.ValueOf(Range{Lo: lo, Hi: hi}))
}

// setDefaults fills a section with its defaults, where it has some.
func setDefaults(ptr reflect.Value) {
	if d, ok := ptr.Interface().(defaulter); ok {
		d.SetDefaults()
	}
}
