package exec

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	osexec "os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// drainTime is how long the pipes of an exited child are still read. Data that
// it wrote is there at once; only a process that left the group can hold a pipe
// open longer, and it is no longer listened to.
const drainTime = 500 * time.Millisecond

// errKilled is wrapped by the error of a child that had to be killed.
var errKilled = errors.New("killed")

// child is one running program: its process group, its pipes and the goroutines
// that listen to them.
//
//	host ── in ──> stdin
//	     <─ lines ── goroutine listen <── stdout
//	     <─ log, stderrTail ── goroutine <── stderr
//	     <─ exited ── goroutine reap
type child struct {
	cmd *osexec.Cmd
	in  *os.File

	// lines carries what the child says; it is closed at the end of its output,
	// after which cut says why it ended.
	lines chan outputLine
	cut   error

	// quit, once closed, makes the listening goroutine drop what comes.
	quit     chan struct{}
	quitOnce sync.Once

	// exited is closed when the child is reaped and its group is gone; status
	// holds how it ended.
	exited chan struct{}
	status error

	// killSoon, once closed, shortens the time that the child has to exit.
	killSoon     chan struct{}
	killSoonOnce sync.Once

	// mu guards reaped: a group must not be signalled after its leader is
	// reaped, since the number may by then belong to others.
	mu     sync.Mutex
	reaped bool

	stderr stderrTail
}

// outputLine is one line of the child and when it came.
type outputLine struct {
	text []byte
	at   time.Time
}

// start runs the command of o in a new process group.
func start(o Options, env drivers.Env) (*child, error) {
	cmd := osexec.Command(o.program(), o.Command[1:]...)
	cmd.Dir = o.folder()
	cmd.Env = environment(cmd.Environ(), o.Env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	var pipes [3]struct{ r, w *os.File }
	closeAll := func() {
		for _, p := range pipes {
			p.r.Close() // on a nil file, Close is harmless
			p.w.Close()
		}
	}
	for i := range pipes {
		var err error
		if pipes[i].r, pipes[i].w, err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("no pipe to the child: %w", err)
		}
	}
	stdin, stdout, stderr := pipes[0], pipes[1], pipes[2]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin.r, stdout.w, stderr.w
	if err := cmd.Start(); err != nil {
		closeAll()
		return nil, err
	}
	stdin.r.Close()
	stdout.w.Close()
	stderr.w.Close()

	c := &child{
		cmd:    cmd,
		in:     stdin.w,
		lines:  make(chan outputLine),
		quit:   make(chan struct{}),
		exited: make(chan struct{}),

		killSoon: make(chan struct{}),
	}
	var listeners sync.WaitGroup
	listeners.Go(func() { c.listen(stdout.r, env.Clock) })
	listeners.Go(func() { c.stderr.relay(stderr.r, env) })
	go c.reap(&listeners, stdout.r, stderr.r)
	env.Log.Debug("child started", slog.Int("pid", cmd.Process.Pid))
	return c, nil
}

// environment adds the file's variables to the inherited ones, without those by
// which a service manager speaks to its own service only.
func environment(inherited []string, extra map[string]string) []string {
	var env []string
	for _, pair := range inherited {
		switch name := envName(pair); name {
		case "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES":
		default:
			if _, replaced := extra[name]; !replaced {
				env = append(env, pair)
			}
		}
	}
	for name, value := range extra {
		env = append(env, name+"="+value)
	}
	return env
}

func envName(pair string) string {
	for i := range len(pair) {
		if pair[i] == '=' {
			return pair[:i]
		}
	}
	return pair
}

// listen hands the child's lines over one by one until its output ends, a line
// is too long, or quit is closed.
func (c *child) listen(stdout *os.File, clock drivers.Clock) {
	c.cut = c.forward(wire.NewLines(stdout), clock)
	close(c.lines)
	// A child that is stuck in writing could not notice the end of its input
	// and go safe. The pipe's end or its deadline ends this.
	_, _ = io.Copy(io.Discard, stdout)
}

// forward hands lines over and returns why it stopped.
func (c *child) forward(lines *wire.Lines, clock drivers.Clock) error {
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, wire.ErrTooLong), errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%s: %w", wire.Quote(line), err)
		case err != nil:
			return err
		}
		select {
		case c.lines <- outputLine{text: append([]byte(nil), line...), at: clock.Now()}:
		case <-c.quit:
			return io.EOF
		}
	}
}

// reap waits for the child's end, kills what is left of its group, and frees
// the pipes.
func (c *child) reap(listeners *sync.WaitGroup, pipes ...*os.File) {
	defer close(c.exited)
	awaitExit(c.cmd.Process.Pid)
	c.mu.Lock()
	// The unreaped leader still holds the group's number: it cannot be another's.
	killGroup(c.cmd.Process.Pid)
	c.status = c.cmd.Wait()
	c.reaped = true
	c.mu.Unlock()
	for _, p := range pipes {
		// A pipe that knows no deadline cannot happen on Linux; closing it
		// below ends the reading in any case.
		_ = p.SetReadDeadline(time.Now().Add(drainTime))
	}
	listenersDone := make(chan struct{})
	go func() { listeners.Wait(); close(listenersDone) }()
	select {
	case <-listenersDone:
	case <-time.After(2 * drainTime):
		c.ignore()
	}
	for _, p := range pipes {
		p.Close()
	}
	<-listenersDone
	c.in.Close()
}

// awaitExit returns when the process has ended, without reaping it.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killGroup kills every process of the group. That there is none left is what
// it is for, so its error says nothing.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// kill ends the group at once.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		killGroup(c.cmd.Process.Pid)
	}
}

// ignore drops whatever the child still says.
func (c *child) ignore() { c.quitOnce.Do(func() { close(c.quit) }) }

// shortExitTime is how long a child may take to go safe and exit while a safe value waits for
// the next one. Not longer: a child that has not answered in time hangs. Not shorter: it may
// be about to notice.
const shortExitTime = 500 * time.Millisecond

// expedite leaves a child that has been asked to exit, or will be, shortExitTime for it.
func (c *child) expedite() { c.killSoonOnce.Do(func() { close(c.killSoon) }) }

// stop closes the child's input, which asks it to go safe and exit, and kills
// its group after grace, or sooner where it is hurried. It returns when the child is reaped, with an error
// where it had to be killed or could not be reaped.
func (c *child) stop(grace time.Duration) error {
	c.ignore()
	c.in.Close()
	select {
	case <-c.exited:
		return nil
	case <-c.killSoon:
		grace = min(grace, shortExitTime)
		select {
		case <-c.exited:
			return nil
		case <-time.After(grace):
		}
	case <-time.After(grace):
	}
	if err := c.killUnsafe(grace); err != nil {
		return err
	}
	return fmt.Errorf("the child did not exit within %v of the end of its input and was %w; whether it went safe is not known", grace, errKilled)
}

// killUnsafe kills the child's group while its input is still open, so that it is not asked to go
// safe. It returns when the child is reaped, or with an error when that does not happen.
func (c *child) killUnsafe(grace time.Duration) error {
	c.ignore()
	c.kill()
	select {
	case <-c.exited:
		return nil
	case <-time.After(grace + 2*drainTime):
		return fmt.Errorf("the child (process %d) was killed and does not end; it may hang in a device of the kernel", c.cmd.Process.Pid)
	}
}
