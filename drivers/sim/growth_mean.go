package sim

import "slices"

// Mixture is a sum of Gaussians on the unit cube, one width per axis:
//
//	m(u) = Σ_j Weights[j] exp(-½ Σ_i ((u_i - Points[j][i])/Scales[i])²)
type Mixture struct {
	// Names of the axes, and what 0 and 1 are in the model's own units.
	Names     []string
	Low, High []float64
	// Points and Weights of the terms; Scales is the width on each axis.
	Points  [][]float64
	Weights []float64
	Scales  []float64
}

// GrowthMean returns the law behind the growth plant as Tay et al. (NeurIPS 2023)
// use it: standardised leaf area (no unit, 107.557 mm² a unit from 108.590 mm²) over
// the logarithms of four concentrations in micromol/L, and pH. The slices are the
// caller's.
func GrowthMean() (Mixture, error) {
	g, err := newGrowth(0, source{})
	if err != nil {
		return Mixture{}, err
	}
	m := Mixture{Points: g.landmarks(0), Scales: slices.Clone(g.scales[:])}
	for _, a := range growthAxes {
		m.Names = append(m.Names, a.name)
		m.Low = append(m.Low, a.low)
		m.High = append(m.High, a.high)
	}
	for _, p := range g.points {
		m.Weights = append(m.Weights, p.weight)
	}
	return m, nil
}
