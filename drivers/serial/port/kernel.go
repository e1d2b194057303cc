package port

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	bugst "go.bug.st/serial"
	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
)

// kernelPort is a port of the operating system: the library's port for speed,
// framing, reading and writing, and a descriptor of our own on the same device for
// what the library cannot do.
type kernelPort struct {
	port bugst.Port

	// mu guards what may be called while a Write is stuck. After Close no call
	// reaches a descriptor: by then it may be another file's.
	mu     sync.Mutex
	own    int
	closed bool
}

// Open opens a serial port of the operating system, or one on the network ([Address]). An
// error wraps drivers.ErrUnavailable.
func Open(ctx context.Context, s Spec) (Raw, error) {
	a, is, err := Network(s.Path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	case is:
		return dial(ctx, a, s)
	}
	return openKernel(s)
}

// openKernel opens a serial port of the operating system. It holds the port by
// flock, which other instances of tuner and other well-behaved programs see, and by
// TIOCEXCL, which the kernel enforces for all but root.
//
// On Linux opening a port raises DTR and RTS for a moment, whatever s asks for;
// an Arduino takes the rise as a reset. It therefore tells the kernel not to
// drop the lines at the end, so that the next opening is no rise any more.
func openKernel(s Spec) (Raw, error) {
	own, err := openOwn(s.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	port, err := openLibrary(s)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: port %q: %w", drivers.ErrUnavailable, s.Path, err), unix.Close(own))
	}
	k := &kernelPort{port: port, own: own}
	if err := k.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: port %q: %w", drivers.ErrUnavailable, s.Path, err), k.Close())
	}
	return k, nil
}

// openOwn opens our own descriptor, without waiting for a carrier, and locks the
// device.
func openOwn(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.EBUSY):
		return 0, fmt.Errorf("port %q is held by another program (TIOCEXCL); end that program, or look for it with fuser", path)
	case errors.Is(err, fs.ErrPermission):
		return 0, fmt.Errorf("port %q may not be opened by this user; add the user to the device's group, often dialout: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("port %q does not exist; is the instrument plugged in and on? tuner doctor lists the ports: %w", path, err)
	case err != nil:
		return 0, fmt.Errorf("port %q: %w", path, err)
	}
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
		return 0, errors.Join(fmt.Errorf("%q is no serial port: %w", path, err), unix.Close(fd))
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return 0, errors.Join(fmt.Errorf("port %q is locked by another program, perhaps another tuner: %w", path, err), unix.Close(fd))
	}
	return fd, nil
}

// openLibrary opens the library's port. It opens its descriptors without
// close-on-exec, so that a child process would inherit them and keep the device
// open after an unplug, under its old name. The fork lock keeps children from
// starting before they are marked.
func openLibrary(s Spec) (bugst.Port, error) {
	mode := &bugst.Mode{BaudRate: s.Baud, DataBits: s.DataBits, StopBits: bugst.OneStopBit}
	if s.StopBits == 2 {
		mode.StopBits = bugst.TwoStopBits
	}
	switch s.Parity {
	case "even":
		mode.Parity = bugst.EvenParity
	case "odd":
		mode.Parity = bugst.OddParity
	}
	// Raised is what the kernel does by itself; a pseudo-terminal has no such lines.
	if !s.DTR || !s.RTS {
		mode.InitialStatusBits = &bugst.ModemOutputBits{DTR: s.DTR, RTS: s.RTS}
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	port, err := bugst.Open(s.Path, mode)
	if err != nil {
		return nil, err
	}
	highest, err := closeOnExec()
	if err == nil && highest >= fdSetSize {
		err = fmt.Errorf("the process has %d files open, and a serial port can only be awaited below %d; close some or raise fewer devices", highest, fdSetSize)
	}
	if err == nil {
		// Once and before any Read: the library does not guard it.
		err = port.SetReadTimeout(s.Slice)
	}
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	return port, nil
}

// fdSetSize is how many descriptors select, which the library waits with, can
// name; a higher one would make the library panic.
const fdSetSize = 1024

// closeOnExec marks every descriptor of the process that is not marked, but for
// the three standard ones. It returns the highest that it marked.
func closeOnExec() (highest int, err error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, fmt.Errorf("cannot keep children from inheriting the port: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // the directory's own descriptor is gone by now
		}
		unix.CloseOnExec(fd)
		highest = max(highest, fd)
	}
	return highest, nil
}

// prepare sets what the library leaves as it was, or sets without looking.
func (k *kernelPort) prepare() error {
	if err := unix.IoctlSetInt(k.own, unix.TIOCEXCL, 0); err != nil {
		return fmt.Errorf("cannot be held exclusively: %w", err)
	}
	settings, err := unix.IoctlGetTermios(k.own, unix.TCGETS)
	if err != nil {
		return err
	}
	settings.Cflag &^= unix.HUPCL
	return unix.IoctlSetTermios(k.own, unix.TCSETS, settings)
}

// Read implements Raw.
func (k *kernelPort) Read(p []byte) (int, error) { return k.port.Read(p) }

// Write implements Raw.
func (k *kernelPort) Write(p []byte) (int, error) { return k.port.Write(p) }

// Waiting implements Raw.
func (k *kernelPort) Waiting() (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return 0, ErrClosed
	}
	return unix.IoctlGetInt(k.own, unix.TIOCINQ)
}

// ResetOutputBuffer implements Raw. It goes by our own descriptor, since the
// library's may be closed at any time. A pseudo-terminal does not wake a stuck
// Write when its buffer is emptied; stopping and starting the output does.
func (k *kernelPort) ResetOutputBuffer() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return ErrClosed
	}
	return errors.Join(
		unix.IoctlSetInt(k.own, unix.TCFLSH, unix.TCOFLUSH),
		unix.IoctlSetInt(k.own, unix.TCXONC, unix.TCOOFF),
		unix.IoctlSetInt(k.own, unix.TCXONC, unix.TCOON))
}

// Close implements Raw.
func (k *kernelPort) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	k.closed = true
	return errors.Join(k.port.Close(), unix.Close(k.own))
}

// Pause waits, but not longer than the context lives.
func Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
