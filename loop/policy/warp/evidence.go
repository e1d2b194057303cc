package warp

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// asked is by how many times the evidence of a logarithm must exceed that of none: "decisive" by
// Jeffreys (Theory of Probability, 1961), since a transformation that is wrong costs more than one that is
// missing.
const asked = 100

// mostReadings bounds the work: the newest count.
const mostReadings = 256

// fewest readings say nothing of their spread.
const fewest = 3

// widths of the logarithms that compete, as shares of the distance from the end of the readings that a logarithm
// is about to their median.
func widths() []float64 { return []float64{1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5} }

// Choose is the logarithm that readings y at settings x ask for, row after row of so many unit coordinates; the zero
// Log where they ask for none. Those about the best reading and those about the worst compete. The evidence of one is
//
//	p(y) = sum over models of p(z(y)) times the product of dz/dy,
//
// where a model is a Matern 5/2 process with one of a few lengthscales and noises; its mean is that of the
// readings, its variance the likeliest. O(n^3) for 256 readings at most.
func Choose(x, y []float64, dims int) (Log, error) {
	if n := len(y); n > mostReadings {
		x, y = x[(n-mostReadings)*dims:], y[n-mostReadings:]
	}
	if len(y) < fewest {
		return Log{}, nil
	}
	worst, best := slices.Min(y), slices.Max(y)
	spread := best - worst
	if !(spread > 0) || math.IsInf(spread, 1) { // all are equal, or so far apart that differences are no numbers
		return Log{}, nil
	}
	unit := make([]float64, len(y)) // 0 is the worst reading, 1 the best
	for i, v := range y {
		unit[i] = (v - worst) / spread
	}
	all := candidates(unit)
	evidence := slices.Repeat([]float64{math.Inf(-1)}, len(all))
	for _, length := range []float64{0.1, 0.2, 0.4, 0.8} {
		for _, noise := range []float64{1e-4, 1e-2, 0.1, 1} {
			if err := addEvidence(evidence, all, hypothesis{length, noise, dims}, x, unit); err != nil {
				return Log{}, err
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
	out := Log{Center: worst, Width: all[most].Width * spread}
	if all[most].Center == 1 {
		out.Center = best
	}
	return out, nil
}

// candidates are none, and logarithms about both ends of readings from 0 to 1.
func candidates(unit []float64) []Log {
	sorted := slices.Sorted(slices.Values(unit))
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

// hypothesis is a model: the noise variance is relative to the process's.
type hypothesis struct {
	length, noise float64
	dims          int
}

// addEvidence adds the likelihood of one model to that of each candidate, in logarithms. With Q = z' K^-1 z of
// centred values z, the likelihood is greatest at the variance Q/n: -n/2 log(Q/n) - log|K|/2, but for what all share.
func addEvidence(evidence []float64, all []Log, h hypothesis, x, y []float64) error {
	n := len(y)
	lengths := slices.Repeat([]float64{h.length * math.Sqrt(float64(h.dims))}, h.dims)
	noises, z := slices.Repeat([]float64{h.noise}, n), make([]float64, n)
	g := gpcore.New(kernels.Matern52(1, lengths), n)
	if err := g.Load(x, z, noises); err != nil {
		return fmt.Errorf("evidence of the objective's logarithm: %w", err)
	}
	alone := g.LogLikelihood() // of zeros: -log|K|/2, and what all share
	for i, t := range all {
		mean, jacobian := 0.0, 0.0
		for k, v := range y {
			value, slope := t.Of(v)
			z[k], mean, jacobian = value, mean+value/float64(n), jacobian+math.Log(slope)
		}
		for k := range z {
			z[k] -= mean
		}
		if err := g.SetTargets(z); err != nil {
			return fmt.Errorf("evidence of the objective's logarithm: %w", err)
		}
		q := 2 * (alone - g.LogLikelihood())
		if !(q > 0) { // all readings are equal
			continue
		}
		value := alone - float64(n)/2*math.Log(q/float64(n)) + jacobian
		top := max(evidence[i], value)
		evidence[i] = top + math.Log(math.Exp(evidence[i]-top)+math.Exp(value-top))
	}
	return nil
}
