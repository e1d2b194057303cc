//go:build unix

package vec

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns n float64 that end at a page no one may touch, so that a read or
// a write past the end stops the test, and frees them when the test ends.
func fenced(t testing.TB, n int) []float64 {
	page := os.Getpagesize()
	size := (8*n+page-1)/page*page + page
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("map %d bytes: %v", size, err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Errorf("unmap: %v", err)
		}
	})
	if err := syscall.Mprotect(m[size-page:], syscall.PROT_NONE); err != nil {
		t.Fatalf("protect a page: %v", err)
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&m[size-page-8*n])), n)
}
