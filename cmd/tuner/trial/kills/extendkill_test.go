package kills

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/scripts/testsize"
)

// TestExtendKill kills run --extend of a finished run at any instant of its start, until it has made new
// steps. Whenever that is, the journal either has its end, or the note that it goes on in its place, once; the
// next run --extend goes on with all steps.
//
//	TUNER_EXTEND_KILLS=100 go test ./cmd/tuner/trial/kills -run TestExtendKill -v -timeout 60m
func TestExtendKill(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(campaignSeed(t), 1))
	size := campaignSize(t, "TUNER_EXTEND_KILLS", testsize.Of(2, 20))
	lasts := 500 * time.Millisecond // until the first new step, newest known
	finished, continued := 0, 0
	for n := range size {
		o := ordered{t, t.TempDir()}
		file := strings.Replace(killFile, "[policy]", "[socket]\nfolder = \".\"\n\n[policy]", 1)
		o.write("kill.toml", strings.Replace(file, "steps = 1000000", "steps = 5\nverify = 0", 1))
		if out, err := trial.Command(t, o.dir, "run", "kill.toml").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		o.awaitChildren()
		o.write("kill.toml", strings.Replace(file, "steps = 1000000", "steps = 1000000\nverify = 0", 1))

		cmd, _ := o.start("", "--extend")
		time.AfterFunc(time.Duration(r.Int64N(int64(lasts*3/2))), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		o.awaitChildren()
		ended, notes, steps := o.extended()
		switch {
		case ended && notes == 0 && steps == 5:
			finished++
		case !ended && notes == 1 && steps >= 5:
			continued++
		default:
			t.Errorf("after kill %d: the run is finished: %v; %d notes that it goes on; %d steps of 5 or more", n+1, ended, notes, steps)
		}

		begun := time.Now()
		cmd, says := o.start("", "--extend")
		over := make(chan struct{})
		go func() { _ = cmd.Wait(); close(over) }()
		if run, _ := o.find(steps+2, over); run == nil { // the status counts the newest before it is durable
			t.Errorf("after kill %d it does not go on:\n%s", n+1, says.String())
		}
		lasts = time.Since(begun)
		_ = cmd.Process.Kill()
		<-over
		o.awaitChildren()
		if ended, notes, now := o.extended(); ended || notes != 1 || now <= steps {
			t.Errorf("after kill %d and another start: the run is finished: %v; %d notes that it goes on; %d steps, of which %d before", n+1, ended, notes, now, steps)
		}
		if t.Failed() {
			t.Fatalf("kept in %s", keepFolder(t, o.dir))
		}
	}
	t.Logf("%d kills of run --extend: %d times the run was still finished, %d times it went on; no step lost, no note missing or twice", size, finished, continued)
}

// extended says whether the journal's run is finished, and counts the notes that it went on and its
// concluded steps.
func (o *ordered) extended() (finished bool, notes, steps int) {
	o.t.Helper()
	r, err := journal.OpenReader(filepath.Join(o.dir, "kill.db"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Close()
	if _, finished, err = r.Result(); err != nil {
		o.t.Fatal(err)
	}
	for e, err := range r.Events() {
		if err != nil {
			o.t.Fatal(err)
		}
		if e.Kind == journal.EventContinued {
			notes++
		}
	}
	return finished, notes, o.steps("")
}
