package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsharedMemory lists statfs(2) types on which a mapped -shm file is not safe.
var unsharedMemory = map[uint32]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x01021997: "9p",
	0x5346414f: "afs",
	0x6b414653: "afs",
	0x00c36400: "ceph",
	0x0bd00bd0: "lustre",
	0x47504653: "gpfs",
	0x65735546: "fuse",
	0x2011bab0: "exfat",
}

// FreeSpace asks the kernel how many bytes an ordinary user can still write to the file
// system that path lies in.
func FreeSpace(path string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("free space beside %q: %w", path, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// LocateFileSystem asks the kernel about the file system that path lies in.
func Locate(path string) (FileSystem, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return FileSystem{}, err
	}
	if name, ok := unsharedMemory[uint32(st.Type)]; ok {
		return FileSystem{Name: name}, nil
	}
	return FileSystem{Name: "local", SharedMemory: true}, nil
}

// OwnAsFolder gives a file that root has made to the owner of its folder, for whom it is:
// what an administrator resets a service reads.
func OwnAsFolder(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var st syscall.Stat_t
	if err := syscall.Stat(filepath.Dir(f.Name()), &st); err != nil {
		return err
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}

// RenameNew renames a file to a name that nothing has yet.
func RenameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system does not know how
		return renameUnlessThere(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
