package documents

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keyHeading is a section of the reference: its name in TOML's brackets, with what it needs.
var keyHeading = regexp.MustCompile("^### (Top of the file|`\\[[a-z_]+[A-Za-z_.]*\\]`|`\\[\\[[a-z_]+[A-Za-z_.]*\\]\\]`)( with [a-z]+ = \"[a-z]+\")?$")

// TestKeysAreExplained: every section of the configuration reference has a heading whose
// brackets match and that stands there once, and every key a line that says what it is for.
func TestKeysAreExplained(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(referenceOfConfiguration(t)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "#") {
			continue
		}
		if !keyHeading.MatchString(line) {
			t.Errorf("malformed heading %q", line)
		}
		if seen[line] {
			t.Errorf("heading %q stands there twice", line)
		}
		seen[line] = true
	}
	keys := map[string]bool{}
	for _, d := range schemaDocs() {
		key := d.Section + " " + d.Key
		if keys[key] {
			t.Errorf("%s is documented twice", key)
		}
		keys[key] = true
		if words := strings.Fields(d.What); len(words) < 2 {
			t.Errorf("%s: %q does not say what it is for", key, d.What)
		}
	}
	if len(keys) < 300 || len(seen) < 50 {
		t.Errorf("%d keys in %d sections", len(keys), len(seen))
	}
}

// TestMalformedHeadingsAreSeen: the test above does not let them through.
func TestMalformedHeadingsAreSeen(t *testing.T) {
	for heading, want := range map[string]bool{
		"### `[[device]]` with driver = \"exec\"": true,
		"### `[device.channel.NAME]`":             true,
		"### `[[device]` with driver = \"exec\"":  false,
		"### `[device]]` with driver = \"exec\"":  false,
		"### `[[device]] with driver = \"exec\"":  false,
		"### [device]":                            false,
	} {
		if keyHeading.MatchString(heading) != want {
			t.Errorf("%s: %v", heading, !want)
		}
	}
}

// TestGlossary: at most forty words of ours, in order, each once.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z -]+) \| [^|]+ \|$`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "word" {
			words = append(words, m[1])
		}
	}
	if len(words) < 30 || len(words) > 40 {
		t.Errorf("%d words", len(words))
	}
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("not in order, or not each once: %q", words)
	}
}
