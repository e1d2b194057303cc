package benchmarks

import "math/rand/v2"

// purpose keeps the random streams of one seed apart.
type purpose uint64

// The purposes. Their values are part of every result: never change one.
const (
	forTruth        purpose = 0xb001 + iota // the objective itself
	forExpectation                          // the common sample behind an expected worth
	forGiven                                // settings measured before the first step
	forSurroundings                         // random variables, step by step
	forNoise                                // noise, step by step
	forPrior                                // which prior the objective is drawn from
)

// stream is the generator for one purpose at one step.
func stream(seed uint64, p purpose, step int) *rand.Rand {
	return rand.New(rand.NewPCG(scatter(scatter(seed)^uint64(p)), scatter(uint64(step))))
}

// scatter is the finaliser of MurmurHash3 (public domain, A. Appleby): neighbouring
// seeds give unrelated streams.
func scatter(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
