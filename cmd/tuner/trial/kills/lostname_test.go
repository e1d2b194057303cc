package kills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/scripts/testsize"
)

// lostSteps is how many steps a run of these tests has, lostAt the step at which its
// journal loses its name.
const (
	lostSteps = 53
	lostAt    = 15
)

// lostRun is a run of the real program whose journal a test takes away.
type lostRun struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	out  hosttest.Buffer
	says hosttest.Buffer
}

// startLost starts a run with its journal at data/kill.db, and waits until it has told of
// step lostAt.
func startLost(t *testing.T, steps int) *lostRun {
	t.Helper()
	r := &lostRun{t: t, dir: t.TempDir()}
	text := strings.Replace(killFile, "steps = 1000000", fmt.Sprintf("steps = %d\nverify = 0", steps), 1) + "\n[journal]\npath = \"data/kill.db\"\nmin_free = 0.0\n"
	if err := os.WriteFile(filepath.Join(r.dir, "kill.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.path("data"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.out.WaitFor(t, `"type":"step","n":15,`)
	return r
}

func (r *lostRun) start(args ...string) {
	r.t.Helper()
	r.cmd = trial.Command(r.t, r.dir, append([]string{"run", "kill.toml", "--json"}, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.says
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *lostRun) path(name string) string { return filepath.Join(r.dir, name) }

// must fails the test on an error of what it does to the files.
func (r *lostRun) must(errs ...error) {
	r.t.Helper()
	for _, err := range errs {
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// ends waits for the end, with an exit code.
func (r *lostRun) ends(code int) {
	r.t.Helper()
	err := r.cmd.Wait()
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Fatalf("exit code %d, want %d: %v\n%s", got, code, err, r.says.String())
	}
}

// interrupt ends the run as a person does.
func (r *lostRun) interrupt() {
	r.t.Helper()
	r.must(r.cmd.Process.Signal(syscall.SIGINT))
	r.ends(fault.ExitInterrupted)
}

// says wants words on stderr.
func (r *lostRun) said(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(r.says.String(), w) {
			r.t.Errorf("nobody said %q:\n%s", w, r.says.String())
		}
	}
}

// holds wants every step that was told of in a journal, word for word, and returns how many
// there are. The journal is sound and derives.
func (r *lostRun) holds(name string) int {
	r.t.Helper()
	j, err := journal.OpenReader(r.path(name))
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.says.String())
	}
	defer j.Close()
	if d := j.Verify(); d != nil {
		r.t.Errorf("%s: %v", name, d)
	}
	recorded := map[int]string{}
	for s, err := range j.Steps() {
		if err != nil {
			r.t.Fatal(err)
		}
		line, err := show.EncodeLine(control.StepOf(j.Run(), s.Decision, s.Outcome))
		if err != nil {
			r.t.Fatal(err)
		}
		recorded[s.Decision.Step] = strings.TrimSpace(string(line))
	}
	told := 0
	for line := range strings.Lines(r.out.String()) {
		var head struct {
			Type string
			N    int
		}
		if json.Unmarshal([]byte(line), &head) != nil || head.Type != "step" {
			continue
		}
		if told++; recorded[head.N] != strings.TrimSpace(line) {
			r.t.Errorf("%s: step %d was told of as\n%s\nand is recorded as\n%s", name, head.N, line, recorded[head.N])
		}
	}
	if told < lostAt {
		r.t.Errorf("%d steps were told of", told)
	}
	if out, err := trial.Command(r.t, r.dir, "replay", name).CombinedOutput(); err != nil {
		r.t.Errorf("%s does not replay: %v\n%s", name, err, out)
	}
	return len(recorded)
}

// whole wants all steps in the journal at its name, one line told of each but of those that
// were in flight when a process ended, and no copy left.
func (r *lostRun) whole(inFlight int) {
	r.t.Helper()
	n, told := r.holds("data/kill.db"), bytes.Count([]byte(r.out.String()), []byte(`"type":"step"`))
	if n != lostSteps || told < lostSteps-inFlight {
		r.t.Errorf("%d steps on record, %d told of, want %d\n%s", n, told, lostSteps, r.says.String())
	}
	if copies, err := journal.Rescued(r.path("data/kill.db")); err != nil || len(copies) > 0 {
		r.t.Errorf("copies left: %v, %v", copies, err)
	}
}

// standsStill wants nothing but at most one write, intended before, while the run is held.
func (r *lostRun) standsStill() {
	r.t.Helper()
	before := r.writes()
	r.says.WaitFor(r.t, "held: record")
	if n := r.writes() - before; n > 1 {
		r.t.Errorf("%d writes while the run was held", n)
	}
}

func (r *lostRun) writes() int {
	log, err := os.ReadFile(r.path("oven.log"))
	r.must(err)
	return bytes.Count(log, []byte(`"write"`))
}

// TestJournalDeletedUnderTheRun: the journal loses its name at step 15 of 53, the name is
// free, and the run goes on by itself with everything that it has told of.
func TestJournalDeletedUnderTheRun(t *testing.T) {
	t.Parallel()
	remove := func(suffixes ...string) func(*lostRun) {
		return func(r *lostRun) {
			for _, s := range suffixes {
				r.must(os.Remove(r.path("data/kill.db" + s)))
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(*lostRun)
		says string
		like bool // it goes the way of another
	}{
		"the journal":                {remove(""), "it was deleted while the run writes it; every record was copied to ", false},
		"the journal with its parts": {remove("", "-wal", "-shm", ".lock"), "it was deleted while the run writes it", true},
		"its log":                    {remove("-wal"), "its log (kill.db-wal, -shm) was deleted or replaced while the run writes it; every record was moved into the journal", true},
		"the index of its log":       {remove("-shm"), "its log (kill.db-wal, -shm) was deleted or replaced", true},
		"the folder with all of it":  {func(r *lostRun) { r.must(os.RemoveAll(r.path("data"))) }, "its folder was deleted or renamed while the run writes it; every record", true},
		"moved to another folder": {func(r *lostRun) {
			r.must(os.Mkdir(r.path("old"), 0o700), os.Rename(r.path("data/kill.db"), r.path("old/kill.db")))
		}, "it was moved while the run writes it; it is at ", true},
		"by its directory's own name": {func(r *lostRun) { r.must(os.Rename(r.path("data/kill.db"), r.path("data/elsewhere.db"))) }, "data/elsewhere.db\" now", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.like {
				testsize.Only(t)
			}
			r := startLost(t, lostSteps)
			c.do(r)
			r.ends(fault.ExitOK)
			r.whole(0)
			r.said(c.says)
		})
	}
}

// TestJournalReplacedUnderTheRun: something else takes the journal's name at step 15; the
// run is held until a person moves that away, and what stood there is as it was.
func TestJournalReplacedUnderTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(*lostRun, string)
		kind string
		like bool // it goes the way of another
	}{
		"another journal": {func(r *lostRun, to string) {
			j := begunRun(r.t, to)
			r.must(j.Close())
		}, "another file stands", false},
		"an empty file": {func(r *lostRun, to string) { r.must(os.WriteFile(to, nil, 0o600)) }, "an empty file stands", true},
		"a folder":      {func(r *lostRun, to string) { r.must(os.Mkdir(to, 0o700)) }, "a folder stands", true},
		"a link":        {func(r *lostRun, to string) { r.must(os.Symlink("nowhere", to)) }, "a symbolic link stands", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.like {
				testsize.Only(t)
			}
			r := startLost(t, lostSteps)
			c.make(r, r.path("intruder"))
			r.must(os.Remove(r.path("data/kill.db")), os.Rename(r.path("intruder"), r.path("data/kill.db")))
			r.standsStill()
			r.says.WaitFor(t, c.kind)
			r.says.WaitFor(t, "the run is held: "+c.kind)
			before := r.writes()
			time.Sleep(1500 * time.Millisecond) // steps take a hundredth of that
			if n := r.writes() - before; n > 1 {
				t.Errorf("%d writes while something else stands at the journal's name", n)
			}
			r.must(os.Rename(r.path("data/kill.db"), r.path("intruder")))
			r.ends(fault.ExitOK)
			r.whole(0)
			r.said("the rescued copy ", "the journal's file is in order again")
			if name == "another journal" {
				if j, err := journal.OpenReader(r.path("intruder")); err != nil {
					t.Error(err)
				} else if st, err := j.Status(); err != nil || st.Steps != 1 || j.Verify() != nil || j.Close() != nil {
					t.Errorf("the other journal: %+v, %v", st, err)
				}
			}
		})
	}
}

// TestRescuedCopyIsGoneOnWith: a run that is held for another file at its name is ended, or
// killed; the next start says what to do, and goes on from the copy when the name is free.
func TestRescuedCopyIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"interrupted": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !kill {
				testsize.Only(t)
			}
			r := startLost(t, lostSteps)
			r.must(os.Remove(r.path("data/kill.db")), os.WriteFile(r.path("data/kill.db"), []byte("notes"), 0o600))
			r.says.WaitFor(t, "another file stands at the journal's name")
			if kill {
				r.must(r.cmd.Process.Kill())
				_ = r.cmd.Wait()
				awaitChildren(t, r.path("oven.log"))
			} else {
				r.interrupt()
				r.said("the record of this run is in ")
			}
			r.holds("data/kill.rescued.db")
			out, err := trial.Command(t, r.dir, "run", "kill.toml").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "data/kill.rescued.db") || !strings.Contains(string(out), "move what stands at the journal's name away and start again") {
				t.Errorf("a start beside the copy: %v\n%s", err, out)
			}
			r.must(os.Remove(r.path("data/kill.db")))
			r.start()
			r.ends(fault.ExitOK)
			r.whole(1)
			r.said("put data/kill.rescued.db, which was rescued when the journal lost its name, back to data/kill.db")
		})
	}
}

// TestFolderRenamedUnderTheRun: the run is held while the folder of its journal has another
// name, and goes on when it has its own again; or it is ended, and everything is there.
func TestFolderRenamedUnderTheRun(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"named back": true, "ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !back {
				testsize.Only(t)
			}
			r := startLost(t, lostSteps)
			r.must(os.Rename(r.path("data"), r.path("renamed")))
			r.standsStill()
			r.says.WaitFor(t, "its folder was deleted or renamed while the run writes it; it is at ")
			r.says.WaitFor(t, "give the folder its name \"data\" back")
			if !back {
				r.must(r.cmd.Process.Signal(os.Interrupt))
				r.ends(fault.ExitJournal)
			}
			r.must(os.Rename(r.path("renamed"), r.path("data")))
			if !back {
				r.holds("data/kill.db")
				r.start()
			}
			r.ends(fault.ExitOK)
			r.whole(1)
		})
	}
}

// TestControlStateDeletedUnderTheRun: it is written anew, and an older copy that is put in
// its place is not believed.
func TestControlStateDeletedUnderTheRun(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{"deleted": nil, "replaced": []byte("something else")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startLost(t, 1000000)
			for _, suffix := range []string{"-a", "-b"} {
				at := r.path("data/kill.control" + suffix)
				if err := os.Remove(at); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				if content != nil {
					r.must(os.WriteFile(at, content, 0o600))
				}
			}
			r.says.WaitFor(t, "was deleted or replaced under the run: it was written again")
			s, err := controlstate.Peek(r.path("data/kill.control"))
			if err != nil || s.Generation < 2 || !s.Underway || s.Instrument.Name != "kill" {
				t.Errorf("%+v, %v", s, err)
			}
			r.interrupt()
			r.holds("data/kill.db")
		})
	}
}

// TestStartWithoutItsJournal: a control state that tells of an unfinished run, and no
// journal: the start says so and asks for --new. A run that has ended leaves no such mark.
func TestStartWithoutItsJournal(t *testing.T) {
	t.Parallel()
	r := startLost(t, lostSteps)
	r.interrupt()
	r.must(os.Remove(r.path("data/kill.db")))
	out, err := trial.Command(t, r.dir, "run", "kill.toml").CombinedOutput()
	for _, words := range []string{`journal "data/kill.db" file does not exist`, "the control state data/kill.control is there, and records a run that was not finished", "--new"} {
		if err == nil || !strings.Contains(string(out), words) {
			t.Errorf("it does not say %q: %v\n%s", words, err, out)
		}
	}
	r.start("--new")
	r.ends(fault.ExitOK)
	r.must(os.Rename(r.path("data/kill.db"), r.path("archive.db")))
	r.start()
	r.ends(fault.ExitOK)
}

// begunRun makes a journal with one step, and leaves it open.
func begunRun(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(path, journal.Run{ID: "x", Name: "oven", Mode: "run", Policy: "random",
		Variables:   []journal.Column{{Name: "power", Unit: "W"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"power"}}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Decide(journal.Decision{Step: 1, Requested: []float64{1}, Applied: []float64{1}}); err != nil {
		t.Fatal(err)
	}
	return j
}
