package landscape

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Truncated is the normal distribution around the middle of [0, 1], conditioned on
// that range. SD is its standard deviation before.
type Truncated struct{ SD float64 }

// Quantile is the value below which the share p lies.
func (t Truncated) Quantile(p float64) float64 {
	n := distuv.Normal{Mu: 0.5, Sigma: t.SD}
	low, high := n.CDF(0), n.CDF(1)
	return min(max(n.Quantile(low+p*(high-low)), 0), 1)
}

// Draw sets every element of u to a draw.
func (t Truncated) Draw(rng *rand.Rand, u []float64) {
	for i := range u {
		u[i] = t.Quantile(rng.Float64())
	}
}
