package web

import (
	"os"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }
