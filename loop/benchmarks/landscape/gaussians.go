package landscape

import "math"

// Gaussians is a sum of axis-parallel Gaussians on the unit cube,
//
//	f(u) = offset + sum over j of weight_j exp(-sum over i of precision_ji (u_i - centre_ji)^2)
//
// Every term is a product over the axes, so its expectation over some of them is too:
// the mean over a sample of m points costs as much as a single value once the sample's
// part is known. The GP sample, Hartmann's function and the growth plant are of this
// form.
type Gaussians struct {
	Dims      int
	offset    float64
	Weight    []float64
	Centre    []float64 // one row of dims per term
	Precision []float64 // one row of dims per term
}

func (g *Gaussians) At(u []float64) float64 {
	sum := g.offset
	for j, w := range g.Weight {
		sum += w * math.Exp(-g.Exponent(j, u, nil))
	}
	return sum
}

// Exponent is term j's, over the axes that only says, nil for all.
func (g *Gaussians) Exponent(j int, u []float64, only []bool) float64 {
	sum, row := 0.0, j*g.Dims
	for i, v := range u {
		if only == nil || only[i] {
			d := v - g.Centre[row+i]
			sum += g.Precision[row+i] * d * d
		}
	}
	return sum
}

// Expectation returns the mean of f over the draws of the axes that are not
// controlled, as a function of the others.
func (g *Gaussians) Expectation(controlled []bool, draws [][]float64) func(u []float64) float64 {
	random, any := make([]bool, g.Dims), false
	for i, c := range controlled {
		random[i] = !c
		any = any || !c
	}
	if !any {
		return g.At
	}
	weight := make([]float64, len(g.Weight))
	for j, w := range g.Weight {
		sum := 0.0
		for _, u := range draws {
			sum += math.Exp(-g.Exponent(j, u, random))
		}
		weight[j] = w * sum / float64(len(draws))
	}
	return func(u []float64) float64 {
		sum := g.offset
		for j, w := range weight {
			sum += w * math.Exp(-g.Exponent(j, u, controlled))
		}
		return sum
	}
}

// Marks are the places where a search for the maximum of f, or of an expectation of
// it, begins beside a lattice: the centres of the terms that raise f.
func (g *Gaussians) Marks() [][]float64 {
	var out [][]float64
	for j, w := range g.Weight {
		if w > 0 {
			out = append(out, g.Centre[j*g.Dims:(j+1)*g.Dims])
		}
	}
	return out
}
