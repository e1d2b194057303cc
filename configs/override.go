package configs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Override stands in place of what a file says of one key, which may change while a run goes
// on: see [Changeable].
type Override struct {
	// Key as messages name it: variable.mirror_x.range, control_set.2.cost.
	Key string
	// Value in TOML; "": the key is left out.
	Value string
}

// Changeable says that the value of a key may change while a run goes on, in any direction
// that a file may have.
func Changeable(key string, known *Known) bool {
	for _, r := range schema.Tagged(&Config{}, "reload", known.owner()) {
		if matches(key, r[0]) && directions[r[1]] == changeable {
			return true
		}
	}
	return false
}

// override puts overrides into what was decoded of a file.
func override(tree map[string]any, overrides []Override) *Problem {
	for _, o := range overrides {
		if err := overrideOne(tree, o); err != nil {
			return &Problem{Key: o.Key, What: err.Error()}
		}
	}
	return nil
}

func overrideOne(tree map[string]any, o Override) error {
	parts := strings.Split(o.Key, ".")
	for _, part := range parts[:len(parts)-1] {
		inner, err := within(tree, part, o.Value != "")
		if err != nil || inner == nil {
			return err
		}
		tree = inner
	}
	key := parts[len(parts)-1]
	if o.Value == "" {
		delete(tree, key)
		return nil
	}
	var value map[string]any
	if _, err := toml.Decode("value = "+o.Value+"\n", &value); err != nil || len(value) != 1 {
		return fmt.Errorf("%s is no value of this key", o.Value)
	}
	tree[key] = value["value"]
	return nil
}

// within is a table in a table: by its key or, among repeated ones, those of the section that
// the key before it names, by name or number. nil: there is none, and none is made.
func within(tree map[string]any, part string, make bool) (map[string]any, error) {
	if all, repeated := tree[repeatedTables].([]map[string]any); repeated {
		for i, t := range all {
			if t["name"] == part || t["name"] == nil && strconv.Itoa(i+1) == part {
				return t, nil
			}
		}
		return nil, fmt.Errorf("there is no %q among %s", part, strings.Join(namesIn(all), ", "))
	}
	switch inner := tree[part].(type) {
	case map[string]any:
		return inner, nil
	case []map[string]any:
		return map[string]any{repeatedTables: inner}, nil
	case []any: // variable = [{ name = "x" }]
		var tables []map[string]any
		for _, of := range inner {
			if t, ok := of.(map[string]any); ok {
				tables = append(tables, t)
			}
		}
		if len(tables) == len(inner) {
			return map[string]any{repeatedTables: tables}, nil
		}
	case nil:
		if !make {
			return nil, nil
		}
		fresh := map[string]any{}
		tree[part] = fresh
		return fresh, nil
	}
	return nil, fmt.Errorf("%s is no section", part)
}

// repeatedTables is a key that no file can have.
const repeatedTables = "\x00"

// namesIn are what repeated sections are named by.
func namesIn(all []map[string]any) (names []string) {
	for i, t := range all {
		if name, ok := t["name"].(string); ok {
			names = append(names, name)
		} else {
			names = append(names, strconv.Itoa(i+1))
		}
	}
	return names
}

// Changed lists what a changed file says of the keys that may change in any direction while a
// run goes on, where that differs.
func (c *Config) Changed(next *Config) (all []Override) {
	before, after := map[string]string{}, map[string]string{}
	for _, of := range []struct {
		c    *Config
		into map[string]string
	}{{c, before}, {next, after}} {
		for _, s := range of.c.Effective() {
			if Changeable(s.Key, next.known) {
				of.into[s.Key] = s.Value
			}
		}
	}
	for key := range before {
		if _, there := after[key]; !there {
			after[key] = ""
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if after[key] != before[key] {
			all = append(all, Override{Key: key, Value: after[key]})
		}
	}
	return all
}

// ValueOf is what a file has of a key, in TOML; "" where it has none.
func (c *Config) ValueOf(key string) string {
	for _, s := range c.Effective() {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
