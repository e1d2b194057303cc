package web

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// The tests share one browser, in which their pages wait for each other's frames, for answers and
// for timers more than they compute.
func TestMain(m *testing.M) {
	testsize.InMemory()
	testsize.Waiting()
	os.Exit(webtest.Main(m))
}
