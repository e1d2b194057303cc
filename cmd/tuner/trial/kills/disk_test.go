package kills

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/scripts/testsize"
)

// diskRun is a run of the heater on a disk that a test spoils.
type diskRun struct {
	dir  string
	cmd  *exec.Cmd
	says hosttest.Buffer
}

// prepareDisk writes a run of 60 steps with its journal in a folder. wrap, if any, is
// the command that starts tuner.
func prepareDisk(t *testing.T, dir string, wrap ...string) *diskRun {
	t.Helper()
	text := strings.Replace(killFile, "steps = 1000000", "steps = 60", 1) + "\n[journal]\nmin_free = 0.0\n"
	if err := os.WriteFile(filepath.Join(dir, "kill.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &diskRun{dir: dir, cmd: trial.Command(t, dir, "run", "kill.toml")}
	if len(wrap) > 0 {
		program, err := exec.LookPath("tuner") // testscript puts this binary there
		if err != nil {
			t.Fatal(err)
		}
		d.cmd = exec.Command(wrap[0], append(wrap[1:], program, "run", "kill.toml")...)
		d.cmd.Dir = dir
	}
	d.cmd.Stderr = &d.says
	return d
}

// end waits for the run's end and wants a whole journal of 60 valid steps.
func (d *diskRun) end(t *testing.T, what string) {
	t.Helper()
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", what, err, d.says.String())
		return
	}
	export := trial.Command(t, d.dir, "export", "kill.db", "--format", "jsonl")
	lines, err := export.Output()
	if n := bytes.Count(lines, []byte(`"type":"step"`)); err != nil || n != 60 || bytes.Contains(lines, []byte(`"valid":false`)) {
		t.Errorf("%s: %d steps, %v", what, n, err)
	}
	if out, err := trial.Command(t, d.dir, "replay", "kill.db").CombinedOutput(); err != nil {
		t.Errorf("%s: it does not replay: %v\n%s", what, err, out)
	}
}

// wantOutage wants the outage and its end told, and no step lost.
func (d *diskRun) wantOutage(t *testing.T, what string) {
	t.Helper()
	d.end(t, what)
	for _, words := range []string{"tuner: warning: the record cannot be written, and nothing moves before it can: ", "tuner: the record can be written again after "} {
		if !strings.Contains(d.says.String(), words) {
			t.Errorf("%s: nobody said %q:\n%s", what, words, d.says.String())
		}
	}
}

// waitForSteps waits until the heater has been told a number of things.
func (d *diskRun) waitForSteps(t *testing.T, n int) {
	t.Helper()
	for limit := time.Now().Add(hosttest.Patience); ; time.Sleep(5 * time.Millisecond) {
		log, err := os.ReadFile(filepath.Join(d.dir, "oven.log"))
		if err == nil && bytes.Count(log, []byte(`"write"`)) >= n {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("no %d writes after %v: %v\n%s", n, hosttest.Patience, err, d.says.String())
		}
	}
}

// TestRunOutlivesAFullDisk: the kernel lets the files of a running tuner grow no more,
// for a while: it needs no rights, and to a process it is a full disk.
func TestRunOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	d := prepareDisk(t, t.TempDir())
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		t.Helper()
		if err := unix.Prlimit(d.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil); err != nil {
			t.Fatal(err)
		}
	}
	d.waitForSteps(t, 15)
	limit(1)
	d.says.WaitFor(t, "the record cannot be written")
	before, err := os.ReadFile(filepath.Join(d.dir, "oven.log"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	after, err := os.ReadFile(filepath.Join(d.dir, "oven.log"))
	if err != nil {
		t.Fatal(err)
	}
	// What was intended durably may still go out, once.
	if n := bytes.Count(after[len(before):], []byte(`"write"`)); n > 1 {
		t.Errorf("%d writes while nothing could be recorded", n)
	}
	limit(unix.RLIM_INFINITY)
	d.wantOutage(t, "no file may grow")
}

// TestRunOutlivesAFullFileSystem fills a real file system. It needs the right to mount
// one.
func TestRunOutlivesAFullFileSystem(t *testing.T) {
	t.Parallel()
	testsize.Only(t)
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Logf("not shown here: mounting a tmpfs: %v", err)
		return
	}
	defer func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	d := prepareDisk(t, dir)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.waitForSteps(t, 15)
	filler := filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if cerr := f.Close(); cerr != nil {
		t.Error(cerr)
	}
	d.says.WaitFor(t, "the record cannot be written")
	time.Sleep(time.Second)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	d.wantOutage(t, "a full tmpfs")
}

// TestRunOutlivesAFailingDisk has strace fail the calls of the whole process, each thread
// for itself. It needs strace, and the right to look on.
func TestRunOutlivesAFailingDisk(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Logf("not shown here: %v", err)
		return
	}
	if out, err := exec.Command(strace, "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Logf("not shown here: strace may not look on: %v: %s", err, out)
		return
	}
	// The calls that make the journal come first and are spared: a run that cannot begin
	// says so and ends.
	for _, fault := range []string{"fsync:error=EIO:when=40..42", "pwrite64:error=ENOSPC:when=150..152", "pwrite64:error=EROFS:when=150..152"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(fault, ":")
			if name != "fsync" {
				testsize.Only(t)
			}
			d := prepareDisk(t, t.TempDir(), strace, "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-e", "trace="+name,
				"-e", "inject="+fault, "-o", "/dev/null")
			if err := d.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d.end(t, fault)
			told := strings.Contains(d.says.String(), "the record cannot be written")
			if again := strings.Contains(d.says.String(), "the record can be written again"); told != again {
				t.Errorf("told of the outage: %v, of its end: %v\n%s", told, again, d.says.String())
			}
			t.Logf("held for it: %v", told)
		})
	}
}
