package commands

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
)

// ovenScript is a program that says what it is, and notes what it hears.
const ovenScript = `cd "$(dirname "$0")"
echo '{"protocol":"tuner-exec/1","name":"oven","channels":[{"name":"power","unit":"W","access":"rw","min":0,"max":10,"safe":0,"resolution":0.1},{"name":"fan","unit":"1","access":"rw"},{"name":"yield","unit":"g","access":"r","min":-50,"max":50}]}'
read line
echo '{"id":1,"ok":false,"error":{"code":"unknown_op","message":"no","retry":false}}'
cat > heard
`

// initOven runs tuner init in a folder with the program.
func initOven(t *testing.T, args ...string) (folder, text string, err error) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "oven.sh"), []byte(ovenScript), 0o600); err != nil {
		t.Fatal(err)
	}
	e, _, _, _ := hosttest.Env()
	cmd := newInitCommand(e)
	cmd.SetArgs(append([]string{filepath.Join(folder, "first.toml"), "--device", "exec=sh " + filepath.Join(folder, "oven.sh")}, args...))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(context.Background())
	written, _ := os.ReadFile(filepath.Join(folder, "first.toml"))
	return folder, string(written), err
}

// What a program says becomes a file that check accepts, and that is whole once the program is
// asked; nothing was moved.
func TestInit(t *testing.T) {
	folder, text, err := initOven(t, "--knob", "power")
	if err != nil {
		t.Fatal(err)
	}
	e, _, _, _ := hosttest.Env()
	file := filepath.Join(folder, "first.toml")
	if _, err := setup.Load(file, e); err != nil {
		if _, left := errors.AsType[*setup.Unasked](err); !left {
			t.Errorf("%v\n%s", err, text)
		}
	}
	w, err := setup.LoadAsked(t.Context(), file, e, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if v := w.Options.Variables; len(v) != 1 || v[0].High != 10 || v[0].Limits.SlewUp != 1 || w.Options.Sensors[0].Name != "yield" {
		t.Errorf("%+v\n%s", v, text)
	}
	if heard, _ := os.ReadFile(filepath.Join(folder, "heard")); len(heard) > 0 {
		t.Errorf("the program was told %s", heard)
	}
	// What the program does not say of a channel stands in the file, to be changed.
	if _, text, err = initOven(t, "--objective", "yield"); err != nil || !strings.Contains(text, "[0.0, 1.0]   # CHANGE") || !strings.Contains(text, "[safety.variable.fan]") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A file that is there stays as it is; what is not known is said.
func TestInitRefuses(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "first.toml")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is there already":           {file, "--device", "exec=true"},
		`no driver "modem" can look`: {filepath.Join(folder, "new.toml"), "--device", "modem"},
		"FILE is missing":            {},
	} {
		e, _, _, _ := hosttest.Env()
		cmd := newInitCommand(e)
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if _, text, err := initOven(t, "--objective", "glow"); err == nil || text != "" || !strings.Contains(err.Error(), "there is no such channel; what answered has oven.power, oven.fan, oven.yield") {
		t.Errorf("%v, %q", err, text)
	}
}
