package scripts

import (
	"context"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// A run keeps its heap small; what the user says of it goes first, and other commands,
// which last for seconds, are left as they are.
func TestRunIsLean(t *testing.T) {
	for _, c := range []struct {
		name, gogc, command string
		want                int
	}{
		{"a run", "", "run", host.HeapGrowth},
		{"a run that the user has chosen", "200", "run", 0},
		{"another command", "", "check", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			e, _, _, _ := hosttest.Env(c.command, "no-such-file.toml")
			e.Collect = func(percent int) { asked = percent }
			e.Lookup = func(name string) (string, bool) { return c.gogc, name == "GOGC" && c.gogc != "" }
			if code := commands.Execute(context.Background(), e); code != 3 {
				t.Errorf("exit code %d", code)
			}
			if asked != c.want {
				t.Errorf("the collector is asked for %d, not %d", asked, c.want)
			}
		})
	}
}
