// Package sobol has Sobol's low-discrepancy sequence, plain and with the two usual
// scramblings. Points are numbered from 0 in Gray-code order, so any 2^k consecutive
// points that start at a multiple of 2^k are a digital net. Coordinates are the middles
// of cells of width 2^-32: they lie in (0, 1), so that quantiles at them are finite, and
// there are 2^32 points.
package sobol

import (
	"math/bits"
	"math/rand/v2"
)

// Dims is the number of dimensions that there are direction numbers for.
const Dims = 257

// resolution is the number of bits of a coordinate.
const resolution = 32

// Sequence is the sequence in up to Dims dimensions, plain or with a linear scrambling.
type Sequence struct {
	columns [][resolution]uint32 // direction numbers, most significant bit first
	shift   []uint32
}

// New makes the plain sequence in dim dimensions, 1 <= dim <= Dims.
func New(dim int) *Sequence {
	s := &Sequence{columns: make([][resolution]uint32, dim), shift: make([]uint32, dim)}
	for j := range s.columns {
		s.columns[j] = table[j].directions()
	}
	return s
}

// NewScrambled makes the sequence, 1 <= dim <= Dims, with a random lower triangular
// matrix over GF(2) for each dimension, then a random digital shift
// (J. Matousek, On the L2-discrepancy for anchored boxes, J. Complexity 14 (1998)
// 527-556): each point is uniform, and the net's structure stays.
func NewScrambled(dim int, rng *rand.Rand) *Sequence {
	s := New(dim)
	for j := range s.columns {
		var rows [resolution]uint32
		for b := range rows {
			above := ^uint32(0) << (resolution - b) // bits more significant than b; none for b = 0
			rows[b] = rng.Uint32()&above | 1<<(resolution-1-b)
		}
		for k, v := range s.columns[j] {
			var w uint32
			for b, row := range rows {
				parity := uint32(bits.OnesCount32(v&row)) & 1
				w |= parity << (resolution - 1 - b)
			}
			s.columns[j][k] = w
		}
		s.shift[j] = rng.Uint32()
	}
	return s
}

// Point sets dst, as long as the sequence has dimensions, to point i, in (0, 1).
func (s *Sequence) Point(dst []float64, i int) {
	for j := range dst {
		dst[j] = middle(digits(&s.columns[j], i) ^ s.shift[j])
	}
}

// digits are the binary digits of a coordinate of point i, highest first.
func digits(columns *[resolution]uint32, i int) (x uint32) {
	for g := uint32(i) ^ uint32(i)>>1; g != 0; g &= g - 1 {
		x ^= columns[bits.TrailingZeros32(g)]
	}
	return x
}

// middle is the middle of a cell.
func middle(x uint32) float64 { return (float64(x) + 0.5) / (1 << resolution) }
