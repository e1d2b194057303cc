package sobol

import "math/bits"

// primitive is one dimension: a primitive polynomial over GF(2), highest coefficient
// first (11 is x^3 + x + 1; the first dimension has none), and the initial direction
// integers m_1, m_2, ...
type primitive struct {
	poly  uint32
	first []uint32
}

// directions expands a row of the table by its recurrence
//
//	m_k = 2 a_1 m_(k-1) ^ ... ^ 2^(s-1) a_(s-1) m_(k-s+1) ^ 2^s m_(k-s) ^ m_(k-s)
//
// and returns v_k = m_k / 2^k as binary fractions.
func (p primitive) directions() (v [resolution]uint32) {
	degree := bits.Len32(p.poly) - 1
	for k := range v {
		switch {
		case degree == 0: // van der Corput's sequence
			v[k] = 1 << (resolution - 1 - k)
			continue
		case k < degree:
			v[k] = p.first[k] << (resolution - 1 - k)
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
