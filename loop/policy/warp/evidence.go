package warp

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

const (
	// asked is by how many times the evidence of a logarithm must exceed that of none: "decisive" by
	// Jeffreys (Theory of Probability, 1961), since a transformation that is wrong costs more than one that is
	// missing.
	asked = 100
	// mostReadings bounds the work: the newest count.
	mostReadings = 256
	// apart is how far from each other two places are, as a root mean square over coordinates of shares of their ranges. Of
	// 0.003, 0.01, 0.02 and 0.04 it lost least where a logarithm helps; with each of them no run of 60 was left on the decoy of TestHills that
	// has no noise, of which eight were without.
	apart = 0.003
	// fewest readings say nothing of their spread.
	fewest = 3
	// wider is how many standard deviations of the noise a logarithm's width has at least where the noise is the
	// same everywhere: a narrower one would have it small far from the reference and large near it, which the
	// model of a transformed objective, whose noise is the same everywhere, takes for precise readings.
	wider = 10
)

// widths of the logarithms that compete, as shares of the distance from the end of the readings that a logarithm
// is about to their median; and lengthscales and noises of the models, these relative to the process's variance.
func widths() []float64       { return []float64{1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5} }
func lengthscales() []float64 { return []float64{0.1, 0.2, 0.4, 0.8} }
func noises() []float64       { return []float64{1e-4, 1e-2, 0.1, 1} }

// Choose is the logarithm that readings y at settings x ask for, row after row of so many unit coordinates; the zero
// Log where they ask for none. Those about the best reading and those about the worst compete. The evidence of one is
//
//	p(y) = sum over models of p(z(y)) times the product of dz/dy,
//
// where a model is a Matern 5/2 process with one of a few lengthscales and noises; its mean is that of the
// readings, its variance the likeliest. Where the noise is the same everywhere in y rather than in z, only
// logarithms compete that are ten times as wide as its standard deviation. O(n^3) for 256 readings at most.
func Choose(x, y []float64, dims int) (Log, error) {
	r := readings{dims: dims}
	r.take(x, y)
	if len(r.y) < fewest {
		return Log{}, nil
	}
	worst, best := slices.Min(r.y), slices.Max(r.y)
	spread := best - worst
	if math.IsInf(spread, 1) { // differences are no numbers
		return Log{}, nil
	}
	for i := range r.y {
		r.y[i] = (r.y[i] - worst) / spread
	}
	chosen, err := r.choose()
	if err != nil || !chosen.Acts() {
		return Log{}, err
	}
	out := Log{Center: worst, Width: chosen.Width * spread}
	if chosen.Center == 1 {
		out.Center = best
	}
	return out, nil
}

// readings are values at settings, in choose from 0, the worst, to 1.
type readings struct {
	x, y []float64
	dims int
}

// take takes the newest readings, of equal ones and of those of one place the newest. A sensor at the end of its range, or one
// of few digits, says one value again and again, and a search measures the top of a smooth hill again and again: as a density, which
// evidence is, either would speak for a logarithm about it, however narrow. One of a millionth of the hill's height has all
// else look equally low, and the hill was not left.
func (r *readings) take(x, y []float64) {
	seen := map[float64]bool{}
	for i := len(y) - 1; i >= 0 && len(r.y) < mostReadings; i-- {
		at := x[i*r.dims : (i+1)*r.dims]
		if !seen[y[i]] && !r.near(at) {
			seen[y[i]] = true
			r.x, r.y = append(r.x, at...), append(r.y, y[i])
		}
	}
}

// near reports whether a reading of a setting's place was taken.
func (r *readings) near(at []float64) bool {
	for other := range slices.Chunk(r.x, r.dims) {
		square := 0.0
		for j, v := range other {
			square += (v - at[j]) * (v - at[j])
		}
		if square < apart*apart*float64(r.dims) {
			return true
		}
	}
	return false
}

func (r *readings) choose() (Log, error) {
	all := r.candidates()
	chosen, err := r.likeliest(all)
	if err != nil || !chosen.Acts() {
		return Log{}, err
	}
	sd, err := r.evenNoise(chosen)
	if err != nil || !(wider*sd > chosen.Width) {
		return chosen, err
	}
	return r.likeliest(slices.DeleteFunc(all, func(l Log) bool { return l.Acts() && l.Width < wider*sd }))
}

// candidates are none, and logarithms about both ends.
func (r *readings) candidates() []Log {
	sorted := slices.Sorted(slices.Values(r.y))
	median := sorted[len(sorted)/2]
	out := []Log{{}}
	for _, end := range []float64{1, 0} {
		for _, w := range widths() {
			if width := w * math.Abs(end-median); width > 0 {
				out = append(out, Log{Center: end, Width: width})
			}
		}
	}
	return out
}

// likeliest is the candidate of the greatest evidence, where the readings ask for it; none is the first.
func (r *readings) likeliest(all []Log) (Log, error) {
	evidence := slices.Repeat([]float64{math.Inf(-1)}, len(all))
	for _, length := range lengthscales() {
		for _, noise := range noises() {
			g, err := r.model(length, slices.Repeat([]float64{noise}, len(r.y)))
			if err != nil {
				return Log{}, err
			}
			for i, l := range all {
				z, jacobian := r.seen(l)
				value, _, err := likelihood(g, z)
				if err != nil {
					return Log{}, err
				}
				evidence[i] = addLogs(evidence[i], value+jacobian)
			}
		}
	}
	most := 0
	for i := range all {
		if evidence[i] > evidence[most] {
			most = i
		}
	}
	if !(evidence[most]-evidence[0] > math.Log(asked)) {
		return Log{}, nil
	}
	return all[most], nil
}

// evenNoise is the standard deviation of the noise in y's unit where the evidence of noise that is the same everywhere in
// that unit, by the likeliest of the models, exceeds that of noise that is the same for all logarithms; else 0.
func (r *readings) evenNoise(l Log) (float64, error) {
	z, _ := r.seen(l)
	squares := make([]float64, len(z))
	for i, v := range r.y {
		_, slope := l.Of(v)
		squares[i] = slope * slope
	}
	ofLogs, even, most, sd := math.Inf(-1), math.Inf(-1), math.Inf(-1), 0.0
	for _, length := range lengthscales() {
		for _, noise := range noises() {
			value, _, err := r.modelled(length, slices.Repeat([]float64{noise}, len(z)), z)
			if err != nil {
				return 0, err
			}
			ofLogs = addLogs(ofLogs, value)
			variances := slices.Clone(squares)
			for i := range variances { // not less than what a factor needs
				variances[i] = max(noise*variances[i], 1e-9)
			}
			value, variance, err := r.modelled(length, variances, z)
			if err != nil {
				return 0, err
			}
			if even = addLogs(even, value); value > most {
				most, sd = value, math.Sqrt(noise*variance)
			}
		}
	}
	if even > ofLogs {
		return sd, nil
	}
	return 0, nil
}

// seen are the readings through a logarithm, about their mean, and the logarithm of the product of its slopes.
func (r *readings) seen(l Log) (z []float64, jacobian float64) {
	z = make([]float64, len(r.y))
	mean := 0.0
	for i, v := range r.y {
		value, slope := l.Of(v)
		z[i], mean, jacobian = value, mean+value/float64(len(r.y)), jacobian+math.Log(slope)
	}
	for i := range z {
		z[i] -= mean
	}
	return z, jacobian
}

// model is a process of variance 1 that has seen zeros at the settings with these noise variances.
func (r *readings) model(length float64, variances []float64) (*gpcore.GP, error) {
	lengths := slices.Repeat([]float64{length * math.Sqrt(float64(r.dims))}, r.dims)
	g := gpcore.New(kernels.Matern52(1, lengths), len(r.y))
	if err := g.Load(r.x, make([]float64, len(r.y)), variances); err != nil {
		return nil, fmt.Errorf("evidence of the objective's logarithm: %w", err)
	}
	return g, nil
}

// modelled is the likelihood of values by such a process.
func (r *readings) modelled(length float64, variances, z []float64) (value, variance float64, err error) {
	g, err := r.model(length, variances)
	if err != nil {
		return 0, 0, err
	}
	return likelihood(g, z)
}

// likelihood is the logarithm of values' likelihood by a process at its likeliest variance Q/n, with Q = z' K^-1 z:
// -n/2 log(Q/n) - log|K|/2, but for what all share. Values that are all zero have none, -Inf.
func likelihood(g *gpcore.GP, z []float64) (value, variance float64, err error) {
	n := float64(len(z))
	if err := g.SetTargets(make([]float64, len(z))); err != nil {
		return 0, 0, fmt.Errorf("evidence of the objective's logarithm: %w", err)
	}
	alone := g.LogLikelihood() // -log|K|/2, and what all share
	if err := g.SetTargets(z); err != nil {
		return 0, 0, fmt.Errorf("evidence of the objective's logarithm: %w", err)
	}
	variance = 2 * (alone - g.LogLikelihood()) / n
	if !(variance > 0) {
		return math.Inf(-1), 0, nil
	}
	return alone - n/2*math.Log(variance), variance, nil
}

// addLogs is log(e^a + e^b).
func addLogs(a, b float64) float64 {
	top := max(a, b)
	if math.IsInf(top, -1) {
		return top
	}
	return top + math.Log(math.Exp(a-top)+math.Exp(b-top))
}
