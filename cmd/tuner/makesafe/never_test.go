package makesafe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
)

// terse leaves to its device what make-safe needs; nothing else is wrong with it.
const terse = `schema = 1
name = "terse"
objective = { sensor = "temp" }
policy = { kind = "gp-ucb" }
stop = { steps = 14 }
device = [{ name = "oven", driver = "exec", command = ["sh", "oven.sh"] }]
sensor = [{ name = "temp", device = "oven", max_age = "1m" }]
variable = [{ name = "power", device = "oven", readback = { tolerance = 0.01 } }]
cost = { unit = "shots", per_shot = 1.0 }
safety.variable.power = { slew = 1.0 }
`

// TestNeverRun: a device that has never been asked is asked what is safe. Where it does not say it, the error names
// what the file leaves open and says how to do without; where more is wrong with the file, that stands first.
func TestNeverRun(t *testing.T) {
	const says = `echo '{"protocol":"tuner-exec/1","name":"oven","channels":[{"name":"power","unit":"W","access":"rw","min":0,"max":10,"safe":2},{"name":"temp","unit":"degC","access":"r","min":0,"max":50}]}'
read line
echo '{"id":1,"ok":false,"error":{"code":"unknown_op","message":"no","retry":false}}'
cat > heard
`
	load := func(text, program string) (*setup.Setup, string, error) {
		folder := t.TempDir()
		path := filepath.Join(folder, "terse.toml")
		for name, text := range map[string]string{path: text, filepath.Join(folder, "oven.sh"): program} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e, _, _, _ := hosttest.Env()
		w, err := Load(t.Context(), e, path)
		heard, _ := os.ReadFile(filepath.Join(folder, "heard"))
		return w, string(heard), err
	}
	w, heard, err := load(terse, says)
	if err != nil || len(w.Options.Variables) != 1 || w.Options.Variables[0].Limits.Safe != 2 || heard != "" {
		t.Errorf("%v, it was told %s", err, heard)
	}
	_, _, err = load(terse, "exit 1")
	hinted, _ := errors.AsType[fault.Hinted](err)
	if fault.ExitCode(err) != fault.ExitUnsafe || !strings.Contains(hinted.Hint, "safety.variable.power.safe") || !strings.Contains(hinted.Hint, "tuner check --probe --effective ") {
		t.Errorf("%v; hint %q", err, hinted.Hint)
	}
	_, _, err = load(terse+"nonsense = 1\n", says)
	var file *configs.Error
	if !errors.As(err, &file) || fault.ExitCode(err) != fault.ExitUsage {
		t.Errorf("%v", err)
	}
}
