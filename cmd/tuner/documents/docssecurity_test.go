package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityEvidenceNamesTests holds the tests that docs/development/security-evidence.md names, each with the
// folder of its package, against those that there are.
func TestSecurityEvidenceNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../../docs/development/security-evidence.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, part := range regexp.MustCompile("((?:`(?:Test|Fuzz)[A-Za-z0-9]+`(?:, )?)+) in ([a-z/]+)").FindAllStringSubmatch(string(page), -1) {
		files, err := filepath.Glob("../../../" + part[2] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		for _, name := range regexp.MustCompile("`([A-Za-z0-9]+)`").FindAllStringSubmatch(part[1], -1) {
			named++
			if !strings.Contains(source.String(), "\nfunc "+name[1]+"(") {
				t.Errorf("there is no %s in %s", name[1], part[2])
			}
		}
	}
	if all := len(regexp.MustCompile("`(Test|Fuzz)").FindAllString(string(page), -1)); named == 0 || named != all {
		t.Errorf("of %d names of tests %d have a package", all, named)
	}
}
