package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Bounds on what is read: a file with every key of the schema and a hundred
// variables has under 100 KiB and nests four deep.
const (
	maxSize  = 1 << 20
	maxDepth = 32
)

// tooDeep says that a tree nests more than left levels.
func tooDeep(tree any, left int) bool {
	if left < 0 {
		return true
	}
	switch t := tree.(type) {
	case map[string]any:
		for _, v := range t {
			if tooDeep(v, left-1) {
				return true
			}
		}
	case []map[string]any:
		for _, v := range t {
			if tooDeep(v, left-1) {
				return true
			}
		}
	case []any:
		for _, v := range t {
			if tooDeep(v, left-1) {
				return true
			}
		}
	}
	return false
}

// Decode parses TOML into a generic tree and the list of its keys.
func Decode(text string) (tree map[string]any, keys []toml.Key, problem *Problem) {
	defer func() {
		// The library answers some malformed texts with a panic of its own.
		if r := recover(); r != nil {
			problem = &Problem{What: "is not TOML that can be read: " + fmt.Sprint(r)}
		}
	}()
	if len(text) > maxSize {
		return nil, nil, &Problem{What: fmt.Sprintf("has %d bytes; a configuration has at most %d", len(text), maxSize)}
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError }); i >= 0 && !utf8.ValidString(text) {
		return nil, nil, &Problem{Line: 1 + strings.Count(text[:i], "\n"), What: "is not UTF-8 text", Hint: "save the file as UTF-8"}
	}
	meta, err := toml.Decode(text, &tree)
	var syntax toml.ParseError
	switch {
	case err == nil && tooDeep(tree, maxDepth):
		return nil, nil, &Problem{What: fmt.Sprintf("tables and lists are nested more than %d deep", maxDepth), Hint: "no key of this schema needs more than 4"}
	case errors.As(err, &syntax):
		return nil, nil, &Problem{Line: syntax.Position.Line, Key: syntax.LastKey, What: "TOML syntax: " + LowerFirst(strings.TrimSuffix(syntax.Message, "."))}
	case err != nil:
		return nil, nil, &Problem{What: "TOML: " + err.Error()}
	}
	return tree, meta.Keys(), nil
}

// LowerFirst puts a library's sentence into the voice of ours. Words in capitals
// stay.
func LowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsUpper(second) {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}
