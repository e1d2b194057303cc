package main

import (
	"context"
	"path/filepath"
	"testing"
)

// TestExamplesOfDriversAreRight: the whole files that the drivers' READMEs start from.
func TestExamplesOfDriversAreRight(t *testing.T) {
	examples, err := filepath.Glob("../../drivers/*/examples/*.toml")
	if err != nil || len(examples) < 2 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, file := range examples {
		e, _, errOut, _ := testEnv("check", file)
		if code := execute(context.Background(), e); code != 0 || errOut.String() != "" {
			t.Errorf("%s: exit code %d: %s", file, code, errOut.String())
		}
	}
}
