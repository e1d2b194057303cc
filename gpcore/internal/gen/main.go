// Command gen writes the vector kernels of package vec and the loops of package
// peak: Go assembly for amd64, by avo, in an AVX-512 and an AVX2 tier, and for
// arm64 and 32-bit ARM, by its own small assemblers. It is a separate module, so
// that the product does not depend on avo. Run it with go generate in package vec.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DIRECTORY, the folder of package vec")
		os.Exit(2)
	}
	files, err := generate()
	if err == nil {
		err = write(os.Args[1], files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns all files by their path from the folder of package vec.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, wide := range []bool{true, false} {
		if err := amd64(files, wide); err != nil {
			return nil, err
		}
	}
	arm64(files)
	a := newVFP()
	a.emit()
	files["kernels_vfpv4_arm.s"], files["kernels_vfpv4_arm.go"] = a.code.Bytes(), a.stubs.Bytes()
	return files, nil
}

// arm64 adds the files of the NEON tier.
func arm64(files map[string][]byte) {
	a := newNEON("vec")
	a.declareConstants()
	emit(a)
	files["kernels_neon_arm64.s"], files["kernels_neon_arm64.go"] = a.code.Bytes(), a.stubs.Bytes()
	p := newNEON("peak")
	p.peak()
	files["peak/peak_neon_arm64.s"], files["peak/peak_neon_arm64.go"] = p.code.Bytes(), p.stubs.Bytes()
}

// amd64 adds the files of one amd64 tier.
func amd64(files map[string][]byte, wide bool) error {
	suffix := "AVX2"
	if wide {
		suffix = "AVX512"
	}
	stem := map[bool]string{true: "avx512", false: "avx2"}[wide]
	t := &tier{Context: build.NewContext(), suffix: suffix, wide: wide}
	t.ConstraintExpr("!purego")
	t.declareConstants()
	emit(t)
	if !wide {
		// Long products are cut into pieces that stay in the first cache, since the
		// small register blocks go over their operands twice.
		t.tile("tileMore", tileForm{more: true})
		t.tile("tileTMore", tileForm{transposed: true, more: true})
	}
	if err := compile(files, t, "vec", "kernels_"+stem+"_amd64"); err != nil {
		return err
	}
	p := &tier{Context: build.NewContext(), suffix: suffix, wide: wide}
	p.ConstraintExpr("!purego")
	p.peak()
	return compile(files, p, "peak", "peak/peak_"+stem+"_amd64")
}

// machine writes the kernels of one instruction set.
type machine interface {
	tile(name string, f tileForm)
	combine()
	addSquares()
	moments()
	multiply()
	dot()
	dots8()
	axpy()
	axpys8()
	rotate(name string, rows int)
	rankOne(name string, rows int)
	waves()
	pairs(f family)
}

// emit writes all functions of package vec.
func emit(m machine) {
	m.tile("tile", tileForm{})
	m.tile("tileSquares", tileForm{squares: true})
	m.tile("tileT", tileForm{transposed: true})
	m.combine()
	m.addSquares()
	m.moments()
	m.multiply()
	m.dot()
	m.dots8()
	m.axpy()
	m.axpys8()
	m.rotate("rotate1", 1)
	m.rotate("rotate4", 4)
	m.rankOne("rankOne1", 1)
	m.rankOne("rankOne4", 4)
	m.waves()
	for _, f := range families {
		m.pairs(f)
	}
}

// compile allocates registers and prints the assembly and its declarations.
func compile(files map[string][]byte, t *tier, pkg, path string) error {
	f, err := t.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c := printer.Config{Argv: []string{"go", "generate"}, Pkg: pkg}
	if files[path+".s"], err = printer.NewGoAsm(c).Print(f); err != nil {
		return err
	}
	files[path+".go"], err = printer.NewStubs(c).Print(f)
	return err
}
