package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is faultfs as it was built for the tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "faultfs")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "faultfs")
		if out, err := build(".", program, "."); err != nil {
			fmt.Printf("%s\n%v\n", out, err)
			return 1
		}
		return m.Run()
	}())
}

func build(dir, to, what string) ([]byte, error) {
	c := exec.Command("go", "build", "-o", to, what)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	return c.CombinedOutput()
}

// rig is a mounted file system.
type rig struct {
	*testing.T
	dir     string // the mount point
	backing string
	socket  string
	cmd     *exec.Cmd
	conn    net.Conn
	said    *bufio.Reader
}

func mount(t *testing.T) *rig {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Geteuid() != 0 {
		t.Skip("mounting takes /dev/fuse and root")
	}
	top := t.TempDir()
	r := &rig{T: t, dir: filepath.Join(top, "mount"), backing: filepath.Join(top, "backing"), socket: filepath.Join(top, "control")}
	for _, dir := range []string{r.dir, r.backing} {
		r.must(os.Mkdir(dir, 0o755))
	}
	r.start()
	t.Cleanup(func() {
		if r.cmd != nil {
			r.end()
		}
	})
	return r
}

func (r *rig) start() {
	r.Helper()
	r.cmd = exec.Command(program, r.dir, r.backing, "--control", r.socket)
	r.cmd.Stderr = r.Output()
	r.must(r.cmd.Start())
	for give := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("unix", r.socket)
		if err == nil {
			r.conn, r.said = conn, bufio.NewReader(conn)
			return
		}
		if time.Now().After(give) {
			r.cmd.Process.Kill()
			r.Fatalf("no control socket: %v", err)
		}
	}
}

// end stops it as an orderly shutdown does.
func (r *rig) end() {
	r.Helper()
	r.conn.Close()
	r.must(r.cmd.Process.Signal(syscall.SIGTERM))
	r.must(r.cmd.Wait())
	r.cmd = nil
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// tell gives a command and returns what follows "ok".
func (r *rig) tell(command string) string {
	r.Helper()
	fmt.Fprintln(r.conn, command)
	line, err := r.said.ReadString('\n')
	r.must(err)
	said, ok := strings.CutPrefix(line, "ok")
	if !ok {
		r.Fatalf("%s: %s", command, line)
	}
	return strings.TrimSpace(said)
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// write writes a file whole and leaves it unsynced.
func (r *rig) write(name, data string) {
	r.Helper()
	r.must(os.WriteFile(r.path(name), []byte(data), 0o644))
}

// sync syncs a file or a folder.
func (r *rig) sync(name string) {
	r.Helper()
	r.must(syncPath(r.path(name)))
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// durable writes a file and syncs it and its folder.
func (r *rig) durable(name, data string) {
	r.Helper()
	r.write(name, data)
	r.sync(name)
	r.sync(filepath.Dir(name))
}

// holds says what the folders hold: name=content, sorted.
func (r *rig) holds() string {
	r.Helper()
	var all []string
	r.must(filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == r.dir {
			return err
		}
		name, _ := filepath.Rel(r.dir, path)
		switch {
		case d.IsDir():
			all = append(all, name+"/")
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all = append(all, name+"->"+target)
			return err
		default:
			data, err := os.ReadFile(path)
			all = append(all, name+"="+string(data))
			return err
		}
		return nil
	}))
	return strings.Join(all, " ")
}

func (r *rig) want(want string) {
	r.Helper()
	if got := r.holds(); got != want {
		r.Errorf("it holds %q, wanted %q", got, want)
	}
}
