package serial

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

func TestMain(m *testing.M) {
	testsize.Waiting()
	os.Exit(m.Run())
}
