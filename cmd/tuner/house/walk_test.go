package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// eachFile parses every Go file of a tree but for tests, whatever its build constraints, and
// calls f. Folders that begin with a dot, testdata and those listed are passed over.
func eachFile(tree fs.FS, mode parser.Mode, f func(name string, text []byte, file *ast.File) error, without ...string) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || slices.Contains(without, name) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, mode)
		if err != nil {
			return err
		}
		return f(name, text, file)
	})
}
