package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// What a room of the house may hold, tests aside: what fits a head. 20 files and 2,500
// lines are what to aim at.
const (
	filesMax   = 30
	linesMax   = 4000
	methodsMax = 60
	fieldsMax  = 30
)

// exceptions say how large what is too large is, and why.
type exceptions map[string]struct {
	size int
	why  string
}

// tooLarge lists the rooms and types that are larger, with the size that they may not
// grow beyond, and why they are.
var tooLarge = exceptions{

	// Plain data: what a file says, and what is reported of a run.
	"loop/control.Status: fields": {43, "plain data, a member of a JSON object each"},
	// A method for each instruction that the generator writes.
	"gpcore/internal/gen.neon: methods": {71, "an assembler has as many methods as instructions"},
}

// TestRoomsFitAHead fails where a package or a type is larger than it may be, and where one
// that is listed as too large has become small.
func TestRoomsFitAHead(t *testing.T) {
	sizes, err := sizesOf(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	if sizes["loop: files"] == 0 || sizes["loop.Loop: methods"] == 0 {
		t.Fatal("the walk did not find the loop")
	}
	for _, bad := range misfits(sizes, tooLarge) {
		t.Error(bad)
	}
}

// misfits compares sizes with what is allowed.
func misfits(sizes map[string]int, tooLarge exceptions) (out []string) {
	for what, n := range sizes {
		_, of, _ := strings.Cut(what, ": ")
		most := map[string]int{"files": filesMax, "lines": linesMax, "methods": methodsMax, "fields": fieldsMax}[of]
		listed, known := tooLarge[what]
		switch {
		case known && n > listed.size:
			out = append(out, fmt.Sprintf("%s: %d, and it may not grow beyond %d (%s)", what, n, listed.size, listed.why))
		case known && n <= most:
			out = append(out, fmt.Sprintf("%s: %d, at most %d are allowed: take it off the list of what is too large", what, n, most))
		case !known && n > most:
			out = append(out, fmt.Sprintf("%s: %d, at most %d are allowed: divide it", what, n, most))
		}
	}
	for what := range tooLarge {
		if _, there := sizes[what]; !there {
			out = append(out, fmt.Sprintf("%s: there is no such thing: take it off the list of what is too large", what))
		}
	}
	slices.Sort(out)
	return out
}

// sizesOf counts the files and lines of each package, and the methods and fields of each
// type, tests and what stands under testdata aside.
func sizesOf(tree fs.FS) (map[string]int, error) {
	sizes := map[string]int{}
	err := eachFile(tree, 0, func(name string, text []byte, file *ast.File) error {
		room := path.Dir(name)
		sizes[room+": files"]++
		sizes[room+": lines"] += bytes.Count(text, []byte("\n"))
		for _, decl := range file.Decls {
			countIn(sizes, room, decl)
		}
		return nil
	}, "scripts", "dist")
	return sizes, err
}

// countIn adds what a declaration gives its type.
func countIn(sizes map[string]int, room string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			sizes[room+"."+receiver(d.Recv.List[0].Type)+": methods"]++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			t, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if fields, ok := t.Type.(*ast.StructType); ok {
				sizes[room+"."+t.Name.Name+": fields"] += fields.Fields.NumFields()
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// TestRoomsCanFail shows that each kind of misfit is found.
func TestRoomsCanFail(t *testing.T) {
	tree := fstest.MapFS{}
	for i := range filesMax + 1 {
		tree[fmt.Sprintf("heap/f%d.go", i)] = &fstest.MapFile{Data: []byte("package heap\n")}
	}
	giant := "package giant\n\ntype T[P any] struct {\n" + strings.Repeat("\ta, b int\n", fieldsMax/2) + "\tc int\n}\n"
	giant += strings.Repeat("\nfunc (t *T[P]) m() {}\n", methodsMax+1) + strings.Repeat("\n", linesMax)
	tree["giant/t.go"] = &fstest.MapFile{Data: []byte(giant)}
	tree["giant/t_test.go"] = &fstest.MapFile{Data: []byte("package giant\n")}
	sizes, err := sizesOf(tree)
	if err != nil {
		t.Fatal(err)
	}
	listed := exceptions{"loop: files": {50, "too many"}, "loop.Loop: methods": {290, "too many"}}
	found := strings.Join(misfits(sizes, listed), "\n")
	for _, want := range []string{"heap: files: 31, at most", "giant: lines:", "giant.T: methods: 61, at most", "giant.T: fields: 31, at most", "loop: files: there is no such thing"} {
		if !strings.Contains(found, want) {
			t.Errorf("not found: %s\nin:\n%s", want, found)
		}
	}
	delete(sizes, "heap: files")
	sizes["loop: files"], sizes["loop.Loop: methods"] = filesMax, 1000
	found = strings.Join(misfits(sizes, listed), "\n")
	for _, want := range []string{"loop: files: 30, at most 30 are allowed: take it off", "loop.Loop: methods: 1000, and it may not grow"} {
		if !strings.Contains(found, want) {
			t.Errorf("not found: %s\nin:\n%s", want, found)
		}
	}
}
