package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/check"
)

// NoiseRule says how [GP.TrackNoises] follows noise variances that all move.
type NoiseRule struct {
	// Exact is the number of observations up to which a call refactorises where a variance is to be updated.
	Exact int
	// Tau is the relative change of a noise variance above which it is updated.
	Tau float64
	// Max is the largest number of updates in one call.
	Max int
}

// NoiseReport is the certificate of [GP.TrackNoises]: with the noise variances that
// were asked for, the posterior standard deviation of f is, at every point, within
// [SDLow, SDHigh] times what the process says.
//
// It follows from two facts. The posterior variance grows with every noise
// variance; and multiplying all of them by c >= 1 multiplies it by at most c. So
// if every wanted variance is within [lo, hi] times the one held, lo <= 1 <= hi, the
// posterior variance is so too. The posterior mean has no such bound.
type NoiseReport struct {
	Exact         bool // refactorised: nothing remains
	Updated       int  // rank-one updates done
	SDLow, SDHigh float64
	Pending       int // variances still off by more than Tau
}

// TrackNoises moves the noise variances towards want (Len elements). While all are within
// rule.Tau of it, nothing changes. Else it moves them: exactly, by a refactorisation,
// while that is cheap, else by at most rule.Max rank-one updates,
// the largest relative change first, each O(n^2). It returns ErrShape or a
// *ValueError and has changed nothing, or ErrNotPositiveDefinite where an update
// failed; earlier updates stay, and the report describes the noise that is held.
func (g *GP) TrackNoises(want []float64, rule NoiseRule) (NoiseReport, error) {
	n := g.m.Factor.N
	if len(want) != n {
		return NoiseReport{}, ErrShape
	}
	if err := check.Noises(want); err != nil {
		return NoiseReport{}, err
	}
	if n <= rule.Exact && g.worstNoise(want, rule.Tau) >= 0 {
		if err := g.SetNoises(want); err != nil {
			return g.certify(want, rule.Tau), err
		}
		return NoiseReport{Exact: true, SDLow: 1, SDHigh: 1}, nil
	}
	updated := 0
	for ; updated < rule.Max; updated++ {
		i := g.worstNoise(want, rule.Tau)
		if i < 0 {
			break
		}
		if err := g.SetNoise(i, want[i]); err != nil {
			r := g.certify(want, rule.Tau)
			r.Updated = updated
			return r, err
		}
	}
	r := g.certify(want, rule.Tau)
	r.Updated = updated
	return r, nil
}

// noiseRatio is want/held, one where both are zero.
func noiseRatio(want, held float64) float64 {
	if want == held {
		return 1
	}
	return want / held
}

// worstNoise is the observation whose noise is off by the largest factor, among
// those off by more than tau; -1 if there is none.
func (g *GP) worstNoise(want []float64, tau float64) int {
	at, worst := -1, 1.0
	for i, w := range want {
		q := noiseRatio(w, g.m.Factor.Noise[i])
		if math.Abs(q-1) <= tau {
			continue
		}
		if f := max(q, 1/q); f > worst {
			at, worst = i, f
		}
	}
	return at
}

func (g *GP) certify(want []float64, tau float64) NoiseReport {
	lo, hi, pending := 1.0, 1.0, 0
	for i, w := range want {
		q := noiseRatio(w, g.m.Factor.Noise[i])
		lo, hi = min(lo, q), max(hi, q)
		if math.Abs(q-1) > tau {
			pending++
		}
	}
	return NoiseReport{SDLow: math.Sqrt(lo), SDHigh: math.Sqrt(hi), Pending: pending}
}
