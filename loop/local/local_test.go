package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/loop/web"
)

// stranger is a user who is neither root nor anybody: the kernel knows numbers only.
const stranger = 61234

// TestMain lets this program be its own client as another user, and a process that dies with
// its socket.
func TestMain(m *testing.M) {
	switch os.Getenv("LOCAL_TEST") {
	case "ask": // asks SOCKET who it is for the run
		r := Run{Socket: os.Args[1]}
		var v web.Visitor
		if r.Err = r.call(context.Background(), http.MethodGet, "/", nil, &v); r.Denied() {
			fmt.Println("denied")
			os.Exit(0)
		}
		fmt.Println(v.Who, v.Transport, v.Commands, r.Err)
		os.Exit(0)
	case "die": // listens in FOLDER as ID, and is killed
		if _, err := Listen(os.Args[1], os.Args[2], OwnerOnly()); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	os.Exit(m.Run())
}

// again is this program in another part.
func again(part string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), "LOCAL_TEST="+part)
	return cmd
}

// serveAt answers at a socket with who asks.
func serveAt(t *testing.T, d *Listener, identity web.Identity) {
	t.Helper()
	s := web.NewServer(web.ServerOptions{})
	answer := func(of func(r *http.Request) any) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewEncoder(w).Encode(of(r)); err != nil {
				t.Error(err)
			}
		})
	}
	s.Handle("GET /{$}", answer(func(r *http.Request) any { return web.VisitorOf(r) }))
	s.Handle("GET /api/run", answer(func(*http.Request) any { return identity }))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.ServeSocket(ctx, d, Peer) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func listen(t *testing.T, folder, id string, share Access) *Listener {
	t.Helper()
	d, err := Listen(folder, id, share)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// A socket is its user's alone from its first moment on, whatever the umask, and goes with its
// run; the kernel says who has connected.
func TestSocketIsPrivate(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	folder := t.TempDir()
	l, err := bind(filepath.Join(folder, "first.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if got := modeOf(t, filepath.Join(folder, "first.sock")); got != 0o600 {
		t.Errorf("bound with mode %o", got)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	d := listen(t, folder, "a", OwnerOnly())
	if got := modeOf(t, d.Path()); got != 0o600 {
		t.Errorf("mode %o", got)
	}
	serveAt(t, d, web.Identity{})
	out, err := again("ask", d.Path()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("uid %d, pid ", os.Getuid())) || !strings.HasSuffix(string(out), " socket true <nil>\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// Another user is let in where the socket's owner or group says so, is named by number, and is
// else kept out by the kernel.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	folder := t.TempDir()
	for _, dir := range []string{folder, filepath.Dir(folder)} { // so that the socket alone decides
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(folder, "program") // where the stranger can read it
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	ask := func(d *Listener, gid uint32) string {
		cmd := exec.Command(program, d.Path())
		cmd.Env = append(os.Environ(), "LOCAL_TEST=ask")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: gid}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	const group = 61235
	for name, c := range map[string]struct {
		share Access
		gid   uint32
		in    bool
	}{
		"alone":         {OwnerOnly(), stranger, false},
		"another group": {Access{-1, group}, stranger, false},
		"its group":     {Access{-1, group}, group, true},
		"its owner":     {Access{stranger, -1}, stranger, true},
		"another owner": {Access{group, -1}, stranger, false},
	} {
		d := listen(t, folder, strings.ReplaceAll(name, " ", "-"), c.share)
		serveAt(t, d, web.Identity{})
		want := "denied"
		if c.in {
			want = fmt.Sprintf("uid %d, pid ", stranger)
		}
		if got := ask(d, c.gid); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// What a killed process leaves is no run, and the next start takes it away; what is alive, what
// is no socket and what is another run's stays.
func TestStaleSocketsGo(t *testing.T) {
	folder := t.TempDir()
	for _, id := range []string{"dead-1", "dead-1", "dead-2"} { // also under its own name
		if out, err := again("die", folder, id).CombinedOutput(); err == nil || len(out) > 0 {
			t.Fatalf("it was not killed: %v: %s", err, out)
		}
		if _, err := os.Lstat(filepath.Join(folder, id+".sock")); err != nil {
			t.Fatalf("nothing is left, and nothing is shown: %v", err)
		}
		if runs := List(t.Context(), []string{folder}, ""); len(runs) != 0 {
			t.Errorf("a killed process is listed: %+v", runs)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "text.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	alive := listen(t, folder, "alive-1", OwnerOnly())
	serveAt(t, alive, web.Identity{Name: "alive"})
	if err := os.Remove(filepath.Join(folder, "text.sock")); err != nil {
		t.Errorf("what is no socket was removed: %v", err)
	}
	second := listen(t, folder, "dead-1", OwnerOnly())
	serveAt(t, second, web.Identity{Name: "dead"})
	if _, err := os.Lstat(filepath.Join(folder, "dead-2.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("dead-2 is there still: %v", err)
	}
	if _, err := Listen(folder, "alive-1", OwnerOnly()); err == nil || !strings.Contains(err.Error(), "another process's") {
		t.Errorf("a second process takes the name: %v", err)
	}
	var names []string
	for _, r := range List(t.Context(), []string{folder, filepath.Join(folder, "missing"), folder}, "") {
		names = append(names, r.ID+" "+r.Identity.Name)
	}
	if !slices.Equal(names, []string{"alive-1 alive", "dead-1 dead"}) {
		t.Errorf("listed %q", names)
	}
	if runs := List(t.Context(), []string{folder}, "alive"); len(runs) != 1 || runs[0].Err != nil {
		t.Errorf("by its name: %+v", runs)
	}
	if runs := List(t.Context(), []string{folder}, "dead-1"); len(runs) != 1 {
		t.Errorf("by its id: %+v", runs)
	}
	ended := listen(t, folder, "ended-1", OwnerOnly())
	if err := ended.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(ended.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a socket outlives its run: %v", err)
	}
}

// Many runs begin at the same time, among what killed ones have left: each has its socket, and
// nobody removes another's.
func TestManyStarts(t *testing.T) {
	folder := t.TempDir()
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			if i%3 == 0 {
				_ = again("die", folder, fmt.Sprintf("dead-%d", i)).Run()
				return
			}
			d, err := Listen(folder, fmt.Sprintf("alive-%d", i), OwnerOnly())
			if err != nil {
				t.Error(err)
				return
			}
			serveAt(t, d, web.Identity{Name: "alive"})
		})
	}
	group.Wait()
	if runs := List(t.Context(), []string{folder}, "alive"); len(runs) != 16 {
		t.Errorf("%d runs, want 16", len(runs))
	}
}

// A path that is too long for the kernel is reached all the same.
func TestLongPath(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Listen("unix", filepath.Join(folder, "x.sock")); err == nil {
		t.Fatal("the kernel takes such a path: nothing is shown")
	}
	name := strings.Repeat("n", 200) + "/é"
	id := ID(name, "/a/journal.db")
	if len(id) != nameMax+1+8 || id == ID(name, "/b/journal.db") || !strings.HasPrefix(id, prefix(name)) {
		t.Errorf("id %q", id)
	}
	d := listen(t, folder, id, OwnerOnly())
	serveAt(t, d, web.Identity{Name: name})
	if runs := List(t.Context(), []string{folder}, name); len(runs) != 1 || runs[0].Err != nil || runs[0].Identity.Name != name {
		t.Errorf("%+v", runs)
	}
}

// The folder is made for its user alone, and what someone else has put in its place is
// refused.
func TestPlaces(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	temp, uid := t.TempDir(), os.Geteuid()
	p := Dirs{Temp: temp, UID: uid, Services: filepath.Join(temp, "services")}
	dir, err := p.Own()
	if err != nil || dir != filepath.Join(temp, fmt.Sprintf("tuner-%d", uid)) || modeOf(t, dir) != 0o700 {
		t.Errorf("%s, %v", dir, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Own(); err != nil || modeOf(t, dir) != 0o700 {
		t.Errorf("it stays open to others: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(p.Services, "laser"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := p.All(); !slices.Contains(got, dir) || !slices.Contains(got, filepath.Join(p.Services, "laser")) {
		t.Errorf("looked in %q", got)
	}
	p.XDG = t.TempDir()
	if got, err := p.Own(); err != nil || got != filepath.Join(p.XDG, "tuner") || modeOf(t, got) != 0o700 {
		t.Errorf("%s, %v", got, err)
	}
	p.Runtime = "/run/tuner/laser:/run/other"
	if got, err := p.Own(); err != nil || got != "/run/tuner/laser" {
		t.Errorf("%s, %v", got, err)
	}
	// A link and another user's folder are no folders of one's own.
	p = Dirs{Temp: t.TempDir(), UID: uid}
	if err := os.Symlink(temp, filepath.Join(p.Temp, fmt.Sprintf("tuner-%d", uid))); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Own(); err == nil {
		t.Error("a link is taken for the folder")
	}
	if uid != 0 {
		t.Skip("only root can make another user's folder")
	}
	p.Temp = t.TempDir()
	dir = filepath.Join(p.Temp, "tuner-0")
	if err := errors.Join(os.Mkdir(dir, 0o777), os.Chown(dir, stranger, stranger)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Own(); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("another user's folder: %v", err)
	}
	if slices.Contains(p.All(), dir) {
		t.Error("another user's folder is looked in")
	}
	p.XDG = dir // as under sudo, which may keep the variable
	if got := p.user(); got == filepath.Join(dir, "tuner") {
		t.Errorf("%s would be made in another user's folder", got)
	}
}

// TestRunsAreAskedAtOnce: one run that does not answer keeps no other waiting. Here none answers
// before all have been asked.
func TestRunsAreAskedAtOnce(t *testing.T) {
	const runs = 6
	folder := t.TempDir()
	var asked sync.WaitGroup
	asked.Add(runs)
	for i := range runs {
		l, err := net.Listen("unix", filepath.Join(folder, fmt.Sprintf("oven-%d%s", i, suffix)))
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Done()
			asked.Wait()
			_ = json.NewEncoder(w).Encode(web.Identity{Name: fmt.Sprint("oven ", i)}) // whoever asked has gone where it fails
		})}
		go s.Serve(l) //nolint:errcheck // it ends with the test
		defer s.Close()
	}
	for i, r := range List(t.Context(), []string{folder}, "") {
		if r.Err != nil || r.Identity.Name != fmt.Sprint("oven ", i) {
			t.Errorf("run %d: %+v", i, r)
		}
	}
}
