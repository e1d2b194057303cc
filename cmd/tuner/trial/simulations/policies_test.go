package simulations

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/scripts/testsize"
)

// smallLaser is a file for the simulated laser with two mirrors, whatever decides.
type smallLaser struct {
	policy []string // lines of [policy]
	model  []string // of [model]
	rest   []string // further sections
	sets   bool     // a cheap control set of one mirror beside that of both
	steps  int
}

func (f smallLaser) text() string {
	var b strings.Builder
	b.WriteString(`schema = 1
name = "small"
seed = 5
[plant]
kind = "laser"
[objective]
sensor = "energy"
shots = 2
[cost]
unit = "shots"
per_shot = 0.5
`)
	for _, s := range [][2]string{{"energy", "[0.0, 20.0]"}, {"pointing", "[-5.0, 5.0]"}} {
		fmt.Fprintf(&b, "[[sensor]]\nname = %q\nunit = \"1\"\ndevice = \"laser\"\nchannel = %q\nrange = %s\nmax_age = \"1s\"\n", s[0], s[0], s[1])
	}
	for _, v := range []string{"x", "y"} {
		fmt.Fprintf(&b, `[[variable]]
name = %q
unit = "mrad"
range = [-2.0, 2.0]
start = 0.0
device = "laser"
channel = "m%s"
readback = { tolerance = 0.01 }
on_release = "release"
when_random = { distribution = "normal", mean = 0.2, sd = 0.3 }
[safety.variable.%s]
hard = [-2.5, 2.5]
slew = 4.0
safe = 0.0
`, v, v, v)
	}
	if f.sets {
		b.WriteString("[[control_set]]\nvariables = [\"x\"]\ncost = 0.2\n[[control_set]]\nvariables = [\"x\", \"y\"]\ncost = 2.0\n")
	}
	fmt.Fprintf(&b, "[policy]\n%s\ninitial = { steps = 5 }\n[model]\n%s\n[stop]\nsteps = %d\n%s\n",
		strings.Join(f.policy, "\n"), strings.Join(f.model, "\n"), f.steps, strings.Join(f.rest, "\n"))
	b.WriteString(`[[device]]
name = "laser"
driver = "serial"
port = "/dev/ttyUSB0"
[device.channel.energy]
read = { out = "E?", in = "%f" }
[device.channel.pointing]
read = { out = "P?", in = "%f" }
[device.channel.mx]
read = { out = "X?", in = "%f" }
write = { out = "X %f" }
release = { out = "RX" }
[device.channel.my]
read = { out = "Y?", in = "%f" }
write = { out = "Y %f" }
release = { out = "RY" }
`)
	return b.String()
}

// ofKind is a file with what a kind asks for.
func ofKind(kind string) smallLaser {
	parts := setup.Known().Of(kind)
	f := smallLaser{policy: []string{fmt.Sprintf("kind = %q", kind)}, steps: 9,
		sets: strings.Contains(kind, "cvs") || strings.Contains(kind, "psq")}
	if parts.Risky {
		f.policy = append(f.policy, "risk = 0.5")
	}
	if parts.Noise == configs.NoiseKnown {
		f.policy = append(f.policy, `noise_sd = "0.3 + 0.1*x^2"`)
	}
	if parts.Acquisition == "ids" {
		f.policy = append(f.policy, "rho = 2.0")
	}
	return f
}

// simulateText checks and simulates a file, and returns the last line's result.
func simulateText(t *testing.T, text string) control.Result {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "it.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, out, errOut, _ := hosttest.Env("simulate", file, "--json", "--journal", filepath.Join(dir, "it.db"))
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK {
		t.Fatalf("simulate ends with code %d: %s\n%s", code, errOut, text)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r control.Result
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// usable wants a result after all steps with a recommendation inside the ranges.
func (f smallLaser) usable(t *testing.T, r control.Result) {
	t.Helper()
	if r.Steps != f.steps || r.Reason != "steps" || len(r.Recommended) == 0 {
		t.Errorf("%d steps of %d, reason %q, recommended %v", r.Steps, f.steps, r.Reason, r.Recommended)
	}
	for name, v := range r.Recommended {
		if !(v >= -2 && v <= 2) {
			t.Errorf("recommended %s = %v, outside [-2, 2]", name, v)
		}
	}
}

// TestEveryKindSimulates: a file of each kind that there is simulates.
func TestEveryKindSimulates(t *testing.T) {
	t.Parallel()
	kinds := policy.Kinds()
	for i, kind := range kinds {
		if !slices.Contains(setup.Known().KindNames(), kind) {
			t.Errorf("no file can name kind %q: the schema does not have it", kind)
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if i%6 > 0 { // the policies' own tests decide by every kind
				testsize.Only(t)
			}
			f := ofKind(kind)
			f.usable(t, simulateText(t, f.text()))
		})
	}
}

// combination number i of words of every part: each word occurs, beside changing others.
func combination(i int) smallLaser {
	pick := func(words []string, i int) string { return words[i%len(words)] }
	acquisitions := slices.DeleteFunc(policy.Acquisitions(), func(a string) bool { return a == "none" })
	acquisition := pick(acquisitions, i)
	f := smallLaser{steps: 8, sets: i%3 == 1}
	f.policy = append(f.policy, fmt.Sprintf("acquisition = %q", acquisition))
	bounded := acquisition == "ucb" || acquisition == "ids"
	risky := (acquisition == "ucb" || acquisition == "ts") && i%2 == 0
	schedule := pick([]string{"none", "etc-ada", "etc-50", "auto"}, i/3)
	weighs := acquisition == "gittins" || f.sets && schedule == "auto" // costs, by itself
	if acquisition == "gittins" && schedule == "auto" {
		schedule = "none"
	}
	switch {
	case f.sets:
		f.policy = append(f.policy, `kind = "ucb-cvs"`, fmt.Sprintf("schedule = %q", schedule))
	case risky:
		f.policy = append(f.policy, `kind = "rahbo"`)
	default:
		f.policy = append(f.policy, `kind = "gp-ucb"`)
	}
	if risky {
		f.policy = append(f.policy, "risk = 0.3")
	}
	if bounded {
		word := pick(policy.Confidences(), i/len(acquisitions)+i)
		f.policy = append(f.policy, fmt.Sprintf("confidence = %q", word))
		if word == "constant" {
			f.policy = append(f.policy, "beta = 1.5")
		}
	}
	if acquisition == "ids" {
		f.policy = append(f.policy, "rho = 1.5")
	}
	if i%5 == 2 && !weighs {
		f.policy = append(f.policy, "per_cost = true")
	}
	if i%4 == 3 {
		f.policy = append(f.policy, `noise_sd = "0.3 + 0.05*(x + 2)"`)
	}
	switch rule := pick([]string{"", "averaged", "sampled", "fit", "greedy", "elimination"}, i/2); rule {
	case "fit":
		f.model = append(f.model, `hyperparameters = "fit"`)
	case "":
		f.policy = append(f.policy, "priors = [{ lengthscale = 0.3, kernel = \"rq\", weight = 2.0 }, { lengthscale = [0.5, 0.2], outputscale = 4.0, noise_sd = 0.4, mean = 3.0 }]")
	default:
		f.policy = append(f.policy, fmt.Sprintf("prior_rule = %q", rule))
	}
	f.model = append(f.model, fmt.Sprintf("kernel = %q", pick(policy.Kernels(), i)))
	if i%4 == 1 {
		f.rest = append(f.rest, "[policy.drift]\ntimescale = [100.0, 1000.0]\nhold = 0.1\ndetect = true")
	}
	if i%2 == 1 {
		f.rest = append(f.rest, "[[constraint]]\nsensor = \"pointing\"\nrange = [-1.0, 1.0]\nprobability = 0.9")
	}
	return f
}

// TestCombinationsSimulate: files that name words of any part together check, without
// anything that is not acted on, and simulate.
func TestCombinationsSimulate(t *testing.T) {
	t.Parallel()
	for i := range 24 {
		if i%6 != i/6%6 && !testsize.Whole() { // a sixth, each with another rest of the division by six
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			f := combination(i)
			f.usable(t, simulateText(t, f.text()))
		})
	}
}

// TestFidelitySimulates: the best x is sought at y = 1, and a step is the dearer the nearer
// it is to that.
func TestFidelitySimulates(t *testing.T) {
	t.Parallel()
	f := ofKind("multi-fidelity-mes")
	text := strings.Replace(f.text(), "name = \"y\"\nunit = \"mrad\"\n", "name = \"y\"\nunit = \"mrad\"\nfidelity = 1.0\n", 1)
	text = strings.Replace(text, "per_shot = 0.5\n", "per_shot = 0.5\nformula = \"1 + 2*exp(0 - abs(y - 1))\"\n", 1)
	f.usable(t, simulateText(t, text))
}

// TestReadCostsSimulate: what a sensor reads is charged with the shots, over both control sets, and the whole run
// derives from its journal.
func TestReadCostsSimulate(t *testing.T) {
	t.Parallel()
	f := ofKind("ucb-cvs")
	f.steps, f.sets = 20, true
	text := strings.Replace(f.text(), "per_shot = 0.5\n", "per_shot = 0.5\nreading = \"0.1*abs(energy)\"\n", 1)
	dir := t.TempDir()
	file, book := filepath.Join(dir, "it.toml"), filepath.Join(dir, "it.db")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, _, errOut, _ := hosttest.Env("simulate", file, "-q", "--journal", book)
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK {
		t.Fatalf("simulate ends with code %d: %s", code, errOut)
	}
	r, err := journal.OpenReader(book)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	played := map[int]bool{}
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		shots, err := r.Shots(s.Decision.Step)
		if err != nil {
			t.Fatal(err)
		}
		read := 0.0
		for _, shot := range shots {
			read += 0.1 * math.Abs(shot.Sensors[0]) / float64(len(shots))
		}
		if want := read + 0.5*float64(len(shots)); math.Abs(s.Outcome.Cost-want) > 2e-9 { // in billionths
			t.Errorf("step %d is charged %v, and its shots say %v", s.Decision.Step, s.Outcome.Cost, want)
		}
		played[s.Decision.ControlSet] = true
	}
	if len(played) != 2 {
		t.Errorf("control sets %v were played, want both", played)
	}
	e, out, errOut, _ := hosttest.Env("replay", book)
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK || !strings.Contains(out.String(), "outcomes, and what was spent") {
		t.Errorf("replay ends with code %d: %s%s", code, out, errOut)
	}
}

// TestPoliciesPage: docs/policies.md has every word that a file may write, its files
// simulate, and what it shows of them is in them.
func TestPoliciesPage(t *testing.T) {
	t.Parallel()
	const docs = "../../../../docs/"
	page, err := os.ReadFile(docs + "policies.md")
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(setup.Known().KindNames(), setup.Known().Acquisitions, policy.Confidences(), policy.Kernels(),
		[]string{"none", "auto", "epsilon", "etc-50", "etc-100", "etc-ada", "averaged", "sampled", "greedy", "elimination", "finite", "continuous", "theory"})
	for _, word := range words {
		if !strings.Contains(string(page), "`"+word+"`") && !strings.Contains(string(page), fmt.Sprintf("%q", word)) {
			t.Errorf("the page does not mention %q", word)
		}
	}
	files := 0
	for _, block := range strings.Split(string(page), "```toml\n# docs/")[1:] {
		block, _, _ = strings.Cut(block, "```")
		name, shown, _ := strings.Cut(block, "\n")
		text, err := os.ReadFile(docs + name)
		if err != nil {
			t.Error(err)
			continue
		}
		files++
		for line := range strings.Lines(shown) {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s does not have the line %q", name, strings.TrimSpace(line))
			}
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			if name != "policies/steady-and-straight.toml" {
				testsize.Only(t)
			}
			r := simulateText(t, string(text))
			if len(r.Recommended) == 0 || !(r.LowerBound > r.Baseline.Mean) || !(r.Truth.Regret < 0.1*r.Truth.Range) {
				t.Errorf("recommends %v with bound %v (start %v), regret %v of a range of %v", r.Recommended, r.LowerBound, r.Baseline.Mean, r.Truth.Regret, r.Truth.Range)
			}
			if c := r.Constraints; c != nil && !c.Feasible {
				t.Errorf("constraints %+v", c)
			}
		})
	}
	if files != 3 {
		t.Errorf("the page shows %d files, want 3", files)
	}
}
