package documents

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/trial"
)

// TestMain: pages that are written are written by whole tests, which are on a disk.
func TestMain(m *testing.M) {
	if os.Getenv("UPDATE_DOCS") != "" {
		os.Setenv("TUNER_TESTS", "whole")
	}
	trial.Main(m)
}
