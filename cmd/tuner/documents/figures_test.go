package documents

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/web/plots"
	"github.com/labtuner/tuner/scripts/testsize"
)

var figureLine = regexp.MustCompile(`(?m)^plot (\S+) (\S+\.svg) --kind (\S+)`)

// TestFiguresAreOfTheScript: docs/images holds the drawings that scripts/figures makes and no others, each of a kind that
// there is, and each is shown on a page.
func TestFiguresAreOfTheScript(t *testing.T) {
	script, err := os.ReadFile("../../../scripts/figures")
	if err != nil {
		t.Fatal(err)
	}
	var made, kinds []string
	for _, k := range plots.Kinds() {
		kinds = append(kinds, k.Name)
	}
	for _, m := range figureLine.FindAllStringSubmatch(string(script), -1) {
		if made = append(made, m[2]); !slices.Contains(kinds, m[3]) {
			t.Errorf("scripts/figures: there is no kind %q", m[3])
		}
	}
	paths, err := filepath.Glob("../../../docs/images/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, p := range paths {
		there = append(there, filepath.Base(p))
	}
	slices.Sort(made)
	if !slices.Equal(made, there) || len(made) < 6 {
		t.Errorf("scripts/figures makes %v, docs/images has %v", made, there)
	}
	text := ""
	for _, p := range docsPages(t) {
		text += strings.Join(p.lines, "\n")
	}
	for _, name := range there {
		if !strings.Contains(text, "images/"+name) {
			t.Errorf("no page shows docs/images/%s", name)
		}
	}
}

// TestFiguresAreAsCommitted makes them again: what is committed is what the program draws.
func TestFiguresAreAsCommitted(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("the figures were made on amd64, and %s rounds some functions otherwise in the last bit", runtime.GOARCH)
	}
	testsize.Only(t)
	tuner, err := exec.LookPath("tuner")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	cmd := exec.Command("../../../scripts/figures", out)
	cmd.Env = append(os.Environ(), "TUNER="+tuner)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/figures: %v\n%s", err, said)
	}
	made, err := filepath.Glob(filepath.Join(out, "*.svg"))
	if err != nil || len(made) < 6 {
		t.Fatalf("%d figures, %v", len(made), err)
	}
	for _, path := range made {
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		was, err := os.ReadFile(filepath.Join("../../../docs/images", filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(now, was) {
			t.Errorf("docs/images/%s is not what is drawn now: run scripts/figures, and look at it", filepath.Base(path))
		}
	}
}
