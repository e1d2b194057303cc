package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	suffix = ".sock"
	// nameMax bounds the part of a socket's name that is the run's, in bytes.
	nameMax = 32
	// addressMax is the longest path of a socket that the kernel takes: sun_path has 108
	// bytes, with the one that ends it.
	addressMax = 107
	// lockWait bounds the wait for the folder: whoever has it is done in milliseconds.
	lockWait = 5 * time.Second
)

// ID names the run that keeps a journal, by an absolute path.
func ID(run, journal string) string {
	sum := sha256.Sum256([]byte(journal))
	return prefix(run) + hex.EncodeToString(sum[:4])
}

// prefix is how the sockets of all runs of a name begin.
func prefix(run string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, run)
	return name[:min(len(name), nameMax)] + "-"
}

// Access says who besides the run's own user may command it: -1 is no one.
type Access struct{ UID, GID int }

// OwnerOnly lets the run's user in, and root.
func OwnerOnly() Access { return Access{-1, -1} }

// Listener is a socket that is listened to.
type Listener struct {
	*net.UnixListener
	path string
}

// Listen makes the socket of a run in a folder. Sockets of this user there without a
// listener are removed.
//
// Errors: where another process listens under this name, and what the kernel says.
func Listen(folder, id string, share Access) (d *Listener, err error) {
	unlock, err := lock(folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path := filepath.Join(folder, id+suffix)
	if err := removeStale(folder); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s is another process's", path)
	}
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return nil, err
	}
	l, err := bind(draft)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(open(draft, share), os.Rename(draft, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(draft))
	}
	return &Listener{l, path}, nil
}

// Path is the socket's.
func (d *Listener) Path() string { return d.path }

// Close ends listening and removes the socket.
func (d *Listener) Close() error { return errors.Join(os.Remove(d.path), d.UnixListener.Close()) }

// bind listens on a new socket that its user alone may connect to, from its first moment on:
// it is made with the mode that its descriptor has.
func bind(path string) (l *net.UnixListener, err error) {
	private := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		return errors.Join(c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) }), failed)
	}}
	err = withShortPath(path, func(address string) error {
		any, err := private.Listen(context.Background(), "unix", address)
		if err != nil {
			return err
		}
		l = any.(*net.UnixListener)
		l.SetUnlinkOnClose(false) // it goes by another name
		return nil
	})
	return l, err
}

// open lets others in.
func open(path string, share Access) error {
	if share == OwnerOnly() {
		return nil
	}
	var now unix.Stat_t
	if err := unix.Lstat(path, &now); err != nil {
		return err
	}
	if share.UID == int(now.Uid) {
		share.UID = -1
	}
	if share.GID == int(now.Gid) {
		share.GID = -1
	}
	if share != OwnerOnly() { // a confined service may not even ask for what is so already
		if err := os.Lchown(path, share.UID, share.GID); err != nil {
			return err
		}
	}
	return os.Chmod(path, 0o660)
}

// removeStale removes this user's sockets without a listener; the folder is locked.
func removeStale(folder string) error {
	list, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range list {
		path := filepath.Join(folder, entry.Name())
		var stat unix.Stat_t
		if !strings.HasSuffix(path, suffix) || unix.Lstat(path, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFSOCK || int(stat.Uid) != os.Geteuid() {
			continue
		}
		conn, err := dial(context.Background(), path)
		if err == nil {
			conn.Close() // it only checked that someone listens
		} else if errors.Is(err, unix.ECONNREFUSED) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// lock has the folder for one process of this user at a time.
func lock(folder string) (unlock func() error, err error) {
	name := filepath.Join(folder, fmt.Sprintf(".lock-%d", os.Geteuid()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for limit := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f.Close, nil // lets go of it
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(limit) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
		}
	}
}

// dial connects to a socket.
func dial(ctx context.Context, path string) (conn net.Conn, err error) {
	err = withShortPath(path, func(address string) error {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", address)
		return err
	})
	return conn, err
}

// withShortPath calls f with an address of the socket that the kernel takes, however long its path is.
func withShortPath(path string, f func(address string) error) error {
	if len(path) <= addressMax {
		return f(path)
	}
	folder, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	return errors.Join(f(fmt.Sprintf("/proc/self/fd/%d/%s", folder, filepath.Base(path))), unix.Close(folder))
}

// Peer says who is at the other end of a connection: the user's name, where this computer
// knows one, the user's number and the process, as the kernel had them at the connection.
// That a service confined by PrivateUsers= sees as "nobody" is whoever it does not know.
func Peer(c net.Conn) string {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return unknownPeer
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return unknownPeer
	}
	var peer *unix.Ucred
	if e := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil || err != nil {
		return unknownPeer
	}
	return Person(int(peer.Uid), int(peer.Pid))
}

// Person says who a process belongs to: the user's name, where this computer knows one, the
// user's number and the process.
func Person(uid, pid int) string {
	text := fmt.Sprintf("uid %d, pid %d", uid, pid)
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("%s (%s)", u.Username, text)
	}
	return text
}

// unknownPeer is a peer that the kernel does not describe.
const unknownPeer = "unknown"
