package factor

import (
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Eight rows side by side must not fall on the same sets of a cache, nor a panel's last
// tile out of the row.
func TestStrideIsNeverWholePages(t *testing.T) {
	for capacity := 1; capacity <= 5000; capacity++ {
		if ld := Stride(capacity); ld%512 == 0 || ld%8 != 0 || ld < vec.Up8(capacity)+8 {
			t.Fatalf("capacity %d: stride %d", capacity, ld)
		}
	}
}
