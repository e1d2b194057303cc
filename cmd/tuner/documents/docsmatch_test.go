package documents

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docsAlign says which line of the output each line of the page stands for; -1 for a
// line "...", which stands for any lines. ok is false where they do not go together.
func docsAlign(shown, output []string, same func(shown, output string) bool) (at []int, ok bool) {
	// fits[i][j]: the rest of shown from i goes with the rest of the output from j.
	fits := make([][]bool, len(shown)+1)
	for i := range fits {
		fits[i] = make([]bool, len(output)+1)
	}
	fits[len(shown)][len(output)] = true
	for i := len(shown) - 1; i >= 0; i-- {
		for j := len(output); j >= 0; j-- {
			if strings.TrimSpace(shown[i]) == "..." {
				fits[i][j] = fits[i+1][j] || j < len(output) && fits[i][j+1]
			} else {
				fits[i][j] = j < len(output) && fits[i+1][j+1] && same(shown[i], output[j])
			}
		}
	}
	if !fits[0][0] {
		return nil, false
	}
	at = make([]int, len(shown))
	for i, j := 0, 0; i < len(shown); i++ {
		if strings.TrimSpace(shown[i]) == "..." {
			for at[i] = -1; !fits[i+1][j]; j++ {
			}
			continue
		}
		at[i] = j
		j++
	}
	return at, true
}

// docsSame: the line is the same, "..." in it being any text.
func docsSame(shown, output string) bool {
	parts := strings.Split(strings.TrimRight(shown, " "), "...")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(strings.TrimRight(output, " "))
}

var docsNumber = regexp.MustCompile(`[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?`)

// docsShape is a regular expression for lines that differ from the shown one in numbers
// and in the width of columns only. What "..." does not cover is captured.
func docsShape(shown string) *regexp.Regexp {
	parts := strings.Split(strings.TrimRight(shown, " "), "...")
	blanks := regexp.MustCompile(` +`)
	for i, p := range parts {
		var b strings.Builder
		for p != "" {
			n := docsNumber.FindStringIndex(p)
			if n == nil {
				n = []int{len(p), len(p)}
			}
			b.WriteString(blanks.ReplaceAllString(regexp.QuoteMeta(p[:n[0]]), " +"))
			if n[0] < n[1] {
				b.WriteString(docsNumber.String())
			}
			p = p[n[1]:]
		}
		parts[i] = "(?P<part>" + b.String() + ")"
		parts[i] = strings.ReplaceAll(parts[i], "(?P<part>", "(?P<part"+string(rune('a'+i))+">")
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

// docsRenew returns the lines of the page with the output's numbers, where the two differ
// in those only.
func docsRenew(shown, output []string) ([]string, bool) {
	at, ok := docsAlign(shown, output, func(s, o string) bool { return docsShape(s).MatchString(strings.TrimRight(o, " ")) })
	if !ok {
		return nil, false
	}
	renewed := slices.Clone(shown)
	for i, j := range at {
		if j < 0 || docsSame(shown[i], output[j]) {
			continue
		}
		shape := docsShape(shown[i])
		found := shape.FindStringSubmatch(strings.TrimRight(output[j], " "))
		var parts []string
		for k, name := range shape.SubexpNames() {
			if strings.HasPrefix(name, "part") {
				parts = append(parts, found[k])
			}
		}
		renewed[i] = strings.Join(parts, "...")
	}
	return renewed, true
}

// TestDocsMatch: what counts as shown truly.
func TestDocsMatch(t *testing.T) {
	output := []string{"begin", "mirror_x  -0.557 mrad", "done in 3.6s", "next: export"}
	for _, c := range []struct {
		shown string
		want  bool
	}{
		{"begin\nmirror_x  -0.557 mrad\ndone in 3.6s\nnext: export", true},
		{"begin\n...\nnext: export", true},
		{"...", true},
		{"...\ndone in ...s\n...", true},
		{"...\nnext: export\n...", true},
		{"begin\n...\nmirror_x  -0.558 mrad\n...", false},
		{"mirror_x  -0.557 mrad\n...", false},
		{"begin\ndone in 3.6s\n...", false},
		{"...\nnext: export\n...\nbegin", false},
		{"begin\n...\nnext", false},
	} {
		if _, ok := docsAlign(strings.Split(c.shown, "\n"), output, docsSame); ok != c.want {
			t.Errorf("%q: %v, want %v", c.shown, ok, c.want)
		}
	}
	renewed, ok := docsRenew([]string{"...", "mirror_x   -1.5 mrad", "done in ...s", "..."}, output)
	if want := []string{"...", "mirror_x  -0.557 mrad", "done in ...s", "..."}; !ok || !slices.Equal(renewed, want) {
		t.Errorf("renewed %q, %v", renewed, ok)
	}
	if renewed, ok := docsRenew([]string{"mirror_y   -1.5 mrad", "..."}, output); ok {
		t.Errorf("renewed %q, which another line was", renewed)
	}
}
