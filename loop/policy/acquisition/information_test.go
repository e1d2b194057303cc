package acquisition

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// entropies by plain quadrature: of y, and of y given that f <= bound, for f normal(mean,
// sd) and y = f + noise.
func informationByQuadrature(mean, sd, bound, noise float64) float64 {
	root := math.Sqrt(sd*sd + noise)
	below := num.NormalCDF((bound - mean) / sd)
	leak := math.Sqrt(noise) * sd / root // sd of f given y
	density := func(y float64) float64 {
		given := mean + sd*sd/(root*root)*(y-mean)
		return num.NormalDensity((y-mean)/root) / root * num.NormalCDF((bound-given)/leak) / below
	}
	left := trapezium(mean-12*root, mean+12*root, func(y float64) float64 {
		if p := density(y); p > 0 {
			return -p * math.Log(p)
		}
		return 0
	})
	return 0.5*math.Log(2*math.Pi*math.E*root*root) - left
}

// The information against entropies by quadrature, and without noise against the
// closed form; on both sides of where the integral changes its variable.
func TestInformationAgainstQuadrature(t *testing.T) {
	for _, sd := range []float64{0.05, 0.3, 1, 3} {
		for _, noise := range []float64{1e-3, 0.08, 1, 30} {
			for _, bound := range []float64{-8, -4, -0.5, 0, 0.4, 2, 6} {
				got, _, _ := MaximumInformation(0.2, sd, 0.2+bound*sd, noise)
				want := informationByQuadrature(0.2, sd, 0.2+bound*sd, noise)
				// The quadrature's own error, and its cancellation of entropies of order 10.
				if math.Abs(got-want) > 1e-8 {
					t.Errorf("sd %g, noise %g, bound %g sd above: %.10f, want %.10f", sd, noise, bound, got, want)
				}
			}
		}
	}
	for _, gamma := range []float64{-30, -3, 0, 1, 5} {
		h := math.Exp(-0.5*gamma*gamma-logRoot2Pi) / num.NormalCDF(gamma)
		want := gamma*h/2 - math.Log(num.NormalCDF(gamma))
		if got, _, _ := MaximumInformation(0, 2, 2*gamma, 0); math.Abs(got-want) > 1e-9*(1+want) {
			t.Errorf("without noise, gamma %g: %g, want %g", gamma, got, want)
		}
	}
}

// No more is told than all noise lets through, log sqrt(1 + sd^2/noise), and less by a
// noisier reading.
func TestInformationIsBounded(t *testing.T) {
	for _, bound := range []float64{-1e90, -2e4, -50, -8, -1, 0, 3} { // the first takes as many steps as the others
		last := math.Inf(1)
		for _, noise := range []float64{1e-6, 1e-4, 0.01, 0.3, 0.999, 1.001, 5, 100} {
			got, byMean, bySD := MaximumInformation(0, 1, bound, noise)
			if math.IsNaN(got + byMean + bySD) {
				t.Errorf("bound %g, noise %g: %g, slopes %g and %g", bound, noise, got, byMean, bySD)
			}
			if most := 0.5 * math.Log1p(1/noise); got > most+1e-9 {
				t.Errorf("bound %g, noise %g: %g of at most %g", bound, noise, got, most)
			}
			if got > last+1e-12 {
				t.Errorf("bound %g, noise %g: %g, more than with less noise (%g)", bound, noise, got, last)
			}
			last = got
		}
	}
}

// Derivatives against central differences.
func TestInformationSlopes(t *testing.T) {
	const h = 1e-5
	for name, f := range map[string]func(mean, sd, bound, noise float64) (v, m, s float64){
		"about the maximum": MaximumInformation, "cut entropy": TruncatedEntropy,
	} {
		for _, sd := range []float64{0.1, 0.7, 2} {
			for _, noise := range []float64{1e-4, 0.2, 9} {
				for _, bound := range []float64{-3, 0, 0.5, 2.5} {
					b := 0.1 + bound*sd
					_, byMean, bySD := f(0.1, sd, b, noise)
					up, _, _ := f(0.1+h, sd, b, noise)
					down, _, _ := f(0.1-h, sd, b, noise)
					if want := (up - down) / (2 * h); math.Abs(want-byMean) > 1e-5*(1+math.Abs(want)) {
						t.Errorf("%s, sd %g, noise %g, bound %g: by mean %g, differences say %g", name, sd, noise, bound, byMean, want)
					}
					up, _, _ = f(0.1, sd+h, b, noise)
					down, _, _ = f(0.1, sd-h, b, noise)
					if want := (up - down) / (2 * h); math.Abs(want-bySD) > 1e-5*(1+math.Abs(want)) {
						t.Errorf("%s, sd %g, noise %g, bound %g: by sd %g, differences say %g", name, sd, noise, bound, bySD, want)
					}
				}
			}
		}
	}
}

// The variance of a cut normal, against quadrature.
func TestCutEntropyAgainstQuadrature(t *testing.T) {
	for _, gamma := range []float64{-6, -1, 0, 2, 7} {
		const mean, sd, noise = 0.4, 0.6, 0.01
		bound := mean + gamma*sd
		moment := func(p float64) float64 {
			return trapezium(bound-14*sd, bound, func(f float64) float64 {
				return math.Pow(f-bound, p) * math.Exp(-0.5*(f-mean)*(f-mean)/(sd*sd)+0.5*gamma*gamma)
			})
		}
		m0, m1, m2 := moment(0), moment(1), moment(2)
		want := 0.5 * math.Log(m2/m0-m1*m1/(m0*m0)+noise)
		got, _, _ := TruncatedEntropy(mean, sd, bound, noise)
		if math.Abs(got-want) > 1e-4 { // the trapezium rule at the cut
			t.Errorf("gamma %g: %g, want %g", gamma, got, want)
		}
	}
}

// trapezium is the integral of g by that rule, of spectral accuracy where g vanishes
// smoothly at both ends.
func trapezium(low, high float64, g func(float64) float64) float64 {
	const cells = 4000
	h, sum := (high-low)/cells, 0.5*(g(low)+g(high))
	for k := 1; k < cells; k++ {
		sum += g(low + float64(k)*h)
	}
	return h * sum
}
