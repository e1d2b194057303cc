//go:build !linux

package disk

import (
	"math"
	"os"
)

// FreeSpace takes every disk for empty: only Linux is asked.
func FreeSpace(string) (uint64, error) { return math.MaxUint64, nil }

// LocateFileSystem takes every file system for a local one: only Linux is asked.
func LocateFileSystem(string) (FileSystem, error) {
	return FileSystem{Name: "unknown", SharedMemory: true}, nil
}

// ownAsFolder leaves a file to who has made it: tuner is a service on Linux only.
func ownAsFolder(*os.File) error { return nil }

// renameNew renames a file to a name that nothing has yet.
func renameNew(from, to string) error { return renameUnlessThere(from, to) }
