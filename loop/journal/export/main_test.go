package export

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

func TestMain(m *testing.M) { os.Exit(journaltest.Main(m)) }
