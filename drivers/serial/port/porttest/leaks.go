package porttest

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// OpenFiles counts the process's descriptors. The runtime's own, which it makes when it first
// waits for a file, are among them from the first count on.
func OpenFiles(t testing.TB) int {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// fileNames are what the process has open.
func fileNames() (names []string) {
	entries, _ := os.ReadDir("/proc/self/fd") // for a message only
	for _, e := range entries {
		name, _ := os.Readlink("/proc/self/fd/" + e.Name())
		names = append(names, e.Name()+" "+name)
	}
	return names
}

// NoLeaks waits until as many goroutines and descriptors are there as before.
func NoLeaks(t testing.TB, goroutines, files int) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		g, f := runtime.NumGoroutine(), OpenFiles(t)
		if g <= goroutines && f <= files {
			return
		}
		if time.Now().After(limit) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines where there were %d, %d open files where there were %d: %q\n%s",
				g, goroutines, f, files, fileNames(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}
