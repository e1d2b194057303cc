// Command faultfs is a file system for tests: it forgets what was not synced when
// it is told that the power is cut, fills up, fails and dawdles on command. README.md
// says how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faultfs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("faultfs", flag.ContinueOnError)
	socket := flags.String("control", "", "the Unix socket to take commands on")
	var places []string
	for len(args) > 0 { // flags may follow the places
		if err := flags.Parse(args); err != nil {
			return err
		}
		if args = flags.Args(); len(args) > 0 {
			places, args = append(places, args[0]), args[1:]
		}
	}
	if len(places) != 2 || *socket == "" {
		return errors.New("usage: faultfs MOUNTPOINT BACKING_DIR --control SOCKET")
	}
	backing, err := filepath.Abs(places[1])
	if err != nil {
		return err
	}
	return serve(places[0], backing, *socket)
}

// serve mounts, takes commands until a signal, and unmounts.
func serve(mountpoint, backing, socket string) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if _, err := os.Stat(mountpoint); errors.Is(err, syscall.ENOTCONN) { // left by one that was killed
		if err := syscall.Unmount(mountpoint, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("a dead mount on %s: %w", mountpoint, err)
		}
	}
	t, err := newTree(backing)
	if err != nil {
		return err
	}
	s := newServer(t)
	mounted, err := fuse.NewServer(s, mountpoint, &fuse.MountOptions{
		FsName: "faultfs", Name: "faultfs", DirectMount: true, AllowOther: true,
		Options: []string{"default_permissions"}, DisableXAttrs: true, DisableReadDirPlus: true,
		// The kernel's pages are never wrong, and a page of a mapped -shm is not to be thrown away.
		ExplicitDataCacheControl: true,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("mounting on %s: %w", mountpoint, err), t.closeStore())
	}
	go mounted.Serve()
	if err := mounted.WaitMount(); err != nil {
		return err
	}
	if info, err := os.Lstat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
		os.Remove(socket)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return errors.Join(err, mounted.Unmount(), t.closeStore())
	}
	go s.control(l)
	<-stop
	l.Close()
	return s.end(mounted, mountpoint)
}

// end unmounts and puts everything on the disk. With files still open the mount goes
// out of sight, and whoever has them open gets errors.
func (s *server) end(mounted *fuse.Server, mountpoint string) error {
	busy := mounted.Unmount()
	if busy != nil {
		busy = errors.Join(fmt.Errorf("still in use: %w", busy), syscall.Unmount(mountpoint, syscall.MNT_DETACH))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(busy, s.tree.syncAll(), s.tree.closeStore())
}
