package schema

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The schema of a version never changes once files of it are kept: a change asks for
// a new version. Version 4 has the tables of version 3: other checksums make it one.
func TestSchemaIsOfItsVersion(t *testing.T) {
	for name, now := range map[string]string{"testdata/schema-v1.sql": version1, "testdata/schema-v2.sql": version2, "testdata/schema-v3.sql": version3} {
		if kept, err := os.ReadFile(name); err != nil || string(kept) != now {
			t.Errorf("%s is not what the version is now (%v)", name, err)
		}
	}
	if Version != 4 {
		t.Errorf("the schema is version %d: keep a file in testdata for each version before it", Version)
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
