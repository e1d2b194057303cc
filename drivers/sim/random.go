package sim

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Streams of random numbers. A stream that exists once per variable adds the
// variable's index.
const (
	streamShot     uint64 = 0x100 // + signal: the noise of a shot
	streamLight    uint64 = 0x200 // whether a pulse has light
	streamPointing uint64 = 0x300 // + octave: pointing jitter
	streamReadback uint64 = 0x400 // + variable: noise of a readback
	streamDraw     uint64 = 0x500 // + variable: what the environment does
	streamGarbage  uint64 = 0x600 // bytes that a wire spoils
)

// source is a counter-based generator: number i of a stream is a function of the
// seed, the stream and i, so the order in which numbers are asked for is of no
// consequence.
type source struct{ seed uint64 }

// bits returns 64 random bits. Each key passes the output function of SplitMix64
// (Steele, Lea, Flood, OOPSLA 2014), a bijection in which every input bit sways
// every output bit.
func (s source) bits(stream, index uint64) uint64 {
	const weyl = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := mix(s.seed + weyl)
	h = mix(h ^ mix(stream+weyl))
	return mix(h + weyl*index)
}

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// uniform returns a number strictly between 0 and 1.
func (s source) uniform(stream, index uint64) float64 {
	return (float64(s.bits(stream, index)>>12) + 0.5) / (1 << 52)
}

// normal returns a standard normal number, by inversion.
func (s source) normal(stream, index uint64) float64 {
	return normalQuantile(s.uniform(stream, index))
}

// normalCDF is the standard normal distribution function; it keeps its relative
// precision in the lower tail.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// normalQuantile is the inverse of normalCDF, in the lower tail as precise as its
// argument. (math.Erfcinv is not: it takes the inverse of 1 minus it.)
func normalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// octaves is the number of halvings of frequency that the pointing jitter holds:
// 14 octaves of pulses at 10 Hz reach from 0.1 s to 27 minutes.
const octaves = 14

// flicker returns pulse n of a noise with mean 0, variance 1 and a spectrum close
// to 1/f: the sum of independent normal numbers, number j of which is renewed
// every 2^j pulses (Voss's construction, described by Gardner, Scientific American,
// April 1978). The correlation of pulses n and n+m is, over random n,
//
//	(1/octaves) Σ_j max(0, 1 - m/2^j)
func (s source) flicker(n uint64) float64 {
	sum := 0.0
	for j := range uint64(octaves) {
		sum += s.normal(streamPointing+j, n>>j)
	}
	return sum / math.Sqrt(octaves)
}
