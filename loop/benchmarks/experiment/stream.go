package experiment

import "math/rand/v2"

// Purpose keeps the random streams of one seed apart.
type Purpose uint64

// The Purposes. Their values are part of every result: never change one.
const (
	ForTruth        Purpose = 0xb001 + iota // the objective itself
	ForExpectation                          // the common sample behind an expected worth
	ForGiven                                // settings measured before the first step
	forSurroundings                         // random variables, step by step
	forNoise                                // noise, step by step
	ForPrior                                // which prior the objective is drawn from
	forCost                                 // what a step costs, step by step
)

// Stream is the generator for one Purpose at one step.
func Stream(seed uint64, p Purpose, step int) *rand.Rand {
	return rand.New(rand.NewPCG(scatter(scatter(seed)^uint64(p)), scatter(uint64(step))))
}

// scatter is the finaliser of MurmurHash3 (public domain, A. Appleby): neighbouring
// seeds give unrelated streams.
func scatter(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
