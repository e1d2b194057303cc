package sobol

import (
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/splitmix"
)

// Owen is the sequence with each coordinate scrambled by Owen's nested uniform
// scrambling: a bit is flipped or not by a hash of the bits before it. Any 2^k
// consecutive points that start at a multiple of 2^k stay a digital net, and every
// point is uniform. A. B. Owen, SIAM J. Numer. Anal. 34 (1997) 1884-1910.
type Owen struct {
	columns [][resolution]uint32
	seed    []uint64
}

// NewOwen makes the sequence in dim >= 1 dimensions from a seed. Coordinates beyond
// the first Dims are independent uniform draws.
func NewOwen(dim int, seed uint64) *Owen {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	s := &Owen{columns: make([][resolution]uint32, min(dim, Dims)), seed: make([]uint64, dim)}
	for j := range s.seed {
		s.seed[j] = rng.Uint64()
	}
	for j := range s.columns {
		s.columns[j] = table[j].directions()
	}
	return s
}

// Point sets dst, as long as the sequence has dimensions, to point i, in (0, 1).
func (s *Owen) Point(dst []float64, i int) {
	for j := range dst {
		if j >= len(s.columns) {
			dst[j] = (float64(splitmix.Mix(s.seed[j]+uint64(i))>>11) + 0.5) / (1 << 53)
			continue
		}
		dst[j] = middle(nested(digits(&s.columns[j], i), s.seed[j]))
	}
}

// nested flips bit b of x by one bit of a hash of the bits above it.
func nested(x uint32, seed uint64) uint32 {
	out := x
	for b := range resolution {
		above := uint64(x) >> (resolution - b) // none for b = 0
		out ^= uint32(splitmix.Mix(seed^above^uint64(b+1)<<40)>>63) << (resolution - 1 - b)
	}
	return out
}
