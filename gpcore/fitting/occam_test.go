package fitting

import (
	"context"
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// The evidence of a family by Occam's factor is its integral over the hyperparameters, by sums over a grid.
// The posterior of forty readings is nearly normal: a quarter of a unit of the logarithm is left.
func TestOccamAgainstTheIntegral(t *testing.T) {
	normal := func(p LogNormal, v float64) float64 {
		d, _ := p.logDensity(v)
		return d - math.Log(p.SD*math.Sqrt(2*math.Pi))
	}
	p := fitProblem(kernels.SquaredExponential(1, []float64{0.4}), 40, 5)
	p.MeanSD = 0
	for i := range p.NoiseVariance {
		p.NoiseVariance[i] += 0.01
	}
	noise := p.Noise
	const step = 0.12
	for _, fitted := range []bool{false, true} {
		if p.Noise = nil; fitted {
			p.Noise = noise
		}
		r, err := new(Workspace).Fit(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		occam, err := Occam(p, r)
		if err != nil {
			t.Fatal(err)
		}
		best := p
		best.Kernel = r.Kernel
		e, err := newEvidence(best, new(Workspace))
		if err != nil {
			t.Fatal(err)
		}
		at := e.start() // variance, lengthscale, and the noise
		if fitted {
			at[2] = math.Log(r.NoiseVariance)
		}
		likelihood := func(variance, lengthscale, ratio float64) float64 {
			v := []float64{variance, lengthscale}
			if fitted {
				v = append(v, variance+ratio)
			}
			out := e.value(v)
			for i, prior := range e.priors {
				d, _ := prior.logDensity(v[i])
				out -= d
			}
			return out
		}
		ratio := 0.0
		if fitted {
			ratio = at[2] - at[0]
		}
		// over the variance alone where the noise is fitted, which is not Occam's there
		top, integral, alone := likelihood(at[0], at[1], ratio), 0.0, 0.0
		for i := -30.0; i <= 30; i += 2 {
			variance := at[0] + i*step
			weight := 2 * step * math.Exp(normal(p.Variance, variance))
			if fitted {
				alone += weight * math.Exp(likelihood(variance, at[1], ratio)-top)
			}
			for j := -12.0; j <= 12; j++ {
				lengthscale := at[1] + j*step/2
				inner := weight * step / 2 * math.Exp(normal(p.Lengthscale, lengthscale))
				if !fitted {
					integral += inner * math.Exp(likelihood(variance, lengthscale, 0)-top)
					continue
				}
				for k := -10.0; k <= 10; k++ {
					integral += inner * 2 * step * math.Exp(normal(*p.Noise, ratio+2*k*step)+likelihood(variance, lengthscale, ratio+2*k*step)-top)
				}
			}
		}
		want := math.Log(integral)
		if fitted {
			want -= math.Log(alone)
		}
		if math.Abs(occam-want) > 0.25 {
			t.Errorf("noise fitted %v: %g, by sums %g", fitted, occam, want)
		}
	}
}
