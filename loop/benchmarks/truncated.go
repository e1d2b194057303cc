package benchmarks

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// truncated is the normal distribution around the middle of [0, 1], conditioned on
// that range. sd is its standard deviation before.
type truncated struct{ sd float64 }

// quantile is the value below which the share p lies.
func (t truncated) quantile(p float64) float64 {
	n := distuv.Normal{Mu: 0.5, Sigma: t.sd}
	low, high := n.CDF(0), n.CDF(1)
	return min(max(n.Quantile(low+p*(high-low)), 0), 1)
}

// draw sets every element of u to a draw.
func (t truncated) draw(rng *rand.Rand, u []float64) {
	for i := range u {
		u[i] = t.quantile(rng.Float64())
	}
}
