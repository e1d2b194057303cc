package documents

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
)

// TestDocsTomlLoads: every TOML block of every page is loaded as a file would be. A whole
// file must be right. A piece of one may lack the sections that it does not show, and name
// what stands in them; what it shows must be whole, known and within its bounds, so that
// whoever pastes it into a file is not refused for it.
func TestDocsTomlLoads(t *testing.T) {
	blocks := 0
	for _, p := range docsPages(t) {
		for _, b := range p.blocks {
			if b.language != "toml" {
				continue
			}
			blocks++
			for _, problem := range docsTomlProblems(t, strings.Join(p.lines[b.first:b.end], "\n")+"\n") {
				t.Errorf("%s:%d: %s", p.path, b.first, problem)
			}
		}
	}
	if blocks < 15 {
		t.Errorf("%d blocks", blocks)
	}
}

// TestDocsTomlProblemsAreSeen: a piece that lacks what it must show is not let through.
func TestDocsTomlProblemsAreSeen(t *testing.T) {
	dose := "[[variable]]\nname = \"acid\"\nunit = \"mL\"\nkind = \"dose\"\nrange = [0.0, 1.0]\ndevice = \"bench\"\nchannel = \"acid\"\n"
	for _, c := range []struct{ name, text, want string }{
		{"no budget", dose, "missing [[safety.dose]]"},
		{"no unit", dose + "[[safety.dose]]\nvariable = \"acid\"\nper_dose = 1.0\nhour = 2.0\n", "safety.dose.1.unit"},
		{"no response", dose + "[[safety.dose]]\nvariable = \"acid\"\nunit = \"mL\"\nper_dose = 1.0\nhour = 2.0\n", "missing [[safety.response]]"},
		{"unknown key", "[safety]\nhold = \"30s\"\n", "unknown key"},
		{"a key of a variable that is none", "on_relaese = \"hold\"\n", "unknown key"},
	} {
		if got := strings.Join(docsTomlProblems(t, c.text), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it", c.name, got, c.want)
		}
	}
}

// docsTomlElsewhere are problems of a piece that only its missing sections make.
var docsTomlElsewhere = regexp.MustCompile(`^unknown (device|sensor|variable) |give the variable or the channel one$`)

// docsTomlVariable and docsTomlLimits stand around a piece that shows keys of a variable only.
const docsTomlVariable = "[[variable]]\nname = \"x\"\nunit = \"1\"\nrange = [0.0, 1.0]\ndevice = \"bench\"\nchannel = \"x\"\nreadback = { tolerance = 0.1, timeout = \"1s\" }\n"
const docsTomlLimits = "[safety.variable.x]\nhard = [0.0, 1.0]\nslew = 1.0\nsafe = 0.0\n"

func docsTomlProblems(t *testing.T, text string) []string {
	t.Helper()
	first := regexp.MustCompile(`(?m)^[^#\s].*`).FindString(text)
	whole := strings.HasPrefix(first, "schema")
	if !whole && !strings.HasPrefix(first, "[") {
		text = docsTomlVariable + text + docsTomlLimits
	}
	file := filepath.Join(t.TempDir(), "piece.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := setup.Load(file, &host.Env{Executable: "tuner"})
	if _, left := errors.AsType[*setup.Unasked](err); left { // to a program, as check says
		return nil
	}
	var problems *configs.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &problems):
		return []string{err.Error()}
	}
	var out []string
	for _, problem := range problems.Problems {
		root, _, _ := strings.Cut(problem.Key, ".")
		shown := regexp.MustCompile(`(?m)^\[{1,2}` + regexp.QuoteMeta(root) + `[.\]]`).MatchString(text)
		if problem.Key == "" || whole || shown && !docsTomlElsewhere.MatchString(problem.What) || strings.HasPrefix(problem.What, "unknown key") {
			out = append(out, problem.Key+": "+problem.What)
		}
	}
	return out
}
