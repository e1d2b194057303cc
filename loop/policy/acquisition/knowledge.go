package acquisition

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Rivals are settings of which one more reading may change which of them is recommended.
type Rivals struct {
	// Component judges, of a domain with all variables.
	Component model.Component
	Domain    *space.Domain

	points, noise []float64
}

// Add adds a setting as it may be proposed, unless it is one of them; its next reading scatters as observation row does.
func (r *Rivals) Add(x []float64, row int) {
	size := r.Domain.Size()
	p := make([]float64, size)
	r.Domain.Project(p, x)
	r.Domain.Round(p)
	for of := range slices.Chunk(r.points, size) {
		if slices.Equal(of, p) {
			return
		}
	}
	r.points = append(r.points, p...)
	r.noise = append(r.noise, r.Component.Scale*r.Component.Scale*r.Component.GP.NoiseVariance(row))
}

// contenders is how many measured settings one more reading may be for.
const contenders = 7

// AddBest adds the rows that are worth most and are not unreliable. It overwrites worth.
func (r *Rivals) AddBest(rows []model.Row, worth []float64, unreliable func(x []float64) bool) {
	most := len(r.noise) + contenders
	for range rows {
		row := num.Argmax(worth)
		worth[row] = math.Inf(-1)
		if !unreliable(rows[row].X) {
			r.Add(rows[row].X, row)
		}
		if len(r.noise) == most {
			return
		}
	}
}

// Points are the settings, row after row.
func (r *Rivals) Points() []float64 { return r.points }

// ToMeasure is the setting of which one more reading adds most (see [known.gains]) and how much, where that is more than
// a reading of the first one adds; else nil. mean is what each is worth.
func (r *Rivals) ToMeasure(mean []float64, beta float64) (x []float64, gain float64, err error) {
	joint, err := sampling.NewJoint(r.Component.GP, r.points)
	if err != nil {
		return nil, 0, err
	}
	m, size := len(r.noise), r.Domain.Size()
	k := known{Mean: mean, Covariance: make([]float64, m*m), Noise: r.noise}
	joint.Covariance(k.Covariance)
	for i := range k.Covariance {
		k.Covariance[i] *= r.Component.Scale * r.Component.Scale
	}
	adds := make([]float64, m)
	k.gains(adds, beta)
	if best := num.Argmax(adds); adds[best] > adds[0] {
		return r.points[best*size : (best+1)*size], adds[best], nil
	}
	return nil, 0, nil
}

// known is the joint posterior of a few settings, in any unit of the objective: what a recommendation among them goes by.
type known struct {
	// Mean of each setting, m elements.
	Mean []float64
	// Covariance of the means, m x m, row after row.
	Covariance []float64
	// Noise is the variance of one more reading of each setting, m elements, above 0.
	Noise []float64
}

// gains sets gain (m elements) to what one more reading of each setting adds to what is recommended: the knowledge
// gradient for correlated beliefs. Where the setting of the greatest lower bound
//
//	b_j = mean_j - beta sd_j
//
// is recommended, a reading of setting i, of which the part Z is new (standard normal), moves it to
//
//	b_j(Z) = mean_j + c_ji Z / s_i - beta sqrt(c_jj - c_ji^2 / s_i^2),   s_i^2 = c_ii + noise_i,
//
// and gain_i = E[max_j b_j(Z)] - max_j b_j. It is above or equal to 0 for beta = 0, as there a reading cannot mislead; with
// beta it counts what certainty adds too. Frazier, Powell and Dayanik, INFORMS Journal on Computing 21 (2009),
// who have beta = 0. O(m^2 log m); allocates O(m).
func (k known) gains(gain []float64, beta float64) {
	m := len(k.Mean)
	now := math.Inf(-1)
	for j, mean := range k.Mean {
		now = max(now, mean-beta*math.Sqrt(max(k.Covariance[j*m+j], 0)))
	}
	lines := make([]line, m)
	for i := range m {
		of := k.Covariance[i*m : (i+1)*m]
		s := math.Sqrt(max(of[i], 0) + k.Noise[i])
		for j := range m {
			slope := of[j] / s
			lines[j] = line{k.Mean[j] - beta*math.Sqrt(max(k.Covariance[j*m+j]-slope*slope, 0)), slope}
		}
		gain[i] = expectedMaximum(lines) - now
	}
}

// line is at + slope Z.
type line struct{ at, slope float64 }

// expectedMaximum is E[max of the lines] for a standard normal Z. It reorders them. Along the lines that are the greatest
// somewhere, by slope, with z_k where one follows another, it is the first line's mean plus
//
//	sum over k of (slope_k+1 - slope_k) (phi(z_k) - z_k (1 - Phi(z_k))).
func expectedMaximum(lines []line) float64 {
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.slope, b.slope), cmp.Compare(a.at, b.at)) })
	upper := lines[:0] // of the lines so far those that are the greatest somewhere
	for _, l := range lines {
		for n := len(upper); n > 0; n = len(upper) {
			last := upper[n-1]
			if l.slope == last.slope || n > 1 && crossing(last, l) <= crossing(upper[n-2], last) {
				upper = upper[:n-1]
				continue
			}
			break
		}
		upper = append(upper, l)
	}
	out := upper[0].at
	for k := 1; k < len(upper); k++ {
		z := crossing(upper[k-1], upper[k])
		out += (upper[k].slope - upper[k-1].slope) * (distuv.UnitNormal.Prob(z) - z*distuv.UnitNormal.Survival(z))
	}
	return out
}

// crossing is where b, which is steeper, overtakes a.
func crossing(a, b line) float64 { return (a.at - b.at) / (b.slope - a.slope) }
