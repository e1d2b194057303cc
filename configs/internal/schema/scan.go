package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// scannedKey is one key or section header of a file.
type scannedKey struct {
	// path is the key as the TOML library lists it: elements of repeated
	// sections and of arrays are not distinguished.
	path []string
	// at is the same key with the indices of those elements.
	at string
	// line counts from one.
	line int
}

// scanner reads the keys of a TOML text, in file order, repeats kept. It is not
// a parser: it relies on the text being valid TOML, which the library has found
// out before, and only skips over values.
type scanner struct {
	text string
	i    int
	line int
	keys []scannedKey
	// tables counts the elements that [[section]] headers have opened.
	tables map[string]int
	// lines holds the first line of every key, of every section (also of one
	// that only the header of a part of it mentions) and of every array element.
	lines map[string]int
}

// scan lists the keys of a valid TOML text and the lines of everything that can
// be pointed at. On a text that is not valid it returns something useless, but
// it returns.
func scan(text string) ([]scannedKey, map[string]int) {
	s := scanner{text: strings.TrimPrefix(text, "\ufeff"), line: 1, tables: map[string]int{}, lines: map[string]int{}}
	context, contextAt := []string(nil), ""
	for s.skipBlank(); s.i < len(s.text); s.skipBlank() {
		before := s.i
		switch {
		case s.eat("[["):
			context, contextAt = s.header(true)
			s.eat("]]")
		case s.eat("["):
			context, contextAt = s.header(false)
			s.eat("]")
		default:
			s.pair(context, contextAt)
		}
		if s.i == before { // not TOML: a character that starts nothing
			s.i++
		}
	}
	return s.keys, s.lines
}

// header reads the name in [name] or [[name]] and returns it as the context of
// the keys that follow.
func (s *scanner) header(repeated bool) (path []string, at string) {
	line := s.line
	path = s.keyParts()
	if len(path) == 0 {
		return nil, ""
	}
	last := len(path) - 1
	for i, part := range path {
		at = Join(at, part)
		if i == last && repeated {
			s.tables[at]++
		}
		s.mark(at, line)
		if n := s.tables[at]; n > 0 {
			at = Item(at, n-1)
			s.mark(at, line)
		}
	}
	s.keys = append(s.keys, scannedKey{path, at, line})
	return path, at
}

// pair reads key = value.
func (s *scanner) pair(context []string, contextAt string) {
	line := s.line
	parts := s.keyParts()
	if len(parts) == 0 {
		return
	}
	at := contextAt
	for _, part := range parts {
		at = Join(at, part)
		s.mark(at, line)
	}
	path := append(append([]string(nil), context...), parts...)
	s.keys = append(s.keys, scannedKey{path, at, line})
	s.skipSpace()
	s.eat("=")
	s.skipSpace()
	s.value(path, at)
}

// value skips a value and records the keys of inline tables in it.
func (s *scanner) value(path []string, at string) {
	switch {
	case s.eat("["):
		for n := 0; s.skipFiller(); n++ {
			if s.eat("]") {
				return
			}
			before := s.i
			item := Item(at, n)
			s.mark(item, s.line)
			s.value(path, item)
			if s.i == before {
				s.i++
			}
		}
	case s.eat("{"):
		for s.skipFiller() {
			if s.eat("}") {
				return
			}
			before := s.i
			s.pair(path, at)
			if s.i == before {
				s.i++
			}
		}
	case s.at('"') || s.at('\''):
		s.quoted()
	default:
		end := strings.IndexAny(s.text[s.i:], ",]}#\r\n")
		if end < 0 {
			end = len(s.text) - s.i
		}
		s.i += end
	}
}

// keyParts reads the parts of a dotted key, up to what is not part of one.
func (s *scanner) keyParts() []string {
	var parts []string
	for {
		s.skipSpace()
		switch {
		case s.at('"') || s.at('\''):
			parts = append(parts, s.quoted())
		default:
			end := s.i
			for end < len(s.text) && isBare(s.text[end]) {
				end++
			}
			if end == s.i {
				return parts
			}
			parts = append(parts, s.text[s.i:end])
			s.i = end
		}
		s.skipSpace()
		if !s.eat(".") {
			return parts
		}
	}
}

// quoted reads a string of any of the four kinds and returns its content. That
// of a multi-line string is not decoded further, because no key may be one.
func (s *scanner) quoted() string {
	mark := s.text[s.i]
	triple := strings.Repeat(string(mark), 3)
	if s.eat(triple) {
		start := s.i
		for s.i < len(s.text) && !strings.HasPrefix(s.text[s.i:], triple) {
			s.step(mark == '"')
		}
		end := s.i
		s.eat(triple)
		// Up to two quotes may stand right before the closing three.
		for range 2 {
			if s.at(mark) {
				s.i++
			}
		}
		return s.text[start:end]
	}
	s.i++
	start := s.i
	for s.i < len(s.text) && !s.at(mark) && !s.at('\n') {
		s.step(mark == '"')
	}
	content := s.text[start:s.i]
	s.eat(string(mark))
	if mark == '"' {
		return unescape(content)
	}
	return content
}

// step passes one character of a string, or two where a backslash escapes.
func (s *scanner) step(escapes bool) {
	if escapes && s.at('\\') {
		s.i++
	}
	if s.at('\n') {
		s.line++
	}
	if s.i < len(s.text) {
		s.i++
	}
}

// skipBlank passes white space, line ends and comments.
func (s *scanner) skipBlank() {
	for s.i < len(s.text) {
		switch s.text[s.i] {
		case ' ', '\t', '\r':
			s.i++
		case '\n':
			s.line++
			s.i++
		case '#':
			if end := strings.IndexByte(s.text[s.i:], '\n'); end >= 0 {
				s.i += end
			} else {
				s.i = len(s.text)
			}
		default:
			return
		}
	}
}

// skipFiller passes what stands between the elements of an array or an inline
// table and reports whether anything follows.
func (s *scanner) skipFiller() bool {
	for s.skipBlank(); s.eat(","); s.skipBlank() {
	}
	return s.i < len(s.text)
}

func (s *scanner) skipSpace() {
	for s.at(' ') || s.at('\t') {
		s.i++
	}
}

func (s *scanner) at(c byte) bool { return s.i < len(s.text) && s.text[s.i] == c }

func (s *scanner) eat(prefix string) bool {
	if strings.HasPrefix(s.text[s.i:], prefix) {
		s.i += len(prefix)
		return true
	}
	return false
}

// mark notes the first line of a key.
func (s *scanner) mark(at string, line int) {
	if _, known := s.lines[at]; !known {
		s.lines[at] = line
	}
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// unescape replaces the escapes of a basic string.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	simple := map[byte]byte{'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r', 'e': 0x1b, '"': '"', '\\': '\\'}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if c, ok := simple[s[i]]; ok {
			b.WriteByte(c)
			continue
		}
		n := digits[s[i]]
		code, err := strconv.ParseUint(s[i+1:min(i+1+n, len(s))], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			b.WriteByte(s[i])
			continue
		}
		b.WriteRune(rune(code))
		i += n
	}
	return b.String()
}

// Join appends a part to a key: "objective" and "goal" give "objective.goal".
// A part that is not a bare key is quoted, so that keys stay unambiguous.
func Join(at, part string) string {
	bare := part != ""
	for i := 0; i < len(part); i++ {
		bare = bare && isBare(part[i])
	}
	if !bare {
		part = strconv.Quote(part)
	}
	if at == "" {
		return part
	}
	return at + "." + part
}

// Item appends an index: "sensor" and 2 give "sensor[2]".
func Item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
