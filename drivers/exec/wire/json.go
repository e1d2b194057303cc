package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrNotJSON is wrapped by the errors of [Value] and [Object].
var ErrNotJSON = errors.New("not strict JSON")

// maxDepth bounds the nesting of arrays and objects.
const maxDepth = 32

// Value reads one JSON value. Objects are map[string]any, arrays []any, numbers
// float64, and null nil. Beside what encoding/json refuses, these are errors
// that wrap [ErrNotJSON]: bytes that are not UTF-8, a key that comes twice in
// one object, a number beyond the range of float64, nesting deeper than 32.
func Value(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is %w: its bytes are not UTF-8", Quote(data), ErrNotJSON)
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("%s is %w: %s", Quote(data), ErrNotJSON, syntaxError(data))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := value(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("%s is %w: %w", Quote(data), ErrNotJSON, err)
	}
	return v, nil
}

// Object reads one JSON object, by the rules of [Value].
func Object(data []byte) (map[string]any, error) {
	v, err := Value(data)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is %w object", Quote(data), ErrNotJSON)
	}
	return object, nil
}

// value reads the next value from a decoder whose whole input is valid JSON.
func value(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		return Number(t.String())
	case json.Delim:
		if depth == maxDepth {
			return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
		}
		if t == '{' {
			return object(dec, depth+1)
		}
		return array(dec, depth+1)
	}
	return token, nil
}

func object(dec *json.Decoder, depth int) (map[string]any, error) {
	members := map[string]any{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("%v stands where a key should", token)
		}
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("the key %s comes twice", Quote([]byte(key)))
		}
		if members[key], err = value(dec, depth); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token() // the closing brace
	return members, err
}

func array(dec *json.Decoder, depth int) ([]any, error) {
	elements := []any{}
	for dec.More() {
		v, err := value(dec, depth)
		if err != nil {
			return nil, err
		}
		elements = append(elements, v)
	}
	_, err := dec.Token() // the closing bracket
	return elements, err
}

// syntaxError says what is wrong with data, which is not valid JSON.
func syntaxError(data []byte) string {
	if len(bytes.TrimSpace(data)) == 0 {
		return "it is empty"
	}
	var v any
	err := json.Unmarshal(data, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Sprint(err)
	}
	// What printf and Python write where they have no number, with or without sign.
	at := min(int(max(syntax.Offset-1, 0)), len(data))
	for _, word := range []string{"NaN", "Infinity", "inf"} {
		if bytes.HasPrefix(data[at:], []byte(word)) {
			return fmt.Sprintf("%s is not a number in JSON, leave the value out instead", word)
		}
	}
	return fmt.Sprintf("%s at byte %d", syntax.Error(), syntax.Offset)
}
