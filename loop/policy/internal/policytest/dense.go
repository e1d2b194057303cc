package policytest

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/loop/policy/model"
)

// Reading is one observation of a drifting objective.
type Reading struct {
	X    []float64
	Step int
	Y    float64
}

// DensePosterior is the posterior of readings by the formulas, with the dense covariance
//
//	outputscale exp(-|x-x'|^2/(2 l^2)) exp(-|t-t'|/timescale)
//
// and its log evidence.
func DensePosterior(m model.Spec, readings []Reading, timescale float64, at Reading) (mean, sd, evidence float64) {
	k := func(a, b Reading) float64 {
		s := 0.0
		for i := range a.X {
			s += (a.X[i] - b.X[i]) * (a.X[i] - b.X[i]) / (m.Lengthscale[i] * m.Lengthscale[i])
		}
		return m.Outputscale * math.Exp(-s/2) * math.Exp(-math.Abs(float64(a.Step-b.Step))/timescale)
	}
	n := len(readings)
	covariance, y, cross := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i, a := range readings {
		for j := range i + 1 {
			covariance.SetSym(i, j, k(a, readings[j]))
		}
		covariance.SetSym(i, i, m.Outputscale+m.NoiseSD*m.NoiseSD)
		y.SetVec(i, a.Y-m.Mean)
		cross.SetVec(i, k(a, at))
	}
	var c mat.Cholesky
	c.Factorize(covariance)
	var weights, solved mat.VecDense
	_ = c.SolveVecTo(&weights, y)
	_ = c.SolveVecTo(&solved, cross)
	evidence = -mat.Dot(y, &weights)/2 - c.LogDet()/2 - float64(n)/2*math.Log(2*math.Pi)
	return m.Mean + mat.Dot(cross, &weights), math.Sqrt(m.Outputscale - mat.Dot(cross, &solved)), evidence
}
