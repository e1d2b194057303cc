package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Dirs are the folders in which sockets may be.
type Dirs struct {
	// Runtime, XDG and Temp are what $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR and $TMPDIR say, ""
	// where they are not set.
	Runtime, XDG, Temp string
	// UID is the user's.
	UID int
	// Services holds a folder for each service, made by the service manager.
	Services string
}

// Services is where the unit tuner@NAME has its socket, in the folder NAME
// (RuntimeDirectory=tuner/%i).
const Services = "/run/tuner"

// Own is the folder for the sockets of this process's runs: $RUNTIME_DIRECTORY, which a
// service manager has made; else tuner in $XDG_RUNTIME_DIR, where that is the user's; else
// tuner-UID in the temporary folder. The last two are made where they are not there, with
// mode 0700, and refused where they belong to another user.
func (p Dirs) Own() (string, error) {
	if dir := p.service(); dir != "" {
		return dir, nil
	}
	dir := p.user()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := p.owned(dir); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o700)
}

// All lists the folders that there are: the services', then the user's own.
func (p Dirs) All() (out []string) {
	if dir := p.service(); dir != "" {
		out = append(out, dir)
	}
	list, err := os.ReadDir(p.Services)
	if err == nil { // without one there is no service
		for _, entry := range list {
			out = append(out, filepath.Join(p.Services, entry.Name()))
		}
	}
	// A run may have been started from a desktop, and be asked for from where there is none.
	for _, dir := range []string{p.user(), fmt.Sprintf("/run/user/%d/tuner", p.UID), p.temporary()} {
		if p.owned(dir) == nil {
			out = append(out, dir)
		}
	}
	return out
}

// service is the first of the folders that the service manager has made.
func (p Dirs) service() string {
	first, _, _ := strings.Cut(p.Runtime, ":")
	return first
}

// user is the folder of the user's runs.
func (p Dirs) user() string {
	// Under sudo the variable may name another user's folder.
	if filepath.IsAbs(p.XDG) && p.owned(p.XDG) == nil {
		return filepath.Join(p.XDG, "tuner")
	}
	return p.temporary()
}

func (p Dirs) temporary() string {
	dir := p.Temp
	if !filepath.IsAbs(dir) {
		dir = "/tmp"
	}
	return filepath.Join(dir, "tuner-"+strconv.Itoa(p.UID))
}

// owned refuses what is no folder of the user's: in a temporary folder everybody may make one
// under any name.
func (p Dirs) owned(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	case !ok || int(stat.Uid) != p.UID:
		return fmt.Errorf("%s belongs to another user", dir)
	}
	return nil
}
