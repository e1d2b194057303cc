package port

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	bugst "go.bug.st/serial"
	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
)

// The traps of the serial library and of the kernel, each with its cure: every
// test here fails where the cure is taken out.

// realPort opens a port on a pseudo-terminal.
func realPort(t *testing.T) (*PTY, *Port) {
	t.Helper()
	p, err := OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	raw, err := Open(t.Context(), testSpec(p.Path))
	if err != nil {
		t.Fatal(err)
	}
	opened := New(raw)
	t.Cleanup(func() { opened.Close(10 * time.Millisecond) })
	return p, opened
}

func testSpec(path string) Spec {
	o := Settings{Baud: 9600, DataBits: 8, Parity: "none", StopBits: 1}
	return o.Spec(path, time.Second, 100*time.Millisecond)
}

// The library's Read returns 0 bytes and no error at its timeout, which bufio and
// io.ReadFull take for a stream that gives nothing for ever.
func TestTrapReadTimeoutIsNoError(t *testing.T) {
	_, p := realPort(t)
	if n, err := p.raw.Read(make([]byte, 8)); n != 0 || err != nil {
		t.Errorf("the trap is gone: the raw port gives %d, %v", n, err)
	}
	if n, err := p.Read(t.Context(), make([]byte, 8), time.Now().Add(30*time.Millisecond)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read gives %d, %v; want a deadline that has passed", n, err)
	}
}

// After a hang-up the library's Read says "port closed" and Write EIO, or a part of
// the bytes without error; the port is dead for good.
func TestTrapUnplug(t *testing.T) {
	for name, call := range map[string]func(*Port) error{
		"read": func(p *Port) error {
			_, err := p.Read(t.Context(), make([]byte, 8), time.Now().Add(time.Second))
			return err
		},
		"write":   func(p *Port) error { return p.Write([]byte("ID?\n"), time.Second) },
		"waiting": func(p *Port) error { _, err := p.Waiting(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			master, p := realPort(t)
			if err := master.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := call(p); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("after the plug was pulled: %v", err)
				}
			}
		})
	}
}

// A Write to a port that takes nothing never returns, and the library's Close does
// not free it: a goroutine and a descriptor would be lost with each.
func TestTrapWriteBlocks(t *testing.T) {
	goroutines, files := runtime.NumGoroutine(), porttest.OpenFiles(t)
	master, err := OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Open(t.Context(), testSpec(master.Path))
	if err != nil {
		t.Fatal(err)
	}
	p := New(raw)
	frame := make([]byte, 4096) // max_line's bound
	sent := 0
	for err == nil && sent < 1<<20 { // nobody reads the other side
		err = p.Write(frame, 100*time.Millisecond)
		sent += len(frame)
	}
	if !errors.Is(err, errStuck) && !errors.Is(err, errShort) {
		t.Fatalf("after %d bytes: %v", sent, err)
	}
	if again := p.Write([]byte("x"), time.Second); again == nil {
		t.Error("a dead port was written to")
	}
	if err := p.Close(10 * time.Millisecond); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := master.Close(); err != nil {
		t.Error(err)
	}
	porttest.NoLeaks(t, goroutines, files)
}

// The library writes to the descriptor's number even after Close, when it may be
// another file's.
func TestTrapWriteAfterClose(t *testing.T) {
	_, p := realPort(t)
	if err := p.Close(time.Second); err != nil {
		t.Fatal(err)
	}
	dir, victims := t.TempDir(), []string{}
	for i := range 8 { // they take the lowest numbers that are free
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		victims = append(victims, f.Name())
	}
	if err := p.Write([]byte("M 1 2.000\n"), time.Second); !errors.Is(err, ErrClosed) {
		t.Errorf("a write after close: %v", err)
	}
	if err := p.raw.ResetOutputBuffer(); !errors.Is(err, ErrClosed) {
		t.Errorf("a flush after close: %v", err)
	}
	if _, err := p.raw.Waiting(); !errors.Is(err, ErrClosed) {
		t.Errorf("Waiting after close: %v", err)
	}
	for _, name := range victims {
		if text, err := os.ReadFile(name); err != nil || len(text) > 0 {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}

// The library's Close frees the descriptor under a Read that waits on it. Only the
// owner closes, between two calls; the fake port notices any overlap.
func TestTrapCloseUnderRead(t *testing.T) {
	for i := range 50 {
		synctest.Test(t, func(t *testing.T) {
			p := New(porttest.NewFake(t, func([]byte) []byte { return nil }))
			go func() {
				for {
					if _, err := p.Read(context.Background(), make([]byte, 8), time.Now().Add(time.Second)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
						return
					}
				}
			}()
			time.Sleep(time.Duration(i) * 700 * time.Microsecond)
			if err := p.Close(time.Second); err != nil {
				t.Error(err)
			}
		})
	}
}

// The library does not guard its read timeout: it is set before the first Read,
// and a long wait is many short Reads.
func TestTrapReadTimeoutSetOnce(t *testing.T) {
	_, p := realPort(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := p.Read(ctx, make([]byte, 8), time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("a read that is called off: %v", err)
	}
	var _ interface{ SetReadTimeout(time.Duration) error } = bugst.Port(nil)
	if _, can := p.raw.(interface{ SetReadTimeout(time.Duration) error }); can {
		t.Error("whoever has the raw port can change its timeout")
	}
}

// TIOCEXCL is set by the library without looking, and root passes by it; flock does
// not.
func TestTrapExclusive(t *testing.T) {
	master, p := realPort(t)
	if raw, err := Open(t.Context(), testSpec(master.Path)); err == nil {
		t.Error("the port was opened a second time", raw.Close())
	} else if !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "another") {
		t.Errorf("the second opening: %v", err)
	}
	// Anybody but root is kept out by the kernel, whatever program it is.
	if err := os.Chmod(master.Path, 0o666); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("/bin/sh", "-c", "exec 3<>"+master.Path)
	if os.Getuid() == 0 {
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if text, err := other.CombinedOutput(); err == nil || !strings.Contains(string(text), "busy") {
		t.Errorf("another user's program: %v, %q; want busy", err, text)
	}
	// With the end of the port both locks are gone.
	if err := p.Close(time.Second); err != nil {
		t.Fatal(err)
	}
	raw, err := Open(t.Context(), testSpec(master.Path))
	if err != nil {
		t.Fatalf("after close: %v", err)
	}
	if err := raw.Close(); err != nil {
		t.Error(err)
	}
}

// Opening raises DTR, which restarts many Arduinos, where it was dropped at the
// last closing: it is not dropped.
func TestTrapHangUpOnClose(t *testing.T) {
	master, err := OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	fd, err := unix.Open(master.Path, unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	settings, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	settings.Cflag |= unix.HUPCL
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, settings); err != nil {
		t.Fatal(err)
	}
	raw, err := Open(t.Context(), testSpec(master.Path))
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	if settings, err = unix.IoctlGetTermios(fd, unix.TCGETS); err != nil || settings.Cflag&unix.HUPCL != 0 {
		t.Errorf("the lines would drop at the end: flags %#o, %v", settings.Cflag, err)
	}
}

// The library's descriptors pass on to child processes, which then hold the device
// open after an unplug: it would come back under another name.
func TestTrapChildrenInherit(t *testing.T) {
	realPort(t)
	text, err := exec.Command("/bin/sh", "-c", "ls -l /proc/self/fd").Output()
	if err != nil {
		t.Fatal(err)
	}
	// 0, 1, 2 and the folder that ls reads.
	if strings.Contains(string(text), "/dev/pts") || strings.Count(string(text), " -> ") > 4 {
		t.Errorf("a child has\n%s", text)
	}
}

// The library waits with select, which panics beyond descriptor 1023.
func TestTrapSelectBeyond1024(t *testing.T) {
	master, err := OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	for range fdSetSize {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	raw, err := Open(t.Context(), testSpec(master.Path))
	if err == nil {
		t.Error("a port beyond select's reach was opened", raw.Close())
	} else if !strings.Contains(err.Error(), "files open") {
		t.Errorf("the error: %v", err)
	}
}

// A port that has failed once is not called again, even if it would work: what was
// on its way is lost, and only a new greeting tells where both sides are.
func TestDeadPortStaysDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := porttest.NewFake(t, func(data []byte) []byte { t.Errorf("%q was written", data); return nil })
		p := New(f)
		defer p.Close(time.Second)
		f.Unplug()
		if _, err := p.Read(t.Context(), make([]byte, 8), time.Now().Add(time.Second)); err == nil {
			t.Error("a read of what is gone")
		}
		f.Gone = nil
		if err := p.Write([]byte("M 1 2.000\n"), time.Second); err == nil {
			t.Error("the dead port was used again")
		}
	})
}

// A Write may take a part of the bytes and say nothing.
func TestTrapShortWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []byte
		f := porttest.NewFake(t, func(data []byte) []byte { heard = append(heard, data...); return nil })
		f.AtMost = 3
		p := New(f)
		defer p.Close(time.Second)
		if err := p.Write([]byte("M 1 2.000\n"), time.Second); err != nil || string(heard) != "M 1 2.000\n" {
			t.Errorf("heard %q, %v", heard, err)
		}
	})
}

// A Write that is stuck in a port that nothing frees at first is freed by throwing
// its output away, as often as it takes.
func TestTrapStuckWriteIsFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := porttest.NewFake(t, nil)
		f.Stuck = make(chan struct{})
		p := New(f)
		if err := p.Write([]byte("x"), 100*time.Millisecond); !errors.Is(err, errStuck) {
			t.Errorf("write: %v", err)
		}
		if err := p.Close(100 * time.Millisecond); err != nil || f.Resets < 3 || !f.Closed {
			t.Errorf("close: %v, %d resets, closed %v", err, f.Resets, f.Closed)
		}
	})
}

// What is wrong with a path is said.
func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{
		"/dev/serial/by-id/none": "does not exist",
		file:                     "is no serial port",
		"/dev/null":              "is no serial port",
	} {
		_, err := Open(t.Context(), testSpec(path))
		if !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(t.Context(), testSpec("/dev/none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that there is not: %v", err)
	}
}
