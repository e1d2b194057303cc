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

// table holds the first dimensions of the "new-joe-kuo-6.21201" numbers:
// S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
// projections, SIAM J. Sci. Comput. 30 (2008) 2635-2654.
var table = [Dims]primitive{
	{1, []uint32{1}},
	{3, []uint32{1}},
	{7, []uint32{1, 3}},
	{11, []uint32{1, 3, 1}},
	{13, []uint32{1, 1, 1}},
	{19, []uint32{1, 1, 3, 3}},
	{25, []uint32{1, 3, 5, 13}},
	{37, []uint32{1, 1, 5, 5, 17}},
	{41, []uint32{1, 1, 5, 5, 5}},
	{47, []uint32{1, 1, 7, 11, 19}},
	{55, []uint32{1, 1, 5, 1, 1}},
	{59, []uint32{1, 1, 1, 3, 11}},
	{61, []uint32{1, 3, 5, 5, 31}},
	{67, []uint32{1, 3, 3, 9, 7, 49}},
	{91, []uint32{1, 1, 1, 15, 21, 21}},
	{97, []uint32{1, 3, 1, 13, 27, 49}},
	{103, []uint32{1, 1, 1, 15, 7, 5}},
	{109, []uint32{1, 3, 1, 15, 13, 25}},
	{115, []uint32{1, 1, 5, 5, 19, 61}},
	{131, []uint32{1, 3, 7, 11, 23, 15, 103}},
	{137, []uint32{1, 3, 7, 13, 13, 15, 69}},
	{143, []uint32{1, 1, 3, 13, 7, 35, 63}},
	{145, []uint32{1, 3, 5, 9, 1, 25, 53}},
	{157, []uint32{1, 3, 1, 13, 9, 35, 107}},
	{167, []uint32{1, 3, 1, 5, 27, 61, 31}},
	{171, []uint32{1, 1, 5, 11, 19, 41, 61}},
	{185, []uint32{1, 3, 5, 3, 3, 13, 69}},
	{191, []uint32{1, 1, 7, 13, 1, 19, 1}},
	{193, []uint32{1, 3, 7, 5, 13, 19, 59}},
	{203, []uint32{1, 1, 3, 9, 25, 29, 41}},
	{211, []uint32{1, 3, 5, 13, 23, 1, 55}},
	{213, []uint32{1, 3, 7, 3, 13, 59, 17}},
	{229, []uint32{1, 3, 1, 3, 5, 53, 69}},
	{239, []uint32{1, 1, 5, 5, 23, 33, 13}},
	{241, []uint32{1, 1, 7, 7, 1, 61, 123}},
	{247, []uint32{1, 1, 7, 9, 13, 61, 49}},
	{253, []uint32{1, 3, 3, 5, 3, 55, 33}},
	{285, []uint32{1, 3, 1, 15, 31, 13, 49, 245}},
	{299, []uint32{1, 3, 5, 15, 31, 59, 63, 97}},
	{301, []uint32{1, 3, 1, 11, 11, 11, 77, 249}},
}
