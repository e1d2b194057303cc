package simulator

import (
	"math/rand/v2"
	"time"
)

func newRand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// bytesOf reads random bytes.
type bytesOf struct{ rng *rand.Rand }

func (b *bytesOf) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b.rng.Uint32())
	}
	return len(p), nil
}

// between draws a duration, odd to the nanosecond.
func between(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)))
}
