package journal_test

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// TestMain turns this test binary into a writer when a test starts it as one.
func TestMain(m *testing.M) {
	if job := os.Getenv("JOURNAL_TEST_CHILD"); job != "" {
		os.Exit(child(job))
	}
	os.Exit(journaltest.Main(m))
}
