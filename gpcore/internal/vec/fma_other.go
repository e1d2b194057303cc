//go:build !arm

package vec

import "math"

// fma is x*y + z, rounded once.
func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }
