package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scalar takes one number, text, truth value, duration or time.
func (w *Walker) scalar(dst reflect.Value, raw any, at string, f Field) {
	t := dst.Type()
	switch v := raw.(type) {
	case string:
		switch {
		case t == TypeDuration:
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
		case t != TypeDuration && dst.CanInt():
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

func (w *Walker) text(dst reflect.Value, v, at string, f Field) {
	if f.Required && strings.TrimSpace(v) == "" {
		if f.Key == "unit" {
			w.Report(at, "unit is empty", `a quantity without a unit has unit = "1"`)
			return
		}
		w.Report(at, "is empty", f.Key+": "+f.Doc)
		return
	}
	words := f.Enum
	if f.list != "" {
		words = w.words(f.list)
	}
	if len(words) > 0 && !slices.Contains(words, v) {
		w.word(v, at, words)
		return
	}
	dst.SetString(v)
}

// word reports a word that is none of a key's. A long list goes into the hint,
// and only where no word is near.
func (w *Walker) word(v, at string, words []string) {
	const few = 8
	hint := DidYouMean(v, words)
	if len(words) <= few {
		w.Report(at, fmt.Sprintf("must be %s, got %q", enumText(words), shorten(v)), hint)
		return
	}
	if hint == "" {
		hint = "words known here: " + strings.Join(words, ", ")
	}
	w.Report(at, fmt.Sprintf("unknown word %q", shorten(v)), hint)
}

func (w *Walker) duration(dst reflect.Value, v, at string, f Field) {
	d, err := time.ParseDuration(v)
	if err != nil {
		w.Report(at, fmt.Sprintf("must be %s, got %q", TypeWords(TypeDuration), shorten(v)), "units are ns, us, ms, s, m and h; they may be combined, as in \"1h30m\", up to 2562047h")
		return
	}
	if !w.within(d.Seconds(), FormatDuration(d), at, f) {
		return
	}
	dst.SetInt(int64(d))
}

func (w *Walker) number(dst reflect.Value, v float64, at string, f Field) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.Report(at, "must be a finite number, got "+strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "")
		return
	}
	if w.within(v, FormatNumber(v), at, f) {
		dst.SetFloat(v)
	}
}

func (w *Walker) integer(dst reflect.Value, v int64, at string, f Field) {
	if !w.within(float64(v), strconv.FormatInt(v, 10), at, f) {
		return
	}
	switch {
	case dst.CanInt() && !dst.OverflowInt(v):
		dst.SetInt(v)
	case dst.CanUint() && v >= 0 && !dst.OverflowUint(uint64(v)):
		dst.SetUint(uint64(v))
	default:
		w.Report(at, fmt.Sprintf("%d does not fit into %s", v, dst.Type()), "")
	}
}

func (w *Walker) within(v float64, text, at string, f Field) bool {
	if Allows(f.Bounds, v) {
		return true
	}
	w.Report(at, fmt.Sprintf("must be %s, got %s", BoundText(f.Bounds), text), "")
	return false
}

func (w *Walker) wrongType(t reflect.Type, raw any, at string) {
	hint := ""
	switch v := raw.(type) {
	case string:
		_, err := strconv.ParseFloat(v, 64)
		if err == nil && (t.Kind() == reflect.Float64 || TypeWords(t) == "a whole number") {
			hint = "remove the quotes"
		}
	case int64, float64:
		if t == TypeDuration {
			hint = fmt.Sprintf("say which unit: \"%s\" or \"%sms\"", Describe(raw)+"s", Describe(raw))
		}
	}
	w.Report(at, fmt.Sprintf("must be %s, got %s", TypeWords(t), Describe(raw)), hint)
}
