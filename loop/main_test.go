package loop

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/scripts/testsize"
)

func TestMain(m *testing.M) {
	testsize.InMemory()
	os.Exit(journaltest.Main(m))
}
