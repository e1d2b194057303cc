package vec

import (
	"math"

	"golang.org/x/sys/cpu"
)

// fma is x*y + z, rounded once. Where the processor has no instruction for it, the library's takes 64-bit
// integers, four times as long as [unfused] on a processor that has no such registers.
func fma(x, y, z float64) float64 {
	if cpu.ARM.HasVFPv4 {
		return math.FMA(x, y, z)
	}
	return unfused(x, y, z)
}
