package sampling

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// correction turns a draw of the prior into one of the posterior (Matheron's rule). It
// holds scratch.
type correction struct{ k, l, u []float64 }

// draw returns K^-1 (y - prior - e) with e drawn from the noise, where prior are the
// values of a prior draw at the observations. The result is valid until the next draw.
func (c *correction) draw(rng *rand.Rand, f *factor.Factor, prior []float64) []float64 {
	size := vec.Up8(f.N)
	c.k, c.l, c.u = vec.Grown(c.k, size), vec.Grown(c.l, size), vec.Grown(c.u, size)
	for i := range f.N {
		c.k[i] = f.Y[i] - prior[i] - math.Sqrt(f.Noise[i])*rng.NormFloat64()
	}
	clear(c.k[f.N:])
	f.Solve(c.k, c.l, c.u)
	return c.u[:f.N]
}
