package port

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// PTY is a pseudo-terminal: what is written to the master comes out of a device
// file that looks like a serial port, and the other way round.
type PTY struct {
	Master *os.File
	// Path of the port's device file.
	Path string
}

// OpenPTY makes a pseudo-terminal whose port passes every byte as it is.
func OpenPTY() (*PTY, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a pseudo-terminal: /dev/ptmx: %w", err)
	}
	// Not blocking, so that Close ends a Read.
	p := &PTY{Master: os.NewFile(uintptr(fd), "/dev/ptmx")}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		p.Path = fmt.Sprintf("/dev/pts/%d", number)
		err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), makeRaw(p.Path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make a pseudo-terminal: %w", err), p.Master.Close())
	}
	return p, nil
}

// makeRaw switches off what a new terminal does to lines and characters. The
// settings stay when the descriptor is closed.
func makeRaw(path string) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	settings, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err == nil {
		settings.Iflag, settings.Oflag, settings.Lflag = 0, 0, 0
		settings.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B9600
		settings.Cc[unix.VMIN], settings.Cc[unix.VTIME] = 1, 0
		err = unix.IoctlSetTermios(fd, unix.TCSETS, settings)
	}
	return errors.Join(err, unix.Close(fd))
}

// Close ends the pseudo-terminal: the port hangs up, as when a plug is pulled.
func (p *PTY) Close() error { return p.Master.Close() }

// nobodyThere is how long a master waits before it looks again for a process that
// opens the port.
const nobodyThere = 10 * time.Millisecond

// Read waits for bytes. gone says that whoever had the port has closed it.
func (p *PTY) Read(ctx context.Context, buf []byte) (n int, gone bool, err error) {
	n, err = p.Master.Read(buf)
	switch {
	case ctx.Err() != nil:
		return 0, false, ctx.Err()
	case errors.Is(err, unix.EIO): // nobody has the port open
		return 0, true, Pause(ctx, nobodyThere)
	}
	return n, false, err
}

// Link makes path a symbolic link to the port. A link that an earlier plant left
// is replaced, any other file is not.
func (p *PTY) Link(path string) error {
	target, err := os.Readlink(path)
	switch {
	case err == nil && strings.HasPrefix(target, "/dev/pts/"):
		if err := os.Remove(path); err != nil {
			return err
		}
	case err == nil:
		return fmt.Errorf("port %q is a link to %q, which is no plant's; give the plant a port of its own", path, target)
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("port %q is there and is no link; a plant's port is a new link, such as /tmp/tuner-meter", path)
	}
	if err := os.Symlink(p.Path, path); err != nil {
		return fmt.Errorf("cannot make the port a link to the plant: %w; give the plant's configuration a port in a folder that you can write, such as %q",
			err, filepath.Join(os.TempDir(), "tuner-"+filepath.Base(path)))
	}
	return nil
}

// unlink removes the link, if it is still to this port.
func (p *PTY) unlink(path string) error {
	if target, err := os.Readlink(path); err != nil || target != p.Path {
		return nil
	}
	return os.Remove(path)
}

// sayLimit bounds how long an answer waits for a process that does not read.
const sayLimit = 2 * time.Second

// Say writes an answer; one that nobody takes is lost, as on a real line.
func (p *PTY) Say(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := p.Master.SetWriteDeadline(time.Now().Add(sayLimit)); err != nil {
		return err
	}
	_, err := p.Master.Write(text)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, unix.EIO) {
		return nil
	}
	return err
}
