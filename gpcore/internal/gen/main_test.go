package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

const target = "../vec"

// The committed files are what the generator writes.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(target, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate in package vec", name)
		}
	}
}

// The 256-bit tier must run where there is no AVX-512: no wide, upper or mask
// register. No kernel may need a stack frame, and all amd64 kernels end by
// clearing the upper halves.
func TestKernelsKeepTheirPromises(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	upper := regexp.MustCompile(`\b(Z\d+|[XY](1[6-9]|[23]\d)|K\d)\b`)
	if m := upper.Find(files["kernels_avx2_amd64.s"]); m != nil {
		t.Errorf("the AVX2 kernels use %s", m)
	}
	text := regexp.MustCompile(`(?m)^TEXT .*$`)
	leaf := regexp.MustCompile(`^TEXT ·\w+\(SB\), NOSPLIT, \$0-\d+$`)
	for name, code := range files {
		functions := text.FindAll(code, -1)
		for _, line := range functions {
			if !leaf.Match(line) {
				t.Errorf("%s: %s has a frame or splits the stack", name, line)
			}
		}
		if ended := bytes.Count(code, []byte("VZEROUPPER\n")); filepath.Ext(name) == ".s" &&
			bytes.Contains([]byte(name), []byte("amd64")) && ended != len(functions) {
			t.Errorf("%s: %d functions, %d of them end with VZEROUPPER", name, len(functions), ended)
		}
	}
}
