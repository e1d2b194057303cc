package kills

import (
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/scripts/testsize"
)

func TestMain(m *testing.M) {
	testsize.InMemory()
	trial.Main(m)
}
