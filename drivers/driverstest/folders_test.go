package driverstest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Every driver's folder has the same parts in the same places, so that who knows one
// finds his way in all. A new folder beside them must have them too.
func TestFoldersAreAlike(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "driverstest" {
			continue
		}
		found++
		folder := filepath.Join("..", e.Name())
		for _, name := range []string{"README.md", "doc.go", "sample.toml", "device.go"} {
			if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
				t.Errorf("drivers/%s has no %s", e.Name(), name)
			}
		}
		text := tests(t, folder)
		if e.Name() == "sim" { // which this package may import
			text = append(text, tests(t, ".")...)
		}
		for what, mark := range map[string]string{"decodes its sample.toml": `"sample.toml"`, "checks it against the contract": "driverstest.Conform(t,"} {
			if !bytes.Contains(text, []byte(mark)) {
				t.Errorf("drivers/%s has no test that %s", e.Name(), what)
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d folders were looked at", found)
	}
}

// tests is the text of a folder's tests.
func tests(t *testing.T, folder string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}
