package kills

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/journal"
)

// TestSecondProcessIsRefused: while one process tunes, another with the same file, and
// one that would begin anew, are refused with exit code 6 and told who has the
// journal; they leave nothing behind, and the first goes on.
func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, rand.New(rand.NewPCG(1, 0)), heater())
	first := trial.Command(t, c.dir, "run", "kill.toml")
	var says hosttest.Buffer
	first.Stderr = &says
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	}()
	says.WaitFor(t, "begins")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	who := regexp.MustCompile(fmt.Sprintf(`tuner: error: journal "kill\.db" is locked: process %d on %s since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ writes it\n`, first.Process.Pid, regexp.QuoteMeta(host)))
	for _, args := range [][]string{{"run", "kill.toml"}, {"run", "kill.toml", "--new"}, {"run", "kill.toml", "--json"}} {
		second := trial.Command(t, c.dir, args...)
		var refused bytes.Buffer
		second.Stderr = &refused
		if code := trial.CodeOf(second.Run()); code != fault.ExitJournal || !who.Match(refused.Bytes()) {
			t.Errorf("%v: exit code %d, %s", args, code, refused.String())
		}
	}
	r, err := journal.OpenReader(filepath.Join(c.dir, "kill.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if ss, err := r.Sessions(); err != nil || len(ss) != 1 || ss[0].PID != first.Process.Pid {
		t.Errorf("sessions %+v: %v", ss, err)
	}
}
