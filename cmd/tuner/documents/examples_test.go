package documents

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestExamplesOfDriversAreRight: the whole files that the drivers' READMEs start from.
func TestExamplesOfDriversAreRight(t *testing.T) {
	examples, err := filepath.Glob("../../../drivers/*/examples/*.toml")
	if err != nil || len(examples) < 2 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, file := range examples {
		e, _, errOut, _ := hosttest.Env("check", file)
		if code := commands.Execute(context.Background(), e); code != 0 || errOut.String() != "" {
			t.Errorf("%s: exit code %d: %s", file, code, errOut.String())
		}
	}
}
