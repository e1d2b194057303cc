package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (r *rig) timed(least, most time.Duration, do func()) {
	r.Helper()
	began := time.Now()
	do()
	if d := time.Since(began); d < least*time.Millisecond || d > most*time.Millisecond {
		r.Errorf("it took %s, wanted %d to %d ms", d, least, most)
	}
}

// python runs a script of testdata with SQLite as Python has it.
func (r *rig) python(script string, args ...string) string {
	r.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		r.Skip("there is no python3")
	}
	out, err := exec.Command(python, append([]string{filepath.Join("testdata", script), r.dir, r.socket}, args...)...).CombinedOutput()
	if err != nil {
		r.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// A commit is acknowledged after an fsync, so a power cut takes none of them.
func TestCommitsSurviveWithFull(t *testing.T) {
	r := mount(t)
	if got := r.python("commits.py", "FULL", "50"); got != "acknowledged 50, kept 50, integrity ok" {
		t.Error(got)
	}
}

// Without the fsync they are lost: this fails if the file system forgets nothing.
func TestCommitsAreLostWithOff(t *testing.T) {
	r := mount(t)
	if got := r.python("commits.py", "OFF", "50"); got != "acknowledged 50, kept 0, integrity ok" {
		t.Error(got)
	}
}

// Each seed cuts the power in the middle of the writing; some writers checkpoint often.
func TestTwoHundredPowerCuts(t *testing.T) {
	r := mount(t)
	began := time.Now()
	got := r.python("powercuts.py", "FULL", "0", "200")
	t.Logf("%s, in %s", got, time.Since(began))
	if !strings.HasSuffix(got, ", 0 damaged, 0 with commits lost") {
		t.Error(got)
	}
}

// The same cuts do harm where SQLite does not sync: they are no formality.
func TestPowerCutsDoHarmWithOff(t *testing.T) {
	r := mount(t)
	got := r.python("powercuts.py", "OFF", "0", "30")
	t.Log(got)
	if strings.HasSuffix(got, ", 0 with commits lost") {
		t.Error(got)
	}
}

// Locks and the mapped -shm are shared by processes.
func TestProcessesShareADatabase(t *testing.T) {
	r := mount(t)
	if got := r.python("share.py"); got != "400 rows of 4 writers, integrity ok" {
		t.Error(got)
	}
}

// The program of this repository keeps its journal on it, and finds it whole after a power cut.
func TestTunerSimulates(t *testing.T) {
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	tuner := filepath.Join(t.TempDir(), "tuner")
	if out, err := build(top, tuner, "./cmd/tuner"); err != nil {
		t.Fatalf("%s\n%v", out, err)
	}
	r := mount(t)
	db := r.path("x.db")
	r.run(tuner, "simulate", filepath.Join(top, "configs", "laser.toml"), "--journal", db)
	r.run(tuner, "replay", db)
	r.tell("crash 1")
	r.run(tuner, "replay", db)
	if s := r.tell("stats"); strings.Contains(s, " syncs=0 ") || strings.Contains(s, " foldersyncs=0 ") {
		t.Errorf("nothing was synced: %s", s)
	}
}

func (r *rig) run(program string, args ...string) {
	r.Helper()
	c := exec.Command(program, args...)
	c.Dir = os.TempDir()
	if out, err := c.CombinedOutput(); err != nil {
		r.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
