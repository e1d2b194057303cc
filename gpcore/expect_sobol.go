package gpcore

import (
	"math/bits"
	"math/rand/v2"
)

// sobolBits is the resolution of a coordinate: 2^-32, and as many points.
const sobolBits = 32

// sobolDims is the number of dimensions in the table. Beyond it coordinates are
// independent uniform draws.
const sobolDims = 40

// sobolPrimitive is one dimension: a primitive polynomial over GF(2), highest
// coefficient first (11 is x^3 + x + 1), and the first direction integers.
type sobolPrimitive struct {
	poly  uint32
	first []uint32
}

// sobolTable holds the first dimensions of the "new-joe-kuo-6.21201" numbers:
// S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
// projections, SIAM J. Sci. Comput. 30 (2008) 2635-2654.
var sobolTable = [sobolDims]sobolPrimitive{
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

// sobol is Sobol's low-discrepancy sequence, each coordinate scrambled by Owen's
// nested uniform scrambling: a bit is flipped or not by a hash of the bits before it.
// Any 2^k consecutive points that start at a multiple of 2^k stay a digital net, and
// every point is uniform. A. B. Owen, SIAM J. Numer. Anal. 34 (1997) 1884-1910.
type sobol struct {
	columns [][sobolBits]uint32 // direction numbers
	seed    []uint64
}

func newSobol(dim int, seed uint64) *sobol {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	s := &sobol{columns: make([][sobolBits]uint32, min(dim, sobolDims)), seed: make([]uint64, dim)}
	for j := range s.seed {
		s.seed[j] = rng.Uint64()
	}
	for j := range s.columns {
		s.columns[j] = sobolTable[j].directions()
	}
	return s
}

// directions expands a row of the table by its recurrence: with the polynomial's
// coefficients a, v_k = a_1 v_(k-1) ^ ... ^ v_(k-s) ^ v_(k-s)>>s, as binary fractions.
func (p sobolPrimitive) directions() (v [sobolBits]uint32) {
	degree := bits.Len32(p.poly) - 1
	for k := range v {
		switch {
		case degree == 0: // van der Corput's sequence
			v[k] = 1 << (sobolBits - 1 - k)
			continue
		case k < degree:
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

// point sets dst to point i. Coordinates lie in (0, 1), in the middle of cells of
// width 2^-32, so that quantiles at them are finite.
func (s *sobol) point(dst []float64, i int) {
	gray := uint32(i) ^ uint32(i)>>1
	for j := range dst {
		if j >= len(s.columns) {
			dst[j] = (float64(hash64(s.seed[j]+uint64(i))>>11) + 0.5) / (1 << 53)
			continue
		}
		var x uint32
		for g := gray; g != 0; g &= g - 1 {
			x ^= s.columns[j][bits.TrailingZeros32(g)]
		}
		dst[j] = (float64(scramble(x, s.seed[j])) + 0.5) / (1 << sobolBits)
	}
}

// scramble flips bit b of x by one bit of a hash of the bits above it.
func scramble(x uint32, seed uint64) uint32 {
	out := x
	for b := range sobolBits {
		above := uint64(x) >> (sobolBits - b) // none for b = 0
		out ^= uint32(hash64(seed^above^uint64(b+1)<<40)>>63) << (sobolBits - 1 - b)
	}
	return out
}

// hash64 is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func hash64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
