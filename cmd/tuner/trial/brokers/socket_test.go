package brokers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/local"
)

// alone writes the configuration of an oven that has no broker, with a name of its own and
// more as further text, and returns its folder.
func alone(t *testing.T, name, more string) string {
	t.Helper()
	dir := oven(t, "")
	file := filepath.Join(dir, "oven.toml")
	text := strings.Replace(trial.ReadFile(t, file), "[mqtt]\n", more, 1)
	text = strings.Replace(text, `name = "oven"`, fmt.Sprintf("name = %q", name), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// await asks for the status of a run until it tells of words.
func await(t *testing.T, dir, run, words string) {
	t.Helper()
	var out, errs string
	for limit := time.Now().Add(hosttest.Patience); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if out, errs, _ = tell(t, dir, "status", run); strings.Contains(out, words) {
			return
		}
	}
	t.Fatalf("not %q within %v:\n%s%s", words, hosttest.Patience, out, errs)
}

// commandsOf lists the commands of a journal as NAME CODE, and demands that each names who
// asked.
func commandsOf(t *testing.T, path, transport, who string) string {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for c, err := range r.Commands() {
		if err != nil {
			t.Fatal(err)
		}
		if c.Answer == nil || c.Transport != transport || !strings.Contains(c.Who, who) || c.Transaction == "" {
			t.Errorf("recorded %+v, want %s over %s", c, who, transport)
		}
		got = append(got, c.Name+" "+c.Answer.Code)
	}
	return strings.Join(got, ", ")
}

// Every command line works without a broker and without a token, by the run's file and by its
// name; who asked is on record.
func TestCommandsOverSocket(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-socket", "")
	for _, what := range []string{"oven.toml", "oven-socket"} {
		if _, errs, code := tell(t, dir, "pause", what); code != 5 || !strings.Contains(errs, "no tuner is online") {
			t.Errorf("without a tuner: %d\n%s", code, errs)
		}
	}
	run := startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven.toml", "oven-socket at bench:")
	await(t, dir, "oven-socket", "running")
	for _, c := range []struct {
		args, out, errs string
		code            int
	}{
		{"pause oven.toml --reason lunch", "pause: paused: every actuator stays where it is until resume\n", "", 0},
		{"set-best oven-socket", "", "tuner: error: set-best was refused (mode): paused: resume first", 1},
		{"status ./oven.toml", "held, paused", "", 0},
		{"reset oven.toml", "reset: nothing is latched\n", "", 0},
		{"reset oven-socket", "reset: nothing is latched\n", "", 0},
		{"resume oven-socket --json", `"ok":true`, "", 0},
		{"resume oven-sock", "", `no run named "oven-sock" that you may reach is on this computer`, 5},
		{"pause oven.toml --reason " + strings.Repeat("x", 201), "", "pause was refused (bad-args)", 1},
	} {
		out, errs, code := tell(t, dir, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: %d\n%s%s", c.args, code, out, errs)
		}
	}
	out, _, _ := tell(t, dir, "status", "oven-socket", "--json")
	var doc struct {
		Presence struct{ State, Session string }
		Status   struct{ Session, Name string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Presence.State != "online" || doc.Presence.Session == "" || doc.Presence.Session != doc.Status.Session {
		t.Errorf("status --json: %v\n%s", err, out)
	}
	// What runs can be stopped, whatever has become of its file.
	if err := os.WriteFile(filepath.Join(dir, "oven.toml"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := tell(t, dir, "stop", "oven.toml"); code != 0 || !strings.Contains(out, "stop: made safe") {
		t.Errorf("stop: %d\n%s%s", code, out, errs)
	}
	if code := run.exits(t); code != 4 {
		t.Errorf("the run ended with %d, want 4", code)
	}
	who := fmt.Sprintf("uid %d, pid ", os.Getuid())
	if got := commandsOf(t, filepath.Join(dir, "oven-socket.db"), "socket", who); got != "pause ok, set-best mode, reset ok, reset ok, resume ok, pause bad-args, stop ok" {
		t.Errorf("recorded %s", got)
	}
	if says := run.says.String(); !strings.Contains(says, who) || !strings.Contains(says, `over socket ("lunch"): paused`) {
		t.Errorf("it said:\n%s", says)
	}
	if _, errs, code := tell(t, dir, "status", "oven-socket"); code != 5 {
		t.Errorf("after the end: %d\n%s", code, errs)
	}
}

// A process that was killed is nobody at once; its run goes on by the same name, also while a
// dry run of the same file is there, which is another run.
func TestKilledRunLeavesTheDoor(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-killed", "")
	run := startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven-killed", "running")
	if err := run.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	if _, errs, code := tell(t, dir, "stop", "oven-killed"); code != 5 || !strings.Contains(errs, "no run named") {
		t.Errorf("%d\n%s", code, errs)
	}
	run = startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven-killed", "running")
	if out, errs, code := tell(t, dir, "stop", "oven.toml"); code != 0 {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	run.exits(t)
}

// Two runs of one file are told apart by the names that the refusal gives.
func TestTwoRunsOfAFile(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-twice", "")
	text := strings.Replace(trial.ReadFile(t, filepath.Join(dir, "oven.toml")), "steps = 100000", "time = \"1h\"", 1)
	if err := os.WriteFile(filepath.Join(dir, "oven.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven-twice", "running")
	startTuner(t, dir, "run", "--shadow", "oven.toml")
	id := local.ID("oven-twice", filepath.Join(dir, "oven-twice.db"))
	var errs string
	var code int
	for limit := time.Now().Add(hosttest.Patience); code != 3 && time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		_, errs, code = tell(t, dir, "pause", "oven.toml")
	}
	if code != 3 || !strings.Contains(errs, "2 runs of oven.toml are on this computer") || !strings.Contains(errs, id+" (run, journal ") {
		t.Fatalf("%d\n%s", code, errs)
	}
	if out, errs, code := tell(t, dir, "reset", "oven-twice"); code != 3 {
		t.Errorf("a name of two runs: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := tell(t, dir, "pause", id); code != 0 {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

// Another user is kept out unless [socket] names a group that they are in; then they command,
// and are on record.
func TestOtherUsersAtTheSocket(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	const stranger, group = 61234, 61235
	door := t.TempDir()
	if err := os.Chmod(filepath.Dir(door), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(door, "tuner")
	copyProgram(t, program)
	dir := alone(t, "oven-shared", fmt.Sprintf("[socket]\nfolder = %q\ngroup = \"%d\"\n", door, group))
	for _, open := range []string{filepath.Dir(dir), dir, door} {
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "oven.toml"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven.toml", "running")
	ask := func(gid uint32) (string, int) {
		cmd := exec.Command(program, "pause", "oven.toml")
		cmd.Args[0], cmd.Dir, cmd.Env = "tuner", dir, []string{"TMPDIR=/tmp"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: gid}}
		out, err := cmd.CombinedOutput()
		return string(out), trial.CodeOf(err)
	}
	if out, code := ask(stranger); code != 5 || !strings.Contains(out, "lets other users in") {
		t.Errorf("a stranger: %d\n%s", code, out)
	}
	if out, code := ask(group); code != 0 {
		t.Errorf("one of the group: %d\n%s", code, out)
	}
	if out, errs, code := tell(t, dir, "stop", "oven.toml"); code != 0 {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	run.exits(t)
	if got := commandsOf(t, filepath.Join(dir, "oven-shared.db"), "socket", "uid "); got != "pause ok, stop ok" || !strings.Contains(run.says.String(), fmt.Sprintf(`pause asked for by "uid %d, pid `, stranger)) {
		t.Errorf("recorded %s\n%s", got, run.says.String())
	}
}

// copyProgram copies this program to where everybody can run it.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o755); err != nil {
		t.Fatal(err)
	}
}

// A door that cannot be made as the file says is an error before anything is driven; where the
// file says nothing, the run goes on and says so.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	for more, says := range map[string]string{
		"[socket]\ngroup = \"no-such-group\"\n":   "group: unknown group no-such-group",
		"[socket]\nowner = \"no-such-user\"\n":    "user: unknown user no-such-user",
		"[socket]\nfolder = \"no-such-folder\"\n": "no-such-folder",
	} {
		dir := alone(t, "oven-refused", more)
		if _, errs, code := tell(t, dir, "run", "oven.toml"); code != 3 || !strings.Contains(errs, says) || !strings.Contains(errs, "oven.toml:") {
			t.Errorf("%s: %d\n%s", more, code, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "oven.log")); err == nil {
			t.Error("the instrument was driven")
		}
	}
	dir := alone(t, "oven-mute", "")
	squat := t.TempDir()
	if err := os.WriteFile(filepath.Join(squat, fmt.Sprintf("tuner-%d", os.Getuid())), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := trial.Command(t, dir, "run", "oven.toml")
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR=", "TMPDIR="+squat)
	r := &running{cmd: cmd}
	cmd.Stderr, cmd.Stdout = &r.says, &r.says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.says.WaitFor(t, "tuner: warning: there is no socket for commands from this computer")
	r.says.WaitFor(t, "begins")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.exits(t); code != 130 {
		t.Errorf("it ended with %d\n%s", code, r.says.String())
	}
}

// Whatever the umask, what a run makes is its user's alone; what was there keeps its mode; what
// a person asks for follows the umask.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-private", fmt.Sprintf("[web]\nlisten = %q\n", trial.FreeAddress(t)))
	places := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	open := func(args ...string) *exec.Cmd { // as tuner, under a umask that takes nothing away
		cmd := exec.Command("bash", append([]string{"-c", `umask 0; exec -a tuner "$@"`, "sh", self}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_RUNTIME_DIR="+places, "XDG_STATE_HOME="+filepath.Join(places, "state"))
		return cmd
	}
	run := func() *running {
		r := &running{cmd: open("run", "oven.toml")}
		r.cmd.Stderr, r.cmd.Stdout = &r.says, &r.says
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.cmd.Process.Kill() }) // only where the test failed before its end
		for limit := time.Now().Add(hosttest.Patience); ; time.Sleep(100 * time.Millisecond) {
			out, err := open("status", "oven.toml").CombinedOutput()
			if bytes.Contains(out, []byte("running")) {
				return r
			}
			if time.Now().After(limit) {
				t.Fatalf("%v: %s\n%s", err, out, r.says.String())
			}
		}
	}
	end := func(r *running) {
		if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r.exits(t)
	}
	r := run()
	seen := map[string]bool{}
	own := map[string]bool{"oven.toml": true, "child": true, "oven.log": true} // the test's and the instrument's
	for _, root := range []string{dir, places} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || path == root || own[e.Name()] {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			seen[strings.TrimPrefix(filepath.Ext(path), ".")] = true
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"db", "db-wal", "db-shm", "lock", "control-a", "link", "sock", "control-state"} {
		if !seen[want] {
			t.Errorf("no file .%s was looked at: %v", want, seen)
		}
	}
	end(r)
	if _, err := os.Lstat(filepath.Join(dir, "oven-private.link")); err == nil {
		t.Error("the link outlives its run")
	}
	shared := []string{"oven-private.db", "oven-private.control-a", "oven-private.control-b"}
	for _, name := range shared {
		if err := os.Chmod(filepath.Join(dir, name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	r = run()
	end(r)
	for _, name := range shared {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if out, err := open("export", "oven-private.db", "-o", "oven.csv").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if info, err := os.Stat(filepath.Join(dir, "oven.csv")); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("the export: %v, %v", info.Mode(), err)
	}
}

// A new journal has the mode of [journal] mode.
func TestJournalMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "laser.toml")
	text := trial.WithKey(t, trial.SampleText(t, "laser"), "steps", "8")
	if strings.Contains(text, "[journal]") {
		text = strings.Replace(text, "[journal]", "[journal]\nmode = \"0640\"", 1)
	} else {
		text += "\n[journal]\nmode = \"0640\"\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := tell(t, dir, "simulate", "laser.toml", "--journal", "new.db"); code != 0 {
		t.Fatalf("%d\n%s", code, errs)
	}
	if info, err := os.Stat(filepath.Join(dir, "new.db")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, "0640", "0777", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := tell(t, dir, "check", "laser.toml"); code != 3 || !strings.Contains(errs, "journal.mode") {
		t.Errorf("%d\n%s", code, errs)
	}
}
