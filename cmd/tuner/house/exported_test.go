package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// forTests are names that are exported though only tests use them, by the reason.
var forTests = map[string][]string{
	"tests of whole programs go through every kind that a file may name": {"configs.Policies.KindNames"},
	"the tests of configs ask what the walker knows of a key": {
		"configs/internal/schema.BoundText", "configs/internal/schema.FieldsOf", "configs/internal/schema.InnerSection", "configs/internal/schema.IsSecret",
		"configs/internal/schema.TomlString", "configs/internal/schema.TypeWords",
	},
	"the reference is made and checked by it, in a test": {
		"cmd/tuner/commands.Root", "configs.Default", "configs.Reference", "configs.ReferenceOf", "loop/control.Codes", "loop/policy.Acquisitions",
		"loop/policy.Confidences", "loop/policy.Kernels",
	},
	"tests of whole programs and of documents are packages of their own": {
		"cmd/tuner/ask.PrintStatus", "cmd/tuner/describe.Bypass", "cmd/tuner/setup.StoppedClock",
	},
	"tests that change a row of a journal give it its checksum": {"loop/journal/store.LoadSalt"},
	"every driver has New, Default and, where it serves plants, Serve": {
		"drivers/exec.New", "drivers/mqtt.New", "drivers/mqtt.Serve", "drivers/opcua.Default", "drivers/opcua.New", "drivers/serial.Default",
		"drivers/serial.New", "drivers/serial.Serve",
	},
	"the tests of the driver speak the other side of the line": {
		"drivers/mqtt/link.Connection.Announce", "drivers/serial/modbus.Intact", "drivers/serial/modbus.ReadRequest", "drivers/serial/modbus.Sealed",
		"drivers/serial/modbus.WriteRequest", "drivers/serial/port.OpenPTY", "drivers/sim.Tables",
	},
	"what a Gaussian process can do, proven against an oracle, of which policies use a part": {
		"gpcore.GP.Audit", "gpcore.GP.PredictGrad", "gpcore.GP.SetNoise", "gpcore.GP.SetNoises", "gpcore.GP.SetTarget",
		"gpcore/internal/factor.Factor.FinishTargets", "gpcore/internal/vec.Exp2", "gpcore/internal/vec.Tiers", "gpcore/kernels.Drift",
		"gpcore/quadrature.GaussProduct", "gpcore/quadrature.SobolNodes",
		"gpcore/watch.Watch.Update",
	},
	"the oracle in another language computes the same problems": {
		"loop/benchmarks/cvs.Airfoil", "loop/benchmarks/cvs.GPSample", "loop/benchmarks/cvs.Hartmann", "loop/benchmarks/cvs.Hartmann3",
		"loop/benchmarks/cvs.Plant", "loop/benchmarks/experiment.Last", "loop/benchmarks/experiment.Problem.Measure",
		"loop/benchmarks/experiment.Problem.WorthOf", "loop/benchmarks/experiment.SummaryOf", "loop/benchmarks/irgp.Ackley",
		"loop/benchmarks/irgp.CrossInTray", "loop/benchmarks/irgp.Holder",
	},
	"loop/policy tests the rooms below it as one policy": {
		"loop/policy/acquisition.Decision.Maxima", "loop/policy/acquisition.Decision.Peak", "loop/policy/acquisition.Decision.Substream",
		"loop/policy/acquisition.MaximumInformation", "loop/policy/acquisition.TruncatedEntropy", "loop/policy/acquisition.Unit.ToUserUnits",
		"loop/policy/constraint.Limiter.Shortfall", "loop/policy/constraint.ShortfallPenalty", "loop/policy/cost.Model.Affordable",
		"loop/policy/model.Model.Task", "loop/policy/model.NoiseField.OfMeans",
	},
	"tests of the loop and of its doors": {
		"loop/control.Panel.AskStop", "loop/plan.Variance", "loop/web.VisitorOf",
	},
}

// roomsForTests hold nothing but what tests use.
var roomsForTests = []string{"cmd/tuner/trial", "drivers/driverstest", "gpcore/internal/gptest", "gpcore/internal/vec/peak", "scripts/testsize"}

// TestExportedNamesHaveUsers fails on functions and methods that are exported and that no other
// package uses, tests aside: a door that nothing goes through. Types go out by the functions that
// give them, and the constants of an enumeration and errors belong together.
func TestExportedNamesHaveUsers(t *testing.T) {
	unused, err := unusedNames(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	listed := slices.Concat(slices.Collect(maps.Values(forTests))...)
	for _, name := range unused {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is exported, and only its own package and tests use it", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(unused, name) {
			t.Errorf("%s is on the list of what is exported for tests, and is used or gone: take it off", name)
		}
	}
}

// TestExportedNamesCanFail shows what is found, and what is not.
func TestExportedNamesCanFail(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"a/a.go": file("package a\n\ntype T struct{}\n\nfunc (T) Used() {}\nfunc (T) Idle() {}\nfunc (T) String() string { return \"\" }\n\nfunc F() {}\nfunc G() { F() }\n\ntype I interface{ Idle2() }\n\nfunc (T) Idle2() {}\n"),
		"b/b.go": file("package b\n\nimport x \"" + modulePath + "/a\"\n\nfunc f(t x.T) { t.Used() }\n"),
		// A test is no user, and neither is another package's name.
		"b/b_test.go": file("package b\n\nimport \"" + modulePath + "/a\"\n\nvar _ = a.F\n"),
		"c/c.go":      file("package c\n\nvar a struct{ G int }\n\nvar _ = a.G\n"),
	}
	got, err := unusedNames(tree)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.F", "a.G", "a.T.Idle"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// names are what the files of a tree declare and use.
type names struct {
	// declared holds "room.Name" and "room.Type.Method".
	declared []string
	// used holds "room.Name" for names of a package, and selected the names behind a dot with the
	// rooms that they stand in: what type they belong to is not looked at.
	used     map[string]bool
	selected map[string]map[string]bool
	// asked are the methods of interfaces: a type may have a method for their sake.
	asked map[string]bool
}

// interfacesOfOthers are methods that other people's packages call by an interface.
var interfacesOfOthers = strings.Fields("String Error Unwrap Is As Write Read Close WriteString ReadFrom ServeHTTP MarshalJSON UnmarshalJSON MarshalText UnmarshalText Format Len Less Swap Push Pop LogValue Handle Enabled WithAttrs WithGroup Describe Collect Set Type Visit Scan Value Unlock Lock RoundTrip Network Addr Accept LocalAddr RemoteAddr SetDeadline SetReadDeadline SetWriteDeadline Timeout Temporary")

// unusedNames lists the exported functions and methods without a user.
func unusedNames(tree fs.FS) ([]string, error) {
	n := names{used: map[string]bool{}, selected: map[string]map[string]bool{}, asked: map[string]bool{}}
	for _, name := range interfacesOfOthers {
		n.asked[name] = true
	}
	err := eachFile(tree, parser.SkipObjectResolution, func(name string, _ []byte, file *ast.File) error {
		return n.read(path.Dir(name), file)
	}, "dist")
	var unused []string
	for _, name := range n.declared {
		if !n.isUsed(name) {
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	return slices.Compact(unused), err
}

// isUsed reports whether another room uses a name.
func (n *names) isUsed(name string) bool {
	at := strings.LastIndexByte(name, '/') + 1
	parts := strings.Split(name[at:], ".")
	room, last := name[:at]+parts[0], parts[len(parts)-1]
	if len(parts) == 2 {
		return n.used[name]
	}
	for user := range n.selected[last] {
		if user != room {
			return true
		}
	}
	return n.asked[last]
}

// read adds a file.
func (n *names) read(room string, file *ast.File) error {
	rooms := map[string]string{} // by the name that this file has for them
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		to, ours := strings.CutPrefix(imported, modulePath+"/")
		if !ours {
			continue
		}
		as := path.Base(to)
		if spec.Name != nil {
			as = spec.Name.Name
		}
		rooms[as] = to
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.SelectorExpr:
			if of, ok := x.X.(*ast.Ident); ok && rooms[of.Name] != "" {
				n.used[rooms[of.Name]+"."+x.Sel.Name] = true
			}
			if n.selected[x.Sel.Name] == nil {
				n.selected[x.Sel.Name] = map[string]bool{}
			}
			n.selected[x.Sel.Name][room] = true
		case *ast.InterfaceType:
			for _, m := range x.Methods.List {
				for _, name := range m.Names {
					n.asked[name.Name] = true
				}
			}
		}
		return true
	})
	helper := strings.HasSuffix(room, "test") || slices.ContainsFunc(roomsForTests, func(of string) bool { return inside(room, of) })
	if file.Name.Name != "main" && !helper {
		for _, decl := range file.Decls {
			n.declare(room, decl)
		}
	}
	return nil
}

// declare adds the exported name of a declaration.
func (n *names) declare(room string, decl ast.Decl) {
	d, ok := decl.(*ast.FuncDecl)
	switch {
	case !ok || !d.Name.IsExported():
	case d.Recv == nil:
		n.declared = append(n.declared, room+"."+d.Name.Name)
	default:
		if t := receiver(d.Recv.List[0].Type); ast.IsExported(t) {
			n.declared = append(n.declared, fmt.Sprintf("%s.%s.%s", room, t, d.Name.Name))
		}
	}
}
