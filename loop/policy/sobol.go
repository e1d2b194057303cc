package policy

import (
	"math/bits"
	"math/rand/v2"
)

// sobolBits is the resolution of a coordinate: 2^-32, and as many points.
const sobolBits = 32

// sobol is Sobol's low-discrepancy sequence in up to sobolMax dimensions,
// optionally scrambled. Points are numbered from 0 in Gray-code order, so any 2^k
// consecutive points that start at a multiple of 2^k are a digital net.
//
// The scrambling is a random lower triangular matrix over GF(2) for each
// dimension, then a random digital shift (J. Matousek, On the L2-discrepancy for
// anchored boxes, J. Complexity 14 (1998) 527-556): each point is uniform, and
// the net's structure stays.
type sobol struct {
	columns [][sobolBits]uint32 // direction numbers, most significant bit first
	shift   []uint32
}

// newSobol makes the sequence in dim dimensions; rng nil leaves it unscrambled.
// The caller guarantees 1 <= dim <= sobolMax.
func newSobol(dim int, rng *rand.Rand) *sobol {
	s := &sobol{columns: make([][sobolBits]uint32, dim), shift: make([]uint32, dim)}
	for j := range s.columns {
		s.columns[j] = directions(sobolTable[j])
	}
	if rng == nil {
		return s
	}
	for j := range s.columns {
		var rows [sobolBits]uint32
		for b := range rows {
			above := ^uint32(0) << (sobolBits - b) // bits more significant than b; none for b = 0
			rows[b] = rng.Uint32()&above | 1<<(sobolBits-1-b)
		}
		for k, v := range s.columns[j] {
			var w uint32
			for b, row := range rows {
				parity := uint32(bits.OnesCount32(v&row)) & 1
				w |= parity << (sobolBits - 1 - b)
			}
			s.columns[j][k] = w
		}
		s.shift[j] = rng.Uint32()
	}
	return s
}

// directions expands one row of the table by its recurrence
//
//	m_k = 2 a_1 m_(k-1) ^ ... ^ 2^(s-1) a_(s-1) m_(k-s+1) ^ 2^s m_(k-s) ^ m_(k-s)
//
// and returns v_k = m_k / 2^k as binary fractions.
func directions(p sobolPrimitive) [sobolBits]uint32 {
	var v [sobolBits]uint32
	degree := bits.Len32(p.poly) - 1
	if degree == 0 { // van der Corput's sequence
		for k := range v {
			v[k] = 1 << (sobolBits - 1 - k)
		}
		return v
	}
	for k := range v {
		if k < degree {
			v[k] = p.first[k] << (sobolBits - 1 - k)
			continue
		}
		v[k] = v[k-degree] ^ v[k-degree]>>degree
		for i := 1; i < degree; i++ {
			if p.poly>>(degree-i)&1 == 1 {
				v[k] ^= v[k-i]
			}
		}
	}
	return v
}

// point sets dst to point i. Coordinates lie in (0, 1): each is the middle of its
// cell of width 2^-32, so that quantiles at them are finite.
func (s *sobol) point(dst []float64, i int) {
	gray := uint32(i) ^ uint32(i)>>1
	for j := range dst {
		x := s.shift[j]
		for g := gray; g != 0; g &= g - 1 {
			x ^= s.columns[j][bits.TrailingZeros32(g)]
		}
		dst[j] = (float64(x) + 0.5) / (1 << sobolBits)
	}
}
