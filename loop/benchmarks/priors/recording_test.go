package priors

import (
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/sampling"
	"gonum.org/v1/gonum/stat"
)

// TestRecordings: an objective is a snapshot that no prior was learnt from and as plausible as
// temperatures and speeds are; the priors are means and covariances as gonum has them, and each can
// be drawn from.
func TestRecordings(t *testing.T) {
	for _, c := range []struct {
		r                 *recording
		sensors, priors   int
		lo, hi, leastSpan float64
	}{{room(), roomSensors, roomTraining, 5, 40, 0.5}, {road(), roadSensors, roadHours, -75, -5, 4}} {
		t.Run(c.r.name, func(t *testing.T) {
			x := c.r.experiment()
			for seed := range uint64(40) {
				p, err := x.Draw(seed)
				if err != nil {
					t.Fatal(err)
				}
				var f []float64
				for _, place := range p.Candidates {
					f = append(f, p.Truth(1, place))
				}
				if got := p.Best(1); got != slices.Max(f) || p.Priors != c.priors || (p.Prior >= 0) != c.r.same || len(f) != c.sensors {
					t.Errorf("seed %d: best %v of %d sensors, prior %d of %d", seed, got, len(f), p.Prior, p.Priors)
				}
				if lo, hi := slices.Min(f), slices.Max(f); lo < c.lo || hi > c.hi || hi-lo < c.leastSpan {
					t.Errorf("seed %d: from %v to %v", seed, lo, hi)
				}
				for k, rows := range c.r.snapshots().known {
					if slices.ContainsFunc(rows, func(row []float64) bool { return slices.Equal(row, f) }) {
						t.Errorf("seed %d: prior %d was learnt from the objective", seed, k)
					}
				}
			}
			for k, rows := range c.r.snapshots().known {
				checkEmpirical(t, k, rows, c.r.ownSD)
			}
		})
	}
}

// checkEmpirical compares a prior with gonum's moments of the same snapshots.
func checkEmpirical(t *testing.T, k int, rows [][]float64, ownSD float64) {
	t.Helper()
	prior := empirical(rows, ownSD)
	n := len(rows[0])
	candidates := make([]float64, n)
	for i := range candidates {
		candidates[i] = float64(i) / float64(n-1)
	}
	column := func(i int) []float64 {
		out := make([]float64, len(rows))
		for s, row := range rows {
			out[s] = row[i]
		}
		return out
	}
	for _, ij := range [][2]int{{0, 0}, {3, 3}, {0, n - 1}, {12, 31}} {
		a, b := column(ij[0]), column(ij[1])
		want := stat.Covariance(a, b, nil)
		if ij[0] == ij[1] {
			want += ownSD * ownSD
		}
		got := prior.Cov(candidates[ij[0]:ij[0]+1], candidates[ij[1]:ij[1]+1])
		// Sums of up to 240 products of at most 70².
		if math.Abs(got-want) > 1e-9 || math.Abs(prior.mean[ij[0]]-stat.Mean(a, nil)) > 1e-11 {
			t.Errorf("prior %d, sensors %v: covariance %v, gonum %v", k, ij, got, want)
		}
	}
	finite, err := sampling.NewFinite(prior, candidates)
	if err != nil {
		t.Fatalf("prior %d: %v", k, err)
	}
	if finite.Len() != n {
		t.Errorf("prior %d is of %d sensors", k, finite.Len())
	}
}
