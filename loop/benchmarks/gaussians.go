package benchmarks

import "math"

// gaussians is a sum of axis-parallel Gaussians on the unit cube,
//
//	f(u) = offset + sum over j of weight_j exp(-sum over i of precision_ji (u_i - centre_ji)^2)
//
// Every term is a product over the axes, so its expectation over some of them is too:
// the mean over a sample of m points costs as much as a single value once the sample's
// part is known. The GP sample, Hartmann's function and the growth plant are of this
// form.
type gaussians struct {
	dims      int
	offset    float64
	weight    []float64
	centre    []float64 // one row of dims per term
	precision []float64 // one row of dims per term
}

func (g *gaussians) at(u []float64) float64 {
	sum := g.offset
	for j, w := range g.weight {
		sum += w * math.Exp(-g.exponent(j, u, nil))
	}
	return sum
}

// exponent is term j's, over the axes that only says, nil for all.
func (g *gaussians) exponent(j int, u []float64, only []bool) float64 {
	sum, row := 0.0, j*g.dims
	for i, v := range u {
		if only == nil || only[i] {
			d := v - g.centre[row+i]
			sum += g.precision[row+i] * d * d
		}
	}
	return sum
}

// expectation returns the mean of f over the draws of the axes that are not
// controlled, as a function of the others.
func (g *gaussians) expectation(controlled []bool, draws [][]float64) func(u []float64) float64 {
	random, any := make([]bool, g.dims), false
	for i, c := range controlled {
		random[i] = !c
		any = any || !c
	}
	if !any {
		return g.at
	}
	weight := make([]float64, len(g.weight))
	for j, w := range g.weight {
		sum := 0.0
		for _, u := range draws {
			sum += math.Exp(-g.exponent(j, u, random))
		}
		weight[j] = w * sum / float64(len(draws))
	}
	return func(u []float64) float64 {
		sum := g.offset
		for j, w := range weight {
			sum += w * math.Exp(-g.exponent(j, u, controlled))
		}
		return sum
	}
}

// marks are the places where a search for the maximum of f, or of an expectation of
// it, begins beside a lattice: the centres of the terms that raise f.
func (g *gaussians) marks() [][]float64 {
	var out [][]float64
	for j, w := range g.weight {
		if w > 0 {
			out = append(out, g.centre[j*g.dims:(j+1)*g.dims])
		}
	}
	return out
}
