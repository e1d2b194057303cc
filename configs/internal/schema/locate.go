package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Locator knows the line of every key of a file, and how to name a key to a
// person. Keys are written with indices, as joinKey and itemKey make them. A nil
// locator knows no lines.
type Locator struct {
	file  string
	lines map[string]int
	// names holds the name of each element of a repeated section that has one.
	names map[string]string
	// labels holds the lines again, by the names that messages use.
	labels map[string]int
	// origins say where keys come from that the file does not have.
	origins map[string]string
}

// SetOrigin says in words where a key comes from that the file does not have.
func (l *Locator) SetOrigin(at, source string) {
	if l.origins == nil {
		l.origins = map[string]string{}
	}
	l.origins[at] = source
}

// Label names a key to a person: sensor[0].unit becomes sensor.energy.unit.
func (l *Locator) Label(at string) string { return l.label(at) }

// NewLocator scans the text that was decoded into tree. Where the scanner
// disagrees with the library's list of keys, which no test has shown on valid
// TOML, all lines are given up rather than pointing at a wrong one.
func NewLocator(file, text string, tree map[string]any, keys []toml.Key) *Locator {
	l := &Locator{file: file, names: map[string]string{}, labels: map[string]int{}}
	scanned, lines := scan(text)
	if !aligned(scanned, keys) {
		return l
	}
	l.lines = lines
	l.collectNames(tree, "")
	for at, line := range lines {
		l.labels[l.label(at)] = line
	}
	return l
}

// aligned reports whether the scanner found the same keys as the library.
func aligned(scanned []scannedKey, keys []toml.Key) bool {
	return slices.EqualFunc(scanned, keys, func(s scannedKey, k toml.Key) bool {
		return slices.Equal(s.path, k)
	})
}

// collectNames notes the name key of every element of a repeated section.
func (l *Locator) collectNames(raw any, at string) {
	switch v := raw.(type) {
	case map[string]any:
		for key, value := range v {
			l.collectNames(value, Join(at, key))
		}
	case []any: // a repeated section in one line
		var all []map[string]any
		for _, e := range v {
			table, _ := e.(map[string]any)
			all = append(all, table)
		}
		l.collectNames(all, at)
	case []map[string]any:
		for i, table := range v {
			item := Item(at, i)
			if name, ok := table["name"].(string); ok && name != "" {
				l.names[item] = name
			}
			l.collectNames(table, item)
		}
	}
}

// Line gives the line of a key, or of the closest section around it that has
// one; the file's first line where there is none.
func (l *Locator) Line(at string) int {
	if l == nil || l.lines == nil {
		return 0
	}
	for at != "" {
		if line, ok := l.lines[at]; ok {
			return line
		}
		at = at[:max(strings.LastIndexByte(at, '.'), strings.LastIndexByte(at, '['), 0)]
	}
	return 1
}

// Has says that the file has a key.
func (l *Locator) Has(at string) bool {
	if l == nil {
		return false
	}
	_, ok := l.lines[at]
	return ok
}

// origin gives FILE:LINE of a key that the file has, else "default". Where lines
// were given up, the file is all that is known.
func (l *Locator) origin(at string) string {
	switch {
	case l == nil:
		return OriginDefault
	case l.origins[at] != "":
		return l.origins[at]
	case l.lines == nil:
		return l.file
	}
	line, ok := l.lines[at]
	if !ok {
		return OriginDefault
	}
	return l.file + ":" + strconv.Itoa(line)
}

// label names a key to a person: sensor[0].unit becomes sensor.energy.unit, and
// control_set[2].cost becomes control_set.3.cost.
func (l *Locator) label(at string) string {
	var b strings.Builder
	for i := 0; i < len(at); i++ {
		switch at[i] {
		case '"': // a quoted part is copied as it is
			end := quotedEnd(at, i)
			b.WriteString(at[i:end])
			i = end - 1
		case '[':
			end := i + strings.IndexByte(at[i:], ']') + 1
			b.WriteByte('.')
			b.WriteString(l.itemName(at[:end], at[i+1:end-1]))
			i = end - 1
		default:
			b.WriteByte(at[i])
		}
	}
	return b.String()
}

// itemName is the name of an element, or its number counted from one.
func (l *Locator) itemName(at, index string) string {
	if l != nil && l.names[at] != "" {
		return l.names[at]
	}
	n, err := strconv.Atoi(index)
	if err != nil {
		return index
	}
	return strconv.Itoa(n + 1)
}

// quotedEnd returns the index after the closing quote of the part at i.
func quotedEnd(at string, i int) int {
	for j := i + 1; j < len(at); j++ {
		switch at[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(at)
}

// Problem makes a Problem of a key.
func (l *Locator) Problem(at, what, hint string) Problem {
	p := Problem{Line: l.Line(at), Key: l.label(at), What: what, Hint: hint}
	if l != nil {
		p.File = l.file
	}
	return p
}

// Labelled makes a Problem of a key that is named as in messages.
func (l *Locator) Labelled(label, what, hint string) Problem {
	p := Problem{Key: label, What: what, Hint: hint}
	if l == nil {
		return p
	}
	p.File = l.file
	if l.lines == nil {
		return p
	}
	p.Line = 1
	for part := label; part != ""; part = part[:max(strings.LastIndexByte(part, '.'), 0)] {
		if line, ok := l.labels[part]; ok {
			p.Line = line
			break
		}
	}
	return p
}
