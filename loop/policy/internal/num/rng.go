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
	return rand.New(rand.NewPCG(seedsOf(seed, p, step)))
}

func seedsOf(seed uint64, p Purpose, step int) (uint64, uint64) {
	return Mix(seed + Mix(uint64(p))), Mix(uint64(step))
}

// Generator gives random streams one after the other, as the function Stream does, with one object.
// The zero value is ready for use; nil makes an object each time.
type Generator struct {
	pcg rand.PCG
	r   *rand.Rand
}

// Stream is the random stream of one purpose in one step, until the next call.
func (g *Generator) Stream(seed uint64, p Purpose, step int) *rand.Rand {
	if g == nil {
		return Stream(seed, p, step)
	}
	if g.r == nil {
		g.r = rand.New(&g.pcg)
	}
	g.pcg.Seed(seedsOf(seed, p, step))
	return g.r
}

// Mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): it
// makes unrelated generators out of neighbouring seeds.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
