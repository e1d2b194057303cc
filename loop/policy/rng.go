package policy

import "math/rand/v2"

// purpose separates the random streams of one step.
type purpose uint64

const (
	forDesign purpose = iota + 1
	forConfidence
	forScreening
	forLocal
	forNodes
	forFit
	forSets
	forSample
	forPriors
)

// stream is the random stream of one purpose in one step: a function of its
// arguments alone, so that a decision never depends on how many numbers an
// earlier one drew.
func stream(seed uint64, p purpose, step int) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed+mix(uint64(p))), mix(uint64(step))))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): it
// makes unrelated generators out of neighbouring seeds.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
