package schema

import (
	"testing"

	"github.com/BurntSushi/toml"
)

func locatorOf(t *testing.T, text string) *Locator {
	t.Helper()
	tree, keys, problem := Decode(text)
	if problem != nil {
		t.Fatal(problem)
	}
	return NewLocator("f.toml", text, tree, keys)
}

func TestLocator(t *testing.T) {
	l := locatorOf(t, `[[device]]
name = "a.b"
[device.channel."x[0].y"]
read = { out = "?" }
[[device]]
init = [
  "one",
  "two",
]
`)
	for at, want := range map[string]struct {
		label string
		line  int
	}{
		"device[0].name":                       {"device.a.b.name", 2},
		`device[0].channel."x[0].y".read.out`:  {`device.a.b.channel."x[0].y".read.out`, 4},
		`device[0].channel."x[0].y".write.out`: {`device.a.b.channel."x[0].y".write.out`, 3},
		"device[1].name":                       {"device.2.name", 5},
		"device[1].init[1]":                    {"device.2.init.2", 8},
		"device[2].init":                       {"device.3.init", 1},
		"stop.steps":                           {"stop.steps", 1},
		"":                                     {"", 1},
	} {
		if got := l.label(at); got != want.label {
			t.Errorf("%s is called %q, want %q", at, got, want.label)
		}
		if got := l.Line(at); got != want.line {
			t.Errorf("%s is on line %d, want %d", at, got, want.line)
		}
	}
}

// TestLocatorGivesUpWhenUnsure: no line is better than a wrong one.
func TestLocatorGivesUpWhenUnsure(t *testing.T) {
	const text = "a = 1\nb = 2\n"
	l := NewLocator("f.toml", text, map[string]any{"a": int64(1), "b": int64(2)}, []toml.Key{{"b"}, {"a"}})
	if got := l.Problem("a", "w", ""); got != (Problem{File: "f.toml", Key: "a", What: "w"}) {
		t.Errorf("got %+v", got)
	}
	if got := l.Labelled("b", "w", ""); got != (Problem{File: "f.toml", Key: "b", What: "w"}) {
		t.Errorf("got %+v", got)
	}
	if got := l.origin("a"); got != "f.toml" {
		t.Errorf("origin %s", got)
	}
}
