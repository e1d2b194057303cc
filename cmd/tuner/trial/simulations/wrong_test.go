package simulations

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestWrongDecisions: what cannot be decided with is refused with file, line, key, value,
// bound and what to do next, before anything moves.
func TestWrongDecisions(t *testing.T) {
	subsets := smallLaser{policy: []string{`kind = "ucb-cvs"`}, sets: true, steps: 9}
	hp, track, gp := ofKind("hp-gp-ts"), ofKind("track"), ofKind("gp-ucb")
	for name, c := range map[string]struct {
		file     smallLaser
		old, new string // an edit of its text
		want     string // after the file's name and line
	}{
		"budget below the cheapest set": {subsets, "[stop]\n", "[stop]\ncost = 0.5\n",
			`stop.cost: budget 0.5 is below 1.2, the cost of the cheapest control set: raise it`},
		"unknown variable":  {subsets, `variables = ["x"]`, `variables = ["xx"]`, "control_set.1.variables.1: unknown variable \"xx\"\ntuner: hint: did you mean \"x\"?"},
		"empty control set": {subsets, `variables = ["x"]`, `variables = []`, `control_set.1.variables: is empty: a step that controls nothing decides nothing` + "\ntuner: hint: name a variable, or remove the control set"},
		"a set twice":       {subsets, `variables = ["x"]`, `variables = ["y", "x"]`, `control_set.2.variables: is the same control set as the one on line `},
		"negative risk":     {ofKind("rahbo"), "risk = 0.5", "risk = -0.5", `policy.risk: must be >= 0, got -0.5`},
		"risk that is none": {ofKind("rahbo"), "risk = 0.5", "risk = nan", `policy.risk: must be a finite number, got nan`},
		"no prior": {hp, "initial =", "priors = []\ninitial =",
			"policy.priors: lists no prior\ntuner: hint: remove it for the built-in set, or write priors = "},
		"rho below 1":             {ofKind("costids"), "rho = 2.0", "rho = 0.5", `policy.rho: must be >= 1, got 0.5`},
		"constraint on no sensor": {gp, "[stop]", "[[constraint]]\nsensor = \"light\"\nrange = [0.0, 1.0]\n[stop]", "constraint.1.sensor: unknown sensor \"light\"\ntuner: hint: sensors of this file: energy, pointing"},
		"constraint upside down":  {gp, "[stop]", "[[constraint]]\nsensor = \"energy\"\nrange = [2.0, 1.0]\n[stop]", "constraint.1.range: range is upside down or empty: lowest 2 is not below highest 1\ntuner: hint: write [1, 2]"},
		"negative noise": {ofKind("rahbo-known-variance"), `noise_sd = "0.3 + 0.1*x^2"`, `noise_sd = "x - 3"`,
			"policy.noise_sd: gives -3 at x = 0 mrad, and must be finite and not negative at every setting\ntuner: hint: correct the formula, or the variables' ranges"},
		"negative timescale": {track, "[model]", "[policy.drift]\ntimescale = -3.0\n[model]", `policy.drift.timescale: must be > 0, got -3`},
		"hold of more":       {track, "[model]", "[policy.drift]\nhold = 1.5\n[model]", `policy.drift.hold: must be > 0 and <= 1, got 1.5`},
		"fidelity of nobody": {gp, "name = \"y\"\n", "name = \"y\"\nfidelity = 1.0\n",
			"variable.y.fidelity: has no effect with acquisition \"ucb\"\ntuner: hint: remove it, or write kind = \"multi-fidelity-mes\""},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.file.text()
			if !strings.Contains(text, c.old) {
				t.Fatalf("the file does not have %q", c.old)
			}
			file := filepath.Join(t.TempDir(), "wrong.toml")
			if err := os.WriteFile(file, []byte(strings.Replace(text, c.old, c.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			e, out, errOut, _ := hosttest.Env("simulate", file)
			code := commands.Execute(t.Context(), e)
			line := regexp.MustCompile(`^tuner: error: .*wrong\.toml:[0-9]+: ` + regexp.QuoteMeta(c.want))
			if code != fault.ExitUsage || !line.MatchString(errOut.String()) || out.String() != "" {
				t.Errorf("code %d, said\n%swant code %d and\n%s", code, errOut, fault.ExitUsage, c.want)
			}
			if files, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.db")); err != nil || len(files) > 0 {
				t.Errorf("%v, %v: something was begun", files, err)
			}
		})
	}
}
