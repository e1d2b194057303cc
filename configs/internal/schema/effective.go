package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OriginDefault is the origin of a setting that the file does not have.
const OriginDefault = "default"

// Setting is one key of the effective configuration.
type Setting struct {
	// Key as messages name it: sensor.energy.range.
	Key string
	// Value in TOML.
	Value string
	// Origin is FILE:LINE, or "default".
	Origin string
}

// Written says that the file has the key.
func (s Setting) Written() bool { return s.Origin != OriginDefault }

// Effective lists every key of a struct that has a value, with where the value comes from,
// in the struct's order, repeated sections in file order; those that owned has of a section
// come after its own. Keys that are optional and absent are not listed.
func Effective(of any, owned map[string][]any, loc *Locator) []Setting {
	return effective(reflect.ValueOf(of).Elem(), "", owned, loc)
}

// effective lists the keys of the section at a key.
func effective(section reflect.Value, at string, owned map[string][]any, loc *Locator) []Setting {
	s := settings{loc: loc}
	each(section, at, owned, visitor{
		key: func(at string, f Field, v reflect.Value) {
			origin := loc.origin(at)
			if origin == OriginDefault && (isAbsent(v) || f.absent && v.IsZero()) {
				return
			}
			s.list = append(s.list, Setting{Key: loc.label(at), Value: tomlValue(v.Interface()), Origin: origin})
		},
		kept: s.ownKeys,
	})
	return s.list
}

// settings collects the keys of structs.
type settings struct {
	loc  *Locator
	list []Setting
}

// ownKeys lists what another package's keys were decoded into, with its defaults; until then
// they are as the file has them.
func (s *settings) ownKeys(o OwnKeys) {
	if o.settings != nil && *o.settings != nil {
		s.list = append(s.list, *o.settings...)
		return
	}
	s.raw(o.Raw, o.At)
}

func (s *settings) raw(raw any, at string) {
	if table, ok := raw.(map[string]any); ok {
		for _, key := range slices.Sorted(maps.Keys(table)) {
			s.raw(table[key], Join(at, key))
		}
		return
	}
	s.list = append(s.list, Setting{Key: s.loc.label(at), Value: tomlValue(raw), Origin: s.loc.origin(at)})
}

func stringKeys(m reflect.Value) map[string]bool {
	keys := make(map[string]bool, m.Len())
	for _, k := range m.MapKeys() {
		keys[k.String()] = true
	}
	return keys
}

// isAbsent reports whether a value is how an optional key that is not in the
// file looks: an empty text or list. Numbers and truth values always have one.
func isAbsent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice:
		return v.Len() == 0
	}
	return v.Type() == TypeRange && v.IsZero()
}

// tomlValue writes a value as TOML.
func tomlValue(value any) string {
	switch v := value.(type) {
	case string:
		return TomlString(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return tomlFloat(v)
	case time.Duration:
		return strconv.Quote(FormatDuration(v))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case Range:
		return "[" + tomlFloat(v.Lo) + ", " + tomlFloat(v.Hi) + "]"
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = tomlValue(v.Index(i).Interface())
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Map:
		var items []string
		for _, key := range slices.SortedFunc(maps.Keys(stringKeys(v)), strings.Compare) {
			items = append(items, Join("", key)+" = "+tomlValue(v.MapIndex(reflect.ValueOf(key)).Interface()))
		}
		return "{ " + strings.Join(items, ", ") + " }"
	}
	return fmt.Sprint(value)
}

// tomlFloat writes a number so that TOML reads it back as a float.
func tomlFloat(v float64) string {
	s := FormatNumber(v)
	if !strings.ContainsAny(s, ".eE") {
		s += ".0"
	}
	return s
}

// TomlString quotes text with the escapes that TOML knows.
func TomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
