package configs

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
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
}

func newWalker(loc *locator) *walker {
	return &walker{loc: loc, suspects: map[string]bool{}}
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
		w.report(joinKey(at, key), "unknown key", hint)
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
		w.report(at, "missing: must be "+typeWords(t), f.key+" is "+f.doc)
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

// scalar takes one number, text, truth value, duration or time.
func (w *walker) scalar(dst reflect.Value, raw any, at string, f field) {
	t := dst.Type()
	switch v := raw.(type) {
	case string:
		switch {
		case t == typeDuration:
			w.duration(dst, v, at, f)
			return
		case t.Kind() == reflect.String:
			w.text(dst, v, at, f)
			return
		}
	case bool:
		if t.Kind() == reflect.Bool {
			dst.SetBool(v)
			return
		}
	case int64:
		switch {
		case t.Kind() == reflect.Float64:
			w.number(dst, float64(v), at, f)
			return
		case t != typeDuration && dst.CanInt():
			w.integer(dst, v, at, f)
			return
		case dst.CanUint():
			w.integer(dst, v, at, f)
			return
		}
	case float64:
		if t.Kind() == reflect.Float64 {
			w.number(dst, v, at, f)
			return
		}
	case time.Time:
		if t == typeTime && !isLocalTime(v) {
			dst.Set(reflect.ValueOf(v))
			return
		}
	}
	w.wrongType(t, raw, at)
}

// isLocalTime reports whether a TOML time carries no offset. The library marks
// those by the names of its zones.
func isLocalTime(t time.Time) bool {
	return strings.HasSuffix(t.Location().String(), "-local")
}

func (w *walker) text(dst reflect.Value, v, at string, f field) {
	if f.required && strings.TrimSpace(v) == "" {
		if f.key == "unit" {
			w.report(at, "unit is empty", `a quantity without a unit has unit = "1"`)
			return
		}
		w.report(at, "is empty", f.key+" is "+f.doc)
		return
	}
	if len(f.enum) > 0 && !slices.Contains(f.enum, v) {
		w.report(at, fmt.Sprintf("must be %s, got %q", enumText(f.enum), shorten(v)), didYouMean(v, f.enum))
		return
	}
	dst.SetString(v)
}

func (w *walker) duration(dst reflect.Value, v, at string, f field) {
	d, err := time.ParseDuration(v)
	if err != nil {
		w.report(at, fmt.Sprintf("must be %s, got %q", typeWords(typeDuration), shorten(v)), "units are ns, us, ms, s, m and h; they may be combined, as in \"1h30m\"")
		return
	}
	if !w.within(d.Seconds(), formatDuration(d), at, f) {
		return
	}
	dst.SetInt(int64(d))
}

func (w *walker) number(dst reflect.Value, v float64, at string, f field) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.report(at, "must be a finite number, got "+strconv.FormatFloat(v, 'g', -1, 64), "")
		return
	}
	if w.within(v, formatNumber(v), at, f) {
		dst.SetFloat(v)
	}
}

func (w *walker) integer(dst reflect.Value, v int64, at string, f field) {
	if !w.within(float64(v), strconv.FormatInt(v, 10), at, f) {
		return
	}
	switch {
	case dst.CanInt() && !dst.OverflowInt(v):
		dst.SetInt(v)
	case dst.CanUint() && v >= 0 && !dst.OverflowUint(uint64(v)):
		dst.SetUint(uint64(v))
	default:
		w.report(at, fmt.Sprintf("%d does not fit into %s", v, dst.Type()), "")
	}
}

func (w *walker) within(v float64, text, at string, f field) bool {
	if allows(f.bounds, v) {
		return true
	}
	w.report(at, fmt.Sprintf("must be %s, got %s", boundText(f.bounds), text), "")
	return false
}

func (w *walker) wrongType(t reflect.Type, raw any, at string) {
	hint := ""
	switch v := raw.(type) {
	case string:
		_, err := strconv.ParseFloat(v, 64)
		if err == nil && (t.Kind() == reflect.Float64 || typeWords(t) == "a whole number") {
			hint = "remove the quotes"
		}
	case int64, float64:
		if t == typeDuration {
			hint = fmt.Sprintf("say which unit: \"%s\" or \"%sms\"", describe(raw)+"s", describe(raw))
		}
	}
	w.report(at, fmt.Sprintf("must be %s, got %s", typeWords(t), describe(raw)), hint)
}

// setDefaults fills a section with its defaults, where it has some.
func setDefaults(ptr reflect.Value) {
	if d, ok := ptr.Interface().(defaulter); ok {
		d.SetDefaults()
	}
}
