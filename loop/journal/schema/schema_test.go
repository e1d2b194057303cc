package schema

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The schema of a version never changes once files of it exist: a change asks for
// a new version. Version 2 is in no release yet; when it is, it gets
// its own file here.
func TestSchemaIsOfItsVersion(t *testing.T) {
	if first, err := os.ReadFile("testdata/schema-v1.sql"); err != nil || string(first) != version1 {
		t.Errorf("version 1 is not what it was (%v)", err)
	}
	if Version != 2 {
		t.Errorf("the schema is version %d: keep testdata/schema-v1.sql and add one for each version before it", Version)
	}
}

// The package comment draws every table, and no other.
func TestSchemaIsDrawn(t *testing.T) {
	doc, err := os.ReadFile("../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, _ := strings.Cut(string(doc), "# Schema")
	drawing, _, _ = strings.Cut(drawing, "# Checksums")
	drawn := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t[ │├└─]*([a-z_]+)( |$)`).FindAllStringSubmatch(drawing, -1) {
		drawn[m[1]] = true
	}
	for _, def := range Definitions(Version) {
		if !drawn[def.Table] {
			t.Errorf("table %s is not drawn", def.Table)
		}
		delete(drawn, def.Table)
		if !strings.HasSuffix(def.SQL, "STRICT") && !strings.HasSuffix(def.SQL, "STRICT, WITHOUT ROWID") {
			t.Errorf("table %s is not STRICT", def.Table)
		}
	}
	for name := range drawn {
		t.Errorf("%s is drawn, but is no table", name)
	}
}
