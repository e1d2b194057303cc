// Package testsize tells tests how much of themselves to run. What takes long (whole
// experiments, every combination of parts, browsers at every size, runs of many minutes) is
// left to one command:
//
//	TUNER_TESTS=whole go test -timeout 60m ./...
//
// Everything else is what go test runs by default. Both check the same: a default size is a
// part of the whole one, never another test.
package testsize

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// Variable is the environment variable that asks for all of them.
const Variable = "TUNER_TESTS"

// Whole reports whether everything is to run.
func Whole() bool { return os.Getenv(Variable) == "whole" }

// Of is a number of repetitions: the default one, or that of the whole.
func Of(usual, whole int) int {
	if Whole() {
		return whole
	}
	return usual
}

// Only skips a test that is part of the whole alone.
func Only(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skipf("takes long: %s=whole runs it", Variable)
	}
}

// OneGoroutine skips a test in which one goroutine does everything, under the race detector: it
// has nothing to find there, and takes ten times as long.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if raceDetector {
		t.Skip("one goroutine: nothing for the race detector")
	}
}

// InMemory has this process, and those that it starts, make their temporary folders in memory,
// where there is room for them and nobody has chosen a place: on a disk, tests of journals wait
// most of the time for what they sync. In the whole they are on the disk.
func InMemory() {
	const memory, room, noExec = "/dev/shm", 1 << 30, 8
	var s syscall.Statfs_t
	if Whole() || os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &s) != nil {
		return
	}
	if uint64(s.Bsize)*s.Bavail < room || s.Flags&noExec != 0 || syscall.Access(memory, 2) != nil {
		return
	}
	if err := os.Setenv("TMPDIR", memory); err != nil {
		panic(err)
	}
}

// Waiting lets eight parallel tests of this process run at once, however few processors there
// are: for a package whose tests wait, for other programs or for time to pass, more than they
// compute. The flag -test.parallel has the last word.
func Waiting() {
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
}
