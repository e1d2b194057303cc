package mqtt

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/drivers/exec/wire"
)

// maxIndex bounds an array index in a path.
const maxIndex = 9999

// path is where a number is in a JSON value; the empty path is the value
// itself.
type path []step

// step is one key or, where key is empty, one array index.
type step struct {
	key   string
	index int
}

// parsePath reads keys that are separated by full stops, each followed by any
// number of indices in brackets; an index may also come first: a.b[2].c, [0].x.
func parsePath(text string) (path, error) {
	if text == "" {
		return nil, nil
	}
	var p path
	for i, part := range strings.Split(text, ".") {
		key, indices, bracket := strings.Cut(part, "[")
		if key == "" && !(i == 0 && bracket) {
			return nil, fmt.Errorf("path %q has an empty key", text)
		}
		if key != "" {
			p = append(p, step{key: key})
		}
		for bracket {
			var digits string
			var closed bool
			digits, indices, closed = strings.Cut(indices, "]")
			n, err := strconv.ParseUint(digits, 10, 32)
			if !closed || err != nil || n > maxIndex {
				return nil, fmt.Errorf("path %q: an index is a whole number up to %d in brackets, as in probes[0]", text, maxIndex)
			}
			p = append(p, step{index: int(n)})
			if indices == "" {
				break
			}
			if indices[0] != '[' {
				return nil, fmt.Errorf("path %q: %q follows an index; a full stop or another index may", text, indices)
			}
			indices = indices[1:]
		}
	}
	return p, nil
}

// String writes the path as a file does.
func (p path) String() string {
	text := ""
	for i, s := range p {
		switch {
		case s.key == "":
			text += fmt.Sprintf("[%d]", s.index)
		case i == 0:
			text += s.key
		default:
			text += "." + s.key
		}
	}
	return text
}

// find follows the path in a value of package wire.
func (p path) find(v any) (any, bool) {
	for _, s := range p {
		if s.key != "" {
			members, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = members[s.key]; !ok {
				return nil, false
			}
			continue
		}
		list, ok := v.([]any)
		if !ok || s.index >= len(list) {
			return nil, false
		}
		v = list[s.index]
	}
	return v, true
}

// put returns v with leaf at the path, making what is missing on the way. A value
// in the way is replaced.
func (p path) put(v, leaf any) any {
	if len(p) == 0 {
		return leaf
	}
	if p[0].key != "" {
		members, ok := v.(map[string]any)
		if !ok {
			members = map[string]any{}
		}
		members[p[0].key] = p[1:].put(members[p[0].key], leaf)
		return members
	}
	list, _ := v.([]any)
	for len(list) <= p[0].index {
		list = append(list, nil)
	}
	list[p[0].index] = p[1:].put(list[p[0].index], leaf)
	return list
}

// numberOf takes a JSON number, or text that holds a decimal number, as some
// firmware sends.
func numberOf(v any) (float64, error) {
	switch t := v.(type) {
	case float64:
		return t, nil
	case string:
		return wire.Number(t)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("%T is not a number: %w", v, err)
	}
	return 0, fmt.Errorf("%s is not a number", wire.Quote(text))
}
