package fitting

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
)

// sklearnCase is one problem solved by scikit-learn (scripts/gpcore_oracle.py).
type sklearnCase struct {
	Name   string
	Kernel struct {
		Family                                     string
		Variance, Shape, Timescale                 float64
		Lengthscales, Variances, Softness, Periods []float64
	}
	D                 int
	X, Y, Noise, Test []float64
	Mean, Covariance  []float64
	LogLikelihood     float64 `json:"log_likelihood"`
	Gradient          []*float64
}

func (c *sklearnCase) kernel(t *testing.T) kernels.Kernel {
	k := c.Kernel
	switch k.Family {
	case "se":
		return kernels.SquaredExponential(k.Variance, k.Lengthscales)
	case "matern52":
		return kernels.Matern52(k.Variance, k.Lengthscales)
	case "matern32":
		return kernels.Matern32(k.Variance, k.Lengthscales)
	case "rq":
		return kernels.RationalQuadratic(k.Variance, k.Shape, k.Lengthscales)
	case "linear":
		return kernels.Linear(k.Variances)
	case "periodic":
		return kernels.Periodic(k.Variance, k.Periods, k.Softness)
	case "drift":
		return kernels.Drift(k.Timescale)
	case "compound":
		return kernels.Sum(kernels.Product(kernels.SquaredExponential(k.Variance, k.Lengthscales), kernels.Matern32(1, k.Lengthscales)),
			kernels.Matern52(k.Variances[0], k.Lengthscales))
	}
	t.Fatalf("unknown family %q", k.Family)
	return nil
}

// The posterior, the likelihood and its gradient are scikit-learn's. 1e-9: both
// libraries round at 1e-16 times a condition number of about 1e4.
func TestScikitLearn(t *testing.T) {
	raw, err := os.ReadFile("../testdata/sklearn.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []sklearnCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 8 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		t.Run(c.Name, func(t *testing.T) { c.check(t) })
	}
}

func (c *sklearnCase) check(t *testing.T) {
	const tol = 1e-9
	k := c.kernel(t)
	g := gpcore.New(k, len(c.Y))
	for i, y := range c.Y {
		if err := g.Append(c.X[i*c.D:(i+1)*c.D], y, c.Noise[i]); err != nil {
			t.Fatal(err)
		}
	}
	m := len(c.Mean)
	mean, variance := make([]float64, m), make([]float64, m)
	g.Predict(mean, variance, c.Test)
	j, err := sampling.NewJoint(g, c.Test)
	if err != nil {
		t.Fatal(err)
	}
	covariance := make([]float64, m*m)
	j.Covariance(covariance)
	for i := range m {
		if !gptest.Agree(mean[i], c.Mean[i], tol) || !gptest.Agree(variance[i], c.Covariance[i*m+i], tol) {
			t.Fatalf("point %d: %g, %g; scikit-learn %g, %g", i, mean[i], variance[i], c.Mean[i], c.Covariance[i*m+i])
		}
		for q := range i + 1 {
			// Joint leaves out variances below 1e-12 of the prior, 1e-6 in the factor.
			if math.Abs(covariance[i*m+q]-c.Covariance[i*m+q]) > 1e-6 {
				t.Fatalf("covariance %d,%d: %g; scikit-learn %g", i, q, covariance[i*m+q], c.Covariance[i*m+q])
			}
		}
	}
	if !gptest.Agree(g.LogLikelihood(), c.LogLikelihood, tol) {
		t.Fatalf("log likelihood %g; scikit-learn %g", g.LogLikelihood(), c.LogLikelihood)
	}
	c.checkGradient(t, k)
}

// checkGradient compares the gradient of a fit's objective under priors so wide
// that they have no slope. Drift's timescale is held in a fit: it has none.
func (c *sklearnCase) checkGradient(t *testing.T, k kernels.Kernel) {
	flat := LogNormal{0, 1e12}
	e, err := newEvidence(Problem{Kernel: k, X: c.X, Y: c.Y, NoiseVariance: c.Noise, Variance: flat, Lengthscale: flat}, new(Workspace))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, len(e.priors))
	if len(got) == 0 {
		return
	}
	e.gradient(got, e.start())
	for i := 0; i < len(c.Gradient); {
		sum, want := got[i], *c.Gradient[i]
		for i++; i < len(c.Gradient) && c.Gradient[i] == nil; i++ {
			sum += got[i]
		}
		if !gptest.Agree(sum, want, 1e-8) {
			t.Errorf("gradient before parameter %d: %g; scikit-learn %g", i, sum, want)
		}
	}
}
