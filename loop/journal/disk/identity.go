package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// FileID tells a file from every other on this computer, as long as it is open. A file that
// is not open may have left its number to another: its time of change is then a part of it.
type FileID struct {
	Device, Inode uint64
	Changed       int64
}

// Identify looks at what stands at a name; a symbolic link is a file of its own.
func Identify(name string) (id FileID, err error) {
	var st syscall.Stat_t // as os.Lstat, without all that that keeps
	if syscall.Lstat(name, &st) == nil {
		return numbersOf(&st), nil
	}
	info, err := os.Lstat(name) // which says what is wrong, and tries again where it was interrupted
	if err != nil {
		return id, err
	}
	return identityOf(info), nil
}

// IdentifyClosed tells one content of a name from the next where the file is not open.
func IdentifyClosed(name string) (id FileID, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return id, err
	}
	id = identityOf(info)
	id.Changed = info.ModTime().UnixNano()
	return id, nil
}

// identityOf is the identity of a file that was looked at.
func identityOf(info fs.FileInfo) FileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return numbersOf(st)
}

func numbersOf(st *syscall.Stat_t) FileID {
	return FileID{Device: uint64(st.Dev), Inode: uint64(st.Ino)}
}

// NameOf finds the present name of a file that this process has open, "" where it has none
// or the system does not say.
func NameOf(id FileID) string {
	const open = "/proc/self/fd"
	entries, err := os.ReadDir(open)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		link := filepath.Join(open, e.Name())
		info, err := os.Stat(link) // of the open file itself, without opening it again
		if err != nil || identityOf(info) != id {
			continue
		}
		if name, err := os.Readlink(link); err == nil && !strings.HasSuffix(name, " (deleted)") {
			return name
		}
	}
	return ""
}
