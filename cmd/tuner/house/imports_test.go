// Package house tests how the product is divided: which package may import which, and how
// large a package and a type may be.
package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const modulePath = "github.com/labtuner/tuner"

// arrows lists, for each room, the rooms that its code may import. A room is a
// folder with everything below it, except what is a room of its own; but where
// another room may import "drivers", it means the interfaces and no driver.
// Within a room anything goes; "*" is every room, "drivers/*" every driver.
var arrows = map[string][]string{
	"gpcore":          {},
	"safety":          {},
	"drivers":         {},
	"configs":         {},
	"loop/journal":    {"loop/journal/disk", "loop/journal/schema"},
	"loop/plan":       {"loop/policy", "loop/journal", "safety"},
	"loop/worker":     {},
	"loop/trace":      {"loop/journal", "safety"},
	"loop/replay":     {"loop/control", "loop/plan", "loop/policy", "loop/journal", "safety"},
	"loop/record":     {"loop/worker", "loop/journal", "loop/journal/disk"},
	"loop/guard":      {"loop/worker", "loop/control", "loop/trace", "loop/plan", "loop/journal", "loop/journal/controlstate", "drivers", "safety"},
	"loop/instrument": {"loop/worker", "loop/control", "loop/trace", "loop/plan", "loop/journal", "drivers", "safety"},
	"loop/advisor":    {"loop/worker", "loop/control", "loop/plan", "loop/policy", "loop/journal", "drivers"},
	"loop/control":    {"loop/plan", "loop/policy", "loop/journal", "loop/journal/controlstate", "safety"},
	"loop":            {"loop/advisor", "loop/guard", "loop/instrument", "loop/record", "loop/worker", "loop/control", "loop/replay", "loop/trace", "loop/plan", "loop/policy", "loop/journal", "loop/journal/controlstate", "loop/journal/disk", "drivers", "safety"},
	"loop/front":      {"loop/control", "loop/plan", "loop/policy", "loop/journal"},
	"loop/notices":    {},
	"loop/remote":     {"loop/control", "loop/plan", "loop/journal", "loop/journal/controlstate"},
	"loop/web":        {"loop/control", "loop/plan", "loop/journal"},
	"loop/web/plots":  {"loop/web", "loop/control", "loop/front", "loop/policy", "loop/journal"},
	"loop/local":      {"loop/web", "drivers"},
	"loop/benchmarks": {"loop/benchmarks/experiment", "loop/benchmarks/landscape", "loop/policy", "gpcore", "drivers/sim"},

	// The record of a run, and what lies beside it on the disk.
	"loop/journal/controlstate": {"loop/journal/disk", "safety"},
	"loop/journal/disk":         {},
	"loop/journal/export":       {"loop/control", "loop/journal"},
	"loop/journal/schema":       {},

	"loop/benchmarks/experiment": {"loop/policy"},
	"loop/benchmarks/landscape":  {},

	// The program: its commands, and what they are made of.
	"cmd/tuner":          {"cmd/tuner/commands", "cmd/tuner/host"},
	"cmd/tuner/commands": {"*"},
	"cmd/tuner/ask":      {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/session", "cmd/tuner/setup", "cmd/tuner/show", "configs", "drivers", "drivers/mqtt", "loop", "loop/control", "loop/journal", "loop/local", "loop/plan", "loop/remote", "loop/web", "loop/worker"},
	"cmd/tuner/bench":    {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/show", "configs", "loop/benchmarks", "loop/benchmarks/experiment"},
	"cmd/tuner/describe": {"cmd/tuner/setup", "cmd/tuner/show", "configs", "drivers/mqtt", "loop/journal", "loop/plan", "loop/policy", "loop/remote", "safety"},
	"cmd/tuner/dump":     {"cmd/tuner/describe", "cmd/tuner/host", "cmd/tuner/setup", "configs", "loop/control", "loop/journal", "loop/journal/disk", "loop/journal/export"},
	"cmd/tuner/examine":  {"cmd/tuner/describe", "cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/outcome", "cmd/tuner/setup", "cmd/tuner/show", "drivers", "drivers/serial/port", "loop", "loop/journal", "loop/plan", "loop/policy", "loop/worker"},
	"cmd/tuner/fault":    {"configs", "drivers", "loop", "loop/guard", "loop/journal/disk", "loop/plan", "loop/remote"},
	"cmd/tuner/host":     {"cmd/tuner/fault", "cmd/tuner/show", "loop/guard", "loop/local"},
	"cmd/tuner/makesafe": {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/runfiles", "cmd/tuner/setup", "cmd/tuner/show", "configs", "drivers", "loop", "loop/journal/controlstate", "loop/plan", "loop/worker"},
	"cmd/tuner/outcome":  {"cmd/tuner/host", "cmd/tuner/runfiles", "cmd/tuner/setup", "cmd/tuner/show", "drivers/sim", "drivers/sim/optimum", "loop", "loop/advisor", "loop/control", "loop/front", "loop/journal", "loop/journal/export", "loop/plan", "loop/policy", "loop/replay", "loop/web", "loop/web/plots"},
	"cmd/tuner/reset":    {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/runfiles", "cmd/tuner/setup", "cmd/tuner/show", "loop/guard", "loop/journal", "loop/journal/controlstate", "loop/journal/disk", "loop/local", "safety"},
	"cmd/tuner/runfiles": {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/show", "configs", "loop/guard", "loop/journal", "loop/journal/controlstate", "loop/journal/disk", "loop/journal/store", "safety"},
	"cmd/tuner/serve":    {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/setup", "cmd/tuner/show", "drivers", "drivers/sim", "loop", "loop/worker"},
	"cmd/tuner/session":  {"cmd/tuner/describe", "cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/outcome", "cmd/tuner/runfiles", "cmd/tuner/setup", "cmd/tuner/show", "configs", "drivers", "drivers/mqtt", "drivers/sim", "loop", "loop/control", "loop/guard", "loop/journal", "loop/journal/controlstate", "loop/journal/disk", "loop/journal/export", "loop/local", "loop/notices", "loop/plan", "loop/policy", "loop/remote", "loop/replay", "loop/web"},
	"cmd/tuner/setup":    {"cmd/tuner/fault", "cmd/tuner/host", "cmd/tuner/runfiles", "cmd/tuner/show", "configs", "drivers", "drivers/*", "loop", "loop/journal", "loop/journal/controlstate", "loop/journal/disk", "loop/journal/export", "loop/notices", "loop/plan", "loop/policy", "loop/replay", "loop/worker", "safety"},
	"cmd/tuner/show":     {},
	"cmd/tuner/wizard":   {"cmd/tuner/examine", "drivers", "loop/web"},
	"scripts/benchplot":  {"loop/web/figure"},
	"cmd/tuner/trial":    {"cmd/tuner/commands", "cmd/tuner/host", "configs", "drivers/driverstest/broker", "scripts/testsize"},

	// Decisions: what is below is for loop/policy alone.
	"loop/policy": {"gpcore", "loop/policy/acquisition", "loop/policy/confidence", "loop/policy/constraint", "loop/policy/cost", "loop/policy/design", "loop/policy/drift",
		"loop/policy/exclusion", "loop/policy/model", "loop/policy/risk", "loop/policy/schedule", "loop/policy/space", "loop/policy/trust", "loop/policy/warp", "loop/policy/internal"},
	"loop/policy/acquisition": {"gpcore", "loop/policy/constraint", "loop/policy/cost", "loop/policy/model", "loop/policy/risk", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/confidence":  {"gpcore", "loop/policy/model", "loop/policy/internal"},
	"loop/policy/constraint":  {"gpcore", "loop/policy/model", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/cost":        {"gpcore", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/design":      {"gpcore", "loop/policy/cost", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/drift":       {"gpcore", "loop/policy/model", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/internal":    {"loop/policy/model"}, // policytest alone, for tests
	"loop/policy/exclusion":   {"loop/policy/internal"},
	"loop/policy/model":       {"gpcore", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/risk":        {"gpcore", "loop/policy/model", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/schedule":    {"loop/policy/cost", "loop/policy/space", "loop/policy/internal"},
	"loop/policy/space":       {"gpcore", "loop/policy/internal"},
	"loop/policy/trust":       {},
	"loop/policy/warp":        {"gpcore"},
}

// within lists the same for the rooms of gpcore, folder by folder: each is a package with
// a door of its own.
var within = map[string][]string{
	"gpcore":              {"gpcore/kernels", "gpcore/internal/model", "gpcore/internal/factor", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/expectations": {"gpcore", "gpcore/search", "gpcore/watch", "gpcore/quadrature", "gpcore/kernels", "gpcore/internal/model", "gpcore/internal/factor", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/watch":        {"gpcore", "gpcore/internal/model", "gpcore/internal/panels", "gpcore/internal/vec"},
	"gpcore/sampling":     {"gpcore", "gpcore/kernels", "gpcore/internal/model", "gpcore/internal/factor", "gpcore/internal/panels", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/fitting":      {"gpcore/kernels", "gpcore/internal/model", "gpcore/internal/panels", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/search":       {"gpcore/sobol", "gpcore/internal/splitmix", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/quadrature":   {"gpcore/sobol", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/kernels":      {"gpcore/internal/panels", "gpcore/internal/vec"},
	"gpcore/sobol":        {"gpcore/internal/splitmix"},

	"gpcore/internal/model":  {"gpcore/kernels", "gpcore/internal/factor", "gpcore/internal/panels", "gpcore/internal/check", "gpcore/internal/vec"},
	"gpcore/internal/factor": {"gpcore/internal/vec"},
	"gpcore/internal/panels": {"gpcore/internal/vec"},
	// For tests alone.
	"gpcore/internal/gptest":        {"gpcore", "gpcore/kernels", "gpcore/quadrature", "gpcore/internal/vec"},
	"gpcore/internal/gptest/decide": {"gpcore", "gpcore/expectations", "gpcore/quadrature", "gpcore/search"},
}

func TestImportsFollowTheHouse(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	found, err := importsOf(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	// A walk that finds nothing would pass: these arrows must be there.
	for _, must := range []arrow{
		{"cmd/tuner", "cmd/tuner/commands"}, {"cmd/tuner/setup", "configs"}, {"loop", "safety"}, {"loop/policy", "gpcore/search"}, {"gpcore", "gpcore/kernels"},
	} {
		if !slices.Contains(found, must) {
			t.Errorf("the walk did not find %v", must)
		}
	}
	for _, bad := range forbidden(found) {
		t.Errorf("%v: not an arrow of the house", bad)
	}
}

// TestImportsCanFail shows that the walk and the rule find each kind of arrow
// that the house does not have.
func TestImportsCanFail(t *testing.T) {
	for from, to := range map[string]string{
		"gpcore/x.go":         "safety",
		"gpcore/search/x.go":  "gpcore",
		"gpcore/kernels/x.go": "gpcore/internal/model",
		"gpcore/newroom/x.go": "gpcore",
		"safety/x.go":         "drivers",
		"drivers/mqtt/x.go":   "configs",
		"configs/x.go":        "drivers",
		"loop/policy/x.go":    "loop",
		"loop/journal/x.go":   "drivers",
		"loop/x.go":           "drivers/sim",
		"loop/x_linux.go":     "configs",
		"loop/remote/x.go":    "loop/policy",
		"loop/web/x.go":       "loop/remote",
		"scripts/draw/x.go":   "gpcore",
		"loop/newroom/x.go":   "loop/web",
		"drivers/sim/a/b.go":  "loop",

		"cmd/tuner/x.go":       "loop",
		"cmd/tuner/setup/x.go": "cmd/tuner",
		"cmd/tuner/serve/x.go": "drivers/newdriver",
		"cmd/tuner/show/x.go":  "loop",
	} {
		tree := fstest.MapFS{from: source(to), "cmd/tuner/commands/run.go": source("loop")}
		found, err := importsOf(tree)
		if err != nil {
			t.Fatal(err)
		}
		want := arrow{path.Dir(from), to}
		if bad := forbidden(found); !slices.Equal(bad, []arrow{want}) {
			t.Errorf("%s: found %v, want %v", from, bad, want)
		}
	}
	fine := fstest.MapFS{
		"drivers/sim/x.go":        source("drivers"),
		"gpcore/x.go":             source("gpcore/internal/vec"),
		"loop/x.go":               source("drivers"),
		"loop/benchmarks/x.go":    source("drivers/sim"),
		"loop/policy/x_test.go":   source("drivers/sim"),
		"cmd/tuner/commands/x.go": source("drivers/mqtt"),
		"cmd/tuner/setup/x.go":    source("drivers/newdriver"),
	}
	found, err := importsOf(fine)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(fine)-1 { // the test file does not count
		t.Errorf("found %v", found)
	}
	if bad := forbidden(found); len(bad) > 0 {
		t.Errorf("arrows of the house refused: %v", bad)
	}
}

func source(imports string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(fmt.Sprintf("package x\n\nimport _ %q\n", modulePath+"/"+imports))}
}

// arrow is one import: from one folder of the module to another.
type arrow struct{ from, to string }

func (a arrow) String() string { return a.from + " -> " + a.to }

// importsOf lists the arrows in every Go file of the tree that is not a test,
// whatever its build constraints.
func importsOf(tree fs.FS) ([]arrow, error) {
	var found []arrow
	err := eachFile(tree, parser.ImportsOnly, func(name string, _ []byte, file *ast.File) error {
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to, ours := strings.CutPrefix(imported, modulePath+"/"); ours {
				found = append(found, arrow{path.Dir(name), to})
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b arrow) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found), err
}

// forbidden returns the arrows that the house does not have.
func forbidden(found []arrow) []arrow {
	var bad []arrow
	for _, a := range found {
		if !allowed(a) {
			bad = append(bad, a)
		}
	}
	return bad
}

func allowed(a arrow) bool {
	home := roomOf(a.from)
	if home == "" {
		return false
	}
	if home == "gpcore" && roomOf(a.to) == home {
		return slices.Contains(within[a.from], a.to)
	}
	if roomOf(a.to) == home {
		return true
	}
	for _, target := range arrows[home] {
		if target == "*" || target == a.to || target == "drivers/*" && path.Dir(a.to) == "drivers" {
			return true
		}
		if target != "drivers" && roomOf(a.to) == target {
			return true
		}
	}
	return false
}

// roomOf is the innermost room that holds a folder, "" where there is none. A
// folder directly below loop must be a room of its own.
func roomOf(folder string) string {
	best := ""
	for room := range arrows {
		if inside(folder, room) && len(room) > len(best) {
			best = room
		}
	}
	if best == "loop" && folder != "loop" {
		return ""
	}
	return best
}

func inside(folder, room string) bool {
	return folder == room || strings.HasPrefix(folder, room+"/")
}
