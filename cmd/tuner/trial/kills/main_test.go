package kills

import (
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/trial"
)

func TestMain(m *testing.M) { trial.Main(m) }
