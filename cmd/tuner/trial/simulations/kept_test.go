package simulations

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/scripts/testsize"
)

// output runs a command, which must end well, and gives what it printed.
func output(t *testing.T, args ...string) string {
	t.Helper()
	e, out, errOut, _ := hosttest.Env(args...)
	e.Lookup = func(name string) (string, bool) {
		if name == "LC_ALL" {
			return "C.UTF-8", true
		}
		return hosttest.Lookup(name)
	}
	if code := commands.Execute(context.Background(), e); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errOut.String())
	}
	return out.String()
}

// keptJournal unpacks a journal of testdata/kept.
func keptJournal(t *testing.T, name string) string {
	t.Helper()
	in, err := os.Open(filepath.Join("testdata", "kept", name+".db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(name)+".db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// onlyAMD64 skips a test of last bits elsewhere: see testdata/kept/README.md.
func onlyAMD64(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skipf("what is kept was recorded on amd64, and %s rounds some functions otherwise in the last bit", runtime.GOARCH)
	}
}

// TestKeptJournalsReplay: what an earlier program recorded derives anew, to the last bit: every
// outcome and every verdict, and every decision while what decides is of the same version.
func TestKeptJournalsReplay(t *testing.T) {
	t.Parallel()
	onlyAMD64(t)
	for name, of := range map[string]struct {
		run                           string
		decisions, compared, verdicts int
	}{
		"laser":    {"pulse-energy", 150, 16, 6807},
		"nutrient": {"leaf-area", 120, 16, 14613},
		"feed":     {"feed", 40, 0, 48128},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := fmt.Sprintf("%s: %d decisions come out as they were recorded, to the last bit\n", of.run, of.decisions)
			if of.compared > 0 {
				want += fmt.Sprintf("so does the comparison with the starting setting, in %d steps\n", of.compared)
			}
			steps := of.decisions + of.compared
			if policy.DecisionsVersion != schema.OlderDecisions {
				want = fmt.Sprintf("%s: %d decisions cannot be derived, because a version that decides otherwise has made them\n", of.run, steps)
			}
			want += fmt.Sprintf("so do %d outcomes, and what was spent\nso do %d verdicts of the safety layer, in 1 session\n", steps, of.verdicts)
			if got := output(t, "replay", keptJournal(t, name)); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// decided are the runs whose journals are kept with the decisions of now, from a sample with some lines changed.
var decided = map[string]struct {
	sample string
	lines  map[string]string
}{
	// Competing priors, risk, a constraint, and the comparison at the end.
	"laser": {"laser", nil},
	// Control sets by schedule "auto", with random variables.
	"nutrient": {"nutrient", slowTick("20s")},
	// Risk over control sets.
	"quiet-and-cheap": {"quiet-and-cheap", nil},
	// A table.
	"perovskite": {"perovskite", nil},
	// One objective, and nothing else.
	"feed": {"feed", slowTick("5s")},
	// Paths.
	"mes": {"laser", shortLaser(`"mes"`, 40)},
	// Improvement, for longer than the readings after which only a significant fit counts.
	"ei": {"laser", shortLaser(`"ei"`, 90)},
	// Sampled priors.
	"hp-gp-ts": {"laser", shortLaser(`"hp-gp-ts"`, 90)},
	// Information per cost.
	"costids": {"nutrient", map[string]string{`tick = "1s"`: `tick = "20s"`, `kind = "ucb-cvs"`: "kind = \"costids\"\nrho = 1.0", `cost = 50.0`: "cost = 50.0\nsteps = 30"}},
}

// slowTick makes a sample's tick longer, so that its journal has fewer verdicts.
func slowTick(tick string) map[string]string {
	return map[string]string{`tick = "1s"`: fmt.Sprintf("tick = %q", tick)}
}

// shortLaser makes the laser's policy another kind, without risk, for so many steps.
func shortLaser(kind string, steps int) map[string]string {
	return map[string]string{`kind = "rahbo"`: "kind = " + kind, `risk = 0.5`: "", `confidence = "constant"`: "", `beta = 3.0`: "", `steps = 150`: fmt.Sprintf("steps = %d", steps)}
}

// TestDecisionsReplay: journals of the decisions of now derive to the last bit, decisions too. A change that alters
// decisions fails here; where it is meant, UPDATE_KEPT=1 records them anew.
func TestDecisionsReplay(t *testing.T) {
	t.Parallel()
	onlyAMD64(t)
	for name, of := range decided {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "laser" && name != "perovskite" {
				testsize.Only(t)
			}
			if os.Getenv("UPDATE_KEPT") != "" {
				recordDecided(t, name, changedSample(t, of.sample, of.lines))
			}
			got := output(t, "replay", keptJournal(t, filepath.Join("decided", name)))
			if !strings.Contains(got, " decisions come out as they were recorded, to the last bit\n") {
				t.Error(got)
			}
		})
	}
}

// changedSample is the text of a sample with lines changed, each of which it must have once.
func changedSample(t *testing.T, name string, lines map[string]string) string {
	t.Helper()
	text := sampleText(t, name)
	for old, line := range lines {
		if strings.Count(text, "\n"+old+"\n") != 1 {
			t.Fatalf("sample %s does not have the line %q once", name, old)
		}
		text = strings.Replace(text, "\n"+old+"\n", "\n"+line+"\n", 1)
	}
	return text
}

// recordDecided simulates a file and keeps its journal.
func recordDecided(t *testing.T, name, text string) {
	t.Helper()
	dir := t.TempDir()
	file, db := filepath.Join(dir, name+".toml"), filepath.Join(dir, name+".db")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, "simulate", file, "--journal", db)
	data, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", "kept", "decided", name+".db.gz"), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tookHere is the time that a simulation took on this computer.
var tookHere = regexp.MustCompile(`, [0-9.a-zµ]* here;`)

// saysAsBefore compares what a simulation printed with what an earlier program did.
func saysAsBefore(t *testing.T, name, text string) {
	t.Helper()
	kept, err := os.ReadFile(filepath.Join("testdata", "kept", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH != "amd64" {
		return // see testdata/kept/README.md
	}
	text = tookHere.ReplaceAllString(text, ", here;")
	if os.Getenv("UPDATE_KEPT") != "" {
		kept = []byte(text)
		if err := os.WriteFile(filepath.Join("testdata", "kept", name+".txt"), kept, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, want := strings.Split(text, "\n"), strings.Split(string(kept), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of the simulation of %s is not the kept one; it is now:\n%s", i+1, name, text)
		}
	}
}
