package makesafe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/configs"
)

// terse leaves to its device what make-safe needs; nothing else is wrong with it.
const terse = `schema = 1
name = "terse"
objective = { sensor = "temp" }
policy = { kind = "gp-ucb" }
stop = { steps = 14 }
device = [{ name = "oven", driver = "exec", command = ["true"] }]
sensor = [{ name = "temp", device = "oven", max_age = "1m" }]
variable = [{ name = "power", device = "oven", readback = { tolerance = 0.01 } }]
cost = { unit = "shots", per_shot = 1.0 }
safety.variable.power = { slew = 1.0 }
`

// TestMakeSafeSaysWhatToDo: where a device has never been asked, the hint says how to do without it; where
// more is wrong, what is wrong stands first.
func TestMakeSafeSaysWhatToDo(t *testing.T) {
	for text, want := range map[string]bool{terse: true, terse + "nonsense = 1\n": false} {
		path := filepath.Join(t.TempDir(), "terse.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e, _, _, _ := hosttest.Env()
		_, err := Load(e, path)
		var file *configs.Error
		if !errors.As(err, &file) || fault.ExitCode(err) != fault.ExitUsage {
			t.Fatalf("%v", err)
		}
		told := false
		for _, p := range file.Problems {
			told = told || strings.Contains(p.Hint, "tuner check --probe --effective "+path) && p.Key == "safety.variable.power.safe"
		}
		if told != want {
			t.Errorf("%v: %+v", told, file.Problems)
		}
	}
}
