// Package vec holds the small inner loops of Gaussian-process algebra: tile
// products, row dots and updates, plane rotations, rank-one updates, and
// covariance panels with their exponential.
//
// # Words
//
// A panel is a matrix with [Lanes] = 24 columns, row-major and dense: element
// (p, j) stands at index p*24+j. Its columns are called lanes; one lane is one
// candidate point. A tile is [Rows] = 8 rows of a row-major matrix w with stride
// ldw, times a panel. Slices start at the first element that is used; strides
// and counts are in float64 elements.
//
// # Tiers
//
// Every function exists as plain Go, the reference, and as assembly for the vector
// units of amd64 (AVX2 with fused multiply-add, AVX-512) and arm64 (NEON), which
// package gen writes; the processor decides at start. For 32-bit ARM with VFPv4 it writes
// those that decisions spend most on. The build tag purego leaves
// the reference alone, and other architectures have nothing else. [Use] selects a
// tier for tests and measurements.
//
// # The definition
//
// The Go code in the files named ..._ref.go is the definition of every function,
// to the last bit: all tiers return the same bits for the same input. For that the
// order of all roundings is fixed:
//
//   - an element of a tile product is one chain of fused multiply-adds over
//     ascending p that starts at +0;
//   - a dot product has eight partial sums; element j goes to partial sum j mod
//     8 by a fused multiply-add, and the eight are added as
//     ((p0+p1)+(p2+p3)) + ((p4+p5)+(p6+p7));
//   - the exponential is this package's own polynomial (see [Exp2]);
//   - a product that is rounded before it is added is written float64(a*b), so
//     that no compiler may fuse it.
//
// That holds for infinities and NaN too, in the input or on the way; only which
// NaN it is depends on the processor. No bound hides a NaN.
// Signed zeros follow from the rules above.
//
// Every count may be zero; then outputs that are sums are zero, outputs that are
// accumulated stay as they are, and nothing else is touched. Lengths need not be
// multiples of 8, slices need no alignment and no padding. Slices must be long
// enough for the elements named: one that is too short panics with a constant
// string that starts with "vec: ", before anything is written. Distinct arguments
// must not overlap, except where a function allows it.
package vec

const (
	// Lanes is the number of columns of a panel.
	Lanes = 24
	// Rows is the number of rows of a tile.
	Rows = 8
)

// The generator is a separate module: the product does not depend on avo.
//
//go:generate go -C ../gen run . ../vec
