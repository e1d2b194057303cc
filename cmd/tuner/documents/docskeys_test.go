package documents

import (
	"regexp"
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
