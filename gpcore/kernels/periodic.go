package kernels

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// periodic is a squared exponential of points mapped to circles.
type periodic struct {
	variance                   float64
	period, squaredLengthscale []float64
}

// Periodic is
//
//	variance * exp(-2 * sum over i of sin^2(pi (x_i-y_i)/periods[i]) / softness[i]).
//
// Softness is dimensionless: small values let the function vary fast within a
// period. With one coordinate and softness = l^2 it is MacKay's kernel
// (Rasmussen & Williams 2006, eq. 4.31).
func Periodic(variance float64, periods, squaredLengthscales []float64) Kernel {
	if len(periods) == 0 || len(periods) != len(squaredLengthscales) {
		panic("gpcore: Periodic needs one softness for each period")
	}
	mustBePositive(variance)
	for i := range periods {
		mustBePositive(periods[i])
		mustBePositive(squaredLengthscales[i])
	}
	return &periodic{variance, append([]float64(nil), periods...), append([]float64(nil), squaredLengthscales...)}
}

func (k *periodic) Dim() int                   { return len(k.period) }
func (k *periodic) Variance([]float64) float64 { return k.variance }
func (k *periodic) NumParams() int             { return 1 + 2*len(k.period) }

func (k *periodic) Params(dst []float64) []float64 {
	dst = append(dst, math.Log(k.variance))
	for _, v := range k.squaredLengthscale {
		dst = append(dst, math.Log(v))
	}
	for _, v := range k.period {
		dst = append(dst, math.Log(v))
	}
	return dst
}

func (k *periodic) Kinds(dst []ParamKind) []ParamKind {
	dst = append(dst, OutputVariance)
	for range k.squaredLengthscale {
		dst = append(dst, Shape)
	}
	for range k.period {
		dst = append(dst, Period)
	}
	return dst
}

func (k *periodic) WithParams(logs []float64) Kernel {
	mustCount(logs, k.NumParams())
	d := len(k.period)
	p, s := make([]float64, d), make([]float64, d)
	for i := range d {
		s[i], p[i] = vec.Exp(logs[1+i]), vec.Exp(logs[1+d+i])
	}
	return Periodic(vec.Exp(logs[0]), p, s)
}

func (k *periodic) Cov(x, y []float64) float64 {
	e := 0.0
	for i, p := range k.period {
		s := math.Sin(math.Pi * (x[i] - y[i]) / p)
		e += float64(s * s / k.squaredLengthscale[i])
	}
	return k.variance * vec.Exp(-2*e)
}

func (k *periodic) Gradient(dst, x, y []float64) {
	c := k.Cov(x, y)
	for i, p := range k.period {
		dst[i] = -c * 2 * math.Pi / (p * k.squaredLengthscale[i]) * math.Sin(2*math.Pi*(x[i]-y[i])/p)
	}
}

func (k *periodic) ParamGradient(dst, x, y []float64) {
	c, d := k.Cov(x, y), len(k.period)
	dst[0] = c
	for i, p := range k.period {
		a := math.Pi * (x[i] - y[i]) / p
		s := math.Sin(a)
		dst[1+i] = c * 2 * s * s / k.squaredLengthscale[i]
		dst[1+d+i] = c * 2 * a * math.Sin(2*a) / k.squaredLengthscale[i]
	}
}

// periodicEvaluator evaluates a periodic kernel: |exp(i a) - exp(i b)|^2 = 4 sin^2((a-b)/2),
// so a squared exponential of cosine and sine is what it needs.
type periodicEvaluator struct {
	*radial
	frequency, radius []float64       // 2 pi/period; radius of the circle
	raw               *panels.Generic // the points as they are, for the derivative by the period
}

func (k *periodic) Compile(b *panels.Builder) panels.Evaluator {
	d := len(k.period)
	ones := make([]float64, 2*d)
	for i := range ones {
		ones[i] = 1
	}
	r, c := newRadial(newStationary(gaussian, k.variance, ones, 0), b)
	w := &periodicEvaluator{r, make([]float64, d), make([]float64, d), panels.NewGeneric(k, b)}
	for i, p := range k.period {
		w.frequency[i], w.radius[i] = 2*math.Pi/p, c/math.Sqrt(k.squaredLengthscale[i])
	}
	return w
}

func (w *periodicEvaluator) Embed(dst, x []float64) {
	for i, t := range w.frequency {
		sin, cos := math.Sincos(t * x[i])
		dst[w.offset+2*i], dst[w.offset+2*i+1] = w.radius[i]*cos, w.radius[i]*sin
	}
	w.raw.Embed(dst, x)
}

func (w *periodicEvaluator) HyperGradient(p *panels.Panel, weights, g []float64) {
	w.raw.HyperGradient(p, weights, g)
}

func (w *periodicEvaluator) Pullback(dst, g, lane []float64) {
	for i, t := range w.frequency {
		o := (w.offset + 2*i) * vec.Lanes
		for j := range vec.Lanes {
			cos, sin := lane[o+j], lane[o+vec.Lanes+j]
			dst[i*vec.Lanes+j] += t * (cos*g[o+vec.Lanes+j] - sin*g[o+j])
		}
	}
}
