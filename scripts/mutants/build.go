package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// room is a package of which mutants are made.
type room struct {
	dir string
	// files are those of it that decide; all where there are none.
	files []string
	// tests are the packages whose tests are run, its own first.
	tests []string
}

// rooms are those that decide whether, when or what is written.
var rooms = []room{
	{"safety", nil, []string{"safety", "loop"}},
	{"loop/guard", []string{"commands.go", "explore.go", "files.go", "guard.go", "saver.go", "limits.go", "outside.go", "start.go", "watchdog.go"},
		[]string{"loop/guard", "loop"}},
	{"loop/instrument", []string{"actuator.go", "apply.go", "dose.go", "halt.go", "instrument.go", "link.go", "makesafe.go", "readings.go", "reconnect.go", "rest.go"},
		[]string{"loop/instrument", "loop"}},
	{"drivers/mqtt", []string{"channel.go", "confirm.go", "delay.go", "device.go", "dose.go", "halt.go", "receiver.go", "setpoint.go", "status.go"},
		[]string{"drivers/mqtt"}},
	{"drivers/mqtt/link", []string{"connection.go", "link.go", "linger.go", "queue.go"}, []string{"drivers/mqtt/link", "drivers/mqtt"}},
	{"drivers/serial", []string{"actuate.go", "connect.go", "device.go", "dose.go", "safewrite.go"}, []string{"drivers/serial"}},
	{"drivers/serial/protocol", []string{"errors.go", "giveway.go", "line.go", "timing.go"}, []string{"drivers/serial"}},
	{"drivers/serial/text", []string{"speaker.go", "text.go", "terminated.go"}, []string{"drivers/serial/text", "drivers/serial"}},
	{"drivers/serial/modbus", []string{"modbus.go", "register.go", "request.go", "rtu.go", "tcp.go"}, []string{"drivers/serial/modbus", "drivers/serial"}},
	{"loop", []string{"boot.go", "mode.go", "move.go", "outage.go", "rest.go"}, []string{"loop"}},
	{"drivers/exec", []string{"call.go", "child.go", "device.go", "lifecycle.go", "message.go"}, []string{"drivers/exec"}},
}

const module = "github.com/labtuner/tuner"

// catalogue is every mutant by rule, and the text of the packages with all of them in it.
type catalogue struct {
	changes []*change
	// overlay maps files to their text with the mutants; unfit counts what would not compile.
	overlay map[string][]byte
	unfit   int
}

// gather makes the mutants of all rooms.
func gather(list []room) (*catalogue, error) {
	exports, err := exportData(list)
	if err != nil {
		return nil, err
	}
	c := &catalogue{overlay: map[string][]byte{}}
	for _, r := range list {
		if err := c.room(r, exports); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// exportData finds what the compiler knows of every package that the rooms import.
func exportData(list []room) (map[string]string, error) {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, r := range list {
		args = append(args, "./"+r.dir)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	return exports, nil
}

// parsed is a package as it stands on the disk.
type parsed struct {
	fset  *token.FileSet
	names []string
	files []*ast.File
	info  *types.Info
}

// listed is the files of a package that are compiled on this platform.
func listed(dir string) ([]string, error) {
	out, err := exec.Command("go", "list", "-f", "{{range .GoFiles}}{{.}}\n{{end}}", "./"+dir).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", dir, err)
	}
	return strings.Fields(string(out)), nil
}

// present is the files of the room's package. One that the room lists and that is not there was
// moved, renamed or taken out: that is an error, since no mutant would be made of it.
func (r room) present() ([]string, error) {
	names, err := listed(r.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range r.files {
		if !slices.Contains(names, f) {
			return nil, fmt.Errorf("%s has no file %s: say in scripts/mutants/build.go where that code is now", r.dir, f)
		}
	}
	return names, nil
}

// load reads the files of a package and finds the types in it.
func load(dir string, names []string, exports map[string]string) (*parsed, error) {
	p := &parsed{fset: token.NewFileSet(), names: names,
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	for _, n := range p.names {
		f, err := parser.ParseFile(p.fset, filepath.Join(dir, n), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	imports := importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	_, err := (&types.Config{Importer: imports}).Check(module+"/"+dir, p.fset, p.files, p.info)
	return p, err
}

// room makes the mutants of one.
func (c *catalogue) room(r room, exports map[string]string) error {
	names, err := r.present()
	if err != nil {
		return err
	}
	p, err := load(r.dir, names, exports)
	if err != nil {
		return err
	}
	for i, f := range p.files {
		if r.files != nil && !slices.Contains(r.files, p.names[i]) {
			continue
		}
		path := filepath.Join(r.dir, p.names[i])
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m := &mutator{room: r.dir, file: filepath.ToSlash(path), src: src, fset: p.fset, info: p.info, next: len(c.changes) + 1}
		m.mutate(f)
		c.changes = append(c.changes, m.changes...)
		c.unfit += m.unfit
		c.overlay[path] = m.rewrite()
	}
	c.overlay[filepath.Join(r.dir, "mutant_switch.go")] = []byte(strings.Replace(switches, "PACKAGE", p.files[0].Name.Name, 1))
	return nil
}

// switches turn one mutant on, by the environment. The first time that one is come by is
// noted where a file is named for it.
const switches = `package PACKAGE

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantOn, _ = strconv.Atoi(os.Getenv("TUNER_MUTANT"))
	mutantHits  = os.Getenv("TUNER_MUTANT_HITS")
	mutantNotes = mutantHits != ""
	mutantSeen  [1 << 16]atomic.Bool
)

func mutant(n int) bool { return n == mutantOn || mutantNotes && mutantNote(n) }

func mutantNote(n int) bool {
	if mutantSeen[n].Swap(true) {
		return false
	}
	f, err := os.OpenFile(mutantHits, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(strconv.Itoa(n) + "\n"); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
	return false
}

func mutantPick[T any](n int, a, b T) T {
	if mutant(n) {
		return b
	}
	return a
}

var _ = mutantPick[int]
`

// builder makes test binaries with the mutants in them, outside the tree.
type builder struct {
	dir  string
	list string
	made map[string]string
}

// write puts the overlay under dir.
func (c *catalogue) write(dir string) (*builder, error) {
	replace := map[string]string{}
	n := 0
	for path, text := range c.overlay {
		original, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		n++
		replace[original] = filepath.Join(dir, fmt.Sprintf("%s-%s", strings.ReplaceAll(filepath.Dir(path), "/", "_"), filepath.Base(path)))
		if old, err := os.ReadFile(replace[original]); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := os.WriteFile(replace[original], text, 0o600); err != nil {
			return nil, err
		}
	}
	doc, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return nil, err
	}
	b := &builder{dir: dir, list: filepath.Join(dir, "overlay.json"), made: map[string]string{}}
	return b, os.WriteFile(b.list, doc, 0o600)
}

// binary is the test binary of a package, made once.
func (b *builder) binary(pkg string) (string, error) {
	if made, ok := b.made[pkg]; ok {
		return made, nil
	}
	out := filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "_")+".test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", b.list, "-o", out, "./"+pkg)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not compile with its mutants: %s", pkg, said)
	}
	b.made[pkg] = out
	return out, nil
}
