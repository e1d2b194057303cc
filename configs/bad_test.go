package configs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateFlag = flag.Bool("update", false, "rewrite the golden files")

// marker ends the lines of a bad file at which a problem belongs. The golden
// files hold what is said; the marks, written by hand, say where.
const marker = "# wrong"

// TestBadFiles reads every broken configuration of testdata/bad and compares
// every message, line and hint with the golden file beside it.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 25 {
		t.Fatalf("%d broken configurations, want at least 25", len(files))
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".toml"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(path), text, known())
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("got error %v, want an *Error", err)
			}
			compareGolden(t, strings.TrimSuffix(path, ".toml")+".golden", render(bad))
			compareMarks(t, string(text), bad)
		})
	}
}

// render writes problems as they are shown: message, then hint.
func render(e *Error) string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(p.String() + "\n")
		if p.Hint != "" {
			b.WriteString("  hint: " + p.Hint + "\n")
		}
	}
	return b.String()
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *updateFlag {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// compareMarks checks that problems are on marked lines, and that every marked
// line has one. A file without marks is about its beginning or its syntax.
func compareMarks(t *testing.T, text string, e *Error) {
	t.Helper()
	if !strings.Contains(text, marker) {
		return
	}
	var want, got []int
	for i, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(line, marker) {
			want = append(want, i+1)
		}
	}
	for _, p := range e.Problems {
		// What a file lacks as a whole is reported at its first line.
		if p.Line != 1 {
			got = append(got, p.Line)
		}
	}
	got = slices.Compact(got)
	if !slices.Equal(got, want) {
		t.Errorf("problems on lines %v, marked %v", got, want)
	}
}
