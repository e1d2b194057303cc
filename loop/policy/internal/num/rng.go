package num

import "math/rand/v2"

// Purpose separates the random streams of one step.
type Purpose uint64

const (
	ForDesign Purpose = iota + 1
	ForConfidence
	ForScreening
	_ // a purpose that was; numbers stay, so that journals derive anew
	ForNodes
	ForFit
	ForSets
	ForSample
	ForPriors
)

// Stream is the random stream of one purpose in one step: a function of its
// arguments alone, so that a decision never depends on how many numbers an
// earlier one drew.
func Stream(seed uint64, p Purpose, step int) *rand.Rand {
	return rand.New(rand.NewPCG(Mix(seed+Mix(uint64(p))), Mix(uint64(step))))
}

// Mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): it
// makes unrelated generators out of neighbouring seeds.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
