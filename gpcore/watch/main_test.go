package watch

import (
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
)

func TestMain(m *testing.M) { gptest.RunOnTier(m) }

func TestTierIsTheOneAskedFor(t *testing.T) { gptest.CheckTier(t) }
