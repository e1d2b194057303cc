package configs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReloadPage carries out each change of the table of docs/service.md, and holds the
// answer against what the page says.
func TestReloadPage(t *testing.T) {
	page, err := os.ReadFile("../docs/service.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(.+)` \\| `(.+)` \\| (taken over|refused: )(.*) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Fatalf("the page has %d changes", len(rows))
	}
	for _, row := range rows {
		name, old, now, answer, why := row[1], row[2], row[3], row[4], row[5]
		text := sampleText(name)
		if !strings.Contains(text, "\n"+old+"\n") {
			t.Errorf("the sample %s has no line %s", name, old)
			continue
		}
		before, err := Parse(name+".toml", []byte(text), known())
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse(name+".toml", []byte(strings.ReplaceAll(text, "\n"+old+"\n", "\n"+now+"\n")), known())
		if err != nil {
			t.Errorf("%s: %v", now, err)
			continue
		}
		changes, problems := before.Narrowed(after)
		if taken := len(problems) == 0 && len(changes) > 0; taken != (answer == "taken over") {
			t.Errorf("%s: changes %q, problems %v; the page says %s", now, changes, problems, answer)
		}
		for _, p := range problems {
			if !strings.Contains(p.String(), why) {
				t.Errorf("%s: refused with %q; the page says %q", now, p, why)
			}
		}
	}
}
