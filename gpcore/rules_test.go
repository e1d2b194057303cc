package gpcore_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/quadrature"
)

// Rules that keep what they compare give, as lengthscales change, the nodes of rules made anew.
func TestKeptRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, dims := range []int{2, 3, 5, 12} {
		m, l := make([]quadrature.Marginal, dims), make([]float64, dims)
		for i := range m {
			m[i] = quadrature.TruncatedNormal(0.5, 0.1+0.2*rng.Float64(), 0, 1)
		}
		kept, used := quadrature.NewRules(m, 7), map[float64]bool{}
		for range 8 {
			for i := range l {
				l[i] = 0.05 + 0.5*rng.Float64()
			}
			full, coarse := kept.Full(l), kept.Coarse(l)
			if want := quadrature.NewRules(m, 7).Full(l); !slices.Equal(full.X, want.X) || !slices.Equal(full.Weight, want.Weight) {
				t.Errorf("%d coordinates: other nodes than those of rules made anew", dims)
			}
			if want := quadrature.NewRules(m, 7).Coarse(l); !slices.Equal(coarse.X, want.X) || !slices.Equal(coarse.Weight, want.Weight) {
				t.Errorf("%d coordinates: other coarse nodes than those of rules made anew", dims)
			}
			used[full.X[0]] = true
		}
		if dims > 3 && len(used) < 2 {
			t.Errorf("%d coordinates: the same point set for all lengthscales", dims)
		}
	}
}
