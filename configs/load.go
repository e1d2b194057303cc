package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Load reads and checks a configuration file; known is what there is. The error, if any, is an *Error
// with every problem of the file; as with [Parse], a Config may come beside it.
func Load(path string, known *Known) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		reason := err
		if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
			reason = pathErr.Err // the path stands in the problem already
		}
		return nil, &Error{cause: err, Problems: []Problem{{
			File: path,
			What: "cannot be read: " + reason.Error(),
			Hint: "\"tuner config --sample laser\" prints a file to start from",
		}}}
	}
	return Parse(path, text, known)
}

// Parse checks the text of a configuration file; known is what there is. The name is used in messages,
// and its folder is where relative paths start; no file is touched. The error,
// if any, is an *Error with every problem, or with the one at which the text
// stopped being TOML. A Config that comes beside an error is for asking more of
// it ([Device.Decode]), so that all problems can be told at once, and for nothing
// else.
func Parse(name string, text []byte, known *Known) (*Config, error) {
	tree, keys, problem := decode(string(text))
	if problem != nil {
		problem.File = name
		return nil, NewError(*problem)
	}
	digest := sha256.Sum256(text)
	c := Default()
	c.File, c.Dir = name, filepath.Dir(name)
	c.known = known
	if known != nil {
		c.Policy.known = &known.Policies
	}
	c.Text, c.SHA256 = text, hex.EncodeToString(digest[:])
	c.loc = newLocator(name, string(text), tree, keys)

	w := newWalker(c.loc, known)
	w.section(reflect.ValueOf(c).Elem(), tree, "")
	w.refuseSecrets(tree, "", "")
	v := checker{cfg: c, walker: w}
	v.all()
	if len(w.problems) > 0 {
		return c, NewError(w.problems...)
	}
	c.derive()
	return c, nil
}

// Validate checks what relates several keys with each other: references, values
// within other keys' bounds, keys that exclude or need each other. What concerns
// one key alone is checked where a file is read; Parse does both. It is for a
// Config that was changed or made in memory.
func (c *Config) Validate() []Problem {
	v := checker{cfg: c, walker: newWalker(c.loc, c.known)}
	v.all()
	return sorted(v.walker.problems)
}

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

// decode parses TOML into a generic tree and the list of its keys.
func decode(text string) (tree map[string]any, keys []toml.Key, problem *Problem) {
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
		return nil, nil, &Problem{Line: syntax.Position.Line, Key: syntax.LastKey, What: "TOML syntax: " + lowerFirst(strings.TrimSuffix(syntax.Message, "."))}
	case err != nil:
		return nil, nil, &Problem{What: "TOML: " + err.Error()}
	}
	return tree, meta.Keys(), nil
}

// lowerFirst puts a library's sentence into the voice of ours. Words in capitals
// stay.
func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsUpper(second) {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}
