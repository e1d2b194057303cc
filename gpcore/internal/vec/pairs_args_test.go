//go:build !purego && (amd64 || arm64)

package vec

import (
	"testing"
	"unsafe"
)

// The kernels count the fields in words.
func TestFieldsStandWhereTheKernelsLook(t *testing.T) {
	var a pairArgsAVX2
	for i, offset := range []uintptr{
		unsafe.Offsetof(a.n), unsafe.Offsetof(a.d), unsafe.Offsetof(a.rows), unsafe.Offsetof(a.lanes),
		unsafe.Offsetof(a.out), unsafe.Offsetof(a.variance), unsafe.Offsetof(a.weights), unsafe.Offsetof(a.step),
		unsafe.Offsetof(a.sum), unsafe.Offsetof(a.waiting),
	} {
		if offset != uintptr(8*i) {
			t.Errorf("field %d stands at byte %d, want %d", i, offset, 8*i)
		}
	}
}
