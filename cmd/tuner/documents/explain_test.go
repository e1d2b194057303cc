package documents

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/describe"
)

// TestSafetyPageHasTheRules: the table of docs/safety.md is the one that the code
// reads, and the states are described there as by the command.
func TestSafetyPageHasTheRules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "safety.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var rules bytes.Buffer
	describe.RulesMarkdown(&rules)
	_, rest, ok := strings.Cut(page, "<!-- rules: begin -->\n")
	table, _, ended := strings.Cut(rest, "<!-- rules: end -->")
	if !ok || !ended || strings.TrimSpace(table) != strings.TrimSpace(rules.String()) {
		t.Error("the rules of docs/safety.md are not those of tuner safety explain --markdown: put them between the marks")
	}
	for _, s := range describe.States {
		if line := "| " + s.Mode.String() + " | " + s.Output + " | " + s.LeavesBy + " |"; !strings.Contains(page, line) {
			t.Errorf("docs/safety.md lacks the line %q", line)
		}
	}
	if !strings.Contains(page, "no certified safety function") || !strings.Contains(page, "emergency stop") {
		t.Error("docs/safety.md does not say what tuner is not")
	}
}
